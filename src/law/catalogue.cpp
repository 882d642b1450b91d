// The laws themselves, written as a user would write one.
#include "law/catalogue.h"

#include <array>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"

namespace rondo {
namespace {

// The five parameters that all these laws share.
constexpr std::string_view kSizeAndData = R"law(
[parameters]
E = { start = [0.1, 1.0], positive = true, scale = "loss" }
A = { start = [0.005, 1.0], positive = true, scale = "loss * n^alpha" }
alpha = { start = [0.05, 1.5], positive = true }
B = { start = [0.005, 1.0], positive = true, scale = "loss * tokens^beta" }
beta = { start = [0.05, 1.5], positive = true }
)law";

struct Entry {
  std::string_view name, head, parameters;
};

constexpr std::array<Entry, 8> kCatalogue = {{
    {"chinchilla", R"law(
law = "chinchilla"
about = "Size and data; loops are not seen."
source = "Hoffmann et al. 2022, arXiv 2203.15556"
loss = "E + A * (n_once + n_rec)^-alpha + B * tokens^-beta"
)law",
     ""},
    {"joint", R"law(
law = "joint"
about = "Forward loops with saturating gain, truncated back-propagation with a discount."
source = "arXiv 2610.26030; the form of g is a reconstruction, see docs/laws.md"
loss = "E + A * n_eff^-alpha + B * tokens^-beta"
[define]
u = "loops^p * backward_loops^q"
g = "1 + G * (u - 1) / (u - 1 + K)"
n_eff = "n_once + g * n_rec"
)law",
     R"law(G = { start = [0.3, 10.0], positive = true }
K = { start = [0.3, 10.0], positive = true }
p = { start = [0.0, 1.5] }
q = { start = [0.0, 2.0] }
)law"},
    {"joint-k1", R"law(
law = "joint-k1"
about = "The joint law with K = 1."
source = "arXiv 2610.26030; the form of g is a reconstruction, see docs/laws.md"
loss = "E + A * n_eff^-alpha + B * tokens^-beta"
[define]
u = "loops^p * backward_loops^q"
g = "1 + G * (1 - 1 / u)"
n_eff = "n_once + g * n_rec"
)law",
     R"law(G = { start = [0.3, 10.0], positive = true }
p = { start = [0.0, 1.5] }
q = { start = [0.0, 2.0] }
)law"},
    {"iso-depth", R"law(
law = "iso-depth"
about = "One loop more is worth a power of the loops; back-propagation is not seen."
source = "Schwethelm et al. 2026, arXiv 2604.21106"
loss = "E + A * n_eff^-alpha + B * tokens^-beta"
[define]
n_eff = "n_once + loops^phi * n_rec"
)law",
     R"law(phi = { start = [-1.0, 2.0] }
)law"},
    {"bounded", R"law(
law = "bounded"
about = "The gain of loops approaches a bound exponentially."
source = "arXiv 2609.40316"
loss = "E + A * n_eff^-alpha + B * tokens^-beta"
[define]
n_eff = "n_once + n_rec * (1 + k1 * (1 - exp(-(loops - 1) / k2)))"
)law",
     R"law(k1 = { start = [0.05, 5.0], positive = true }
k2 = { start = [0.3, 10.0], positive = true }
)law"},
    {"parcae", R"law(
law = "parcae"
about = "A loop is worth as much as new layers: the size of the unrolled model counts."
source = "arXiv 2604.12946"
loss = "E + A * n_eff^-alpha + B * tokens^-beta"
[define]
n_eff = "n_once + loops * n_rec"
)law",
     ""},
    {"parcae-test-time", R"law(
law = "parcae-test-time"
about = "The parcae law with the loss of running other loops than trained: column inference_loops."
source = "arXiv 2604.12946"
loss = "E + A * n_eff^-alpha + B * tokens^-beta + Z * exp(-z * inference_loops / loops)"
[define]
n_eff = "n_once + loops * n_rec"
)law",
     R"law(Z = { start = [0.01, 3.0], positive = true, scale = "loss" }
z = { start = [0.5, 10.0], positive = true }
)law"},
    {"data-constrained", R"law(
law = "data-constrained"
about = "Repeated data and excess parameters are worth less and less: column unique_tokens."
source = "Muennighoff et al. 2023, arXiv 2305.16264"
loss = "E + A * n_eff^-alpha + B * d_eff^-beta"
[define]
n = "n_once + n_rec"
u = "min(unique_tokens, tokens)"
d_eff = "u + u * R_D * (1 - exp(-(tokens / u - 1) / R_D))"
n_optimal = "(alpha * A / (beta * B))^(1 / alpha) * u^(beta / alpha)"
n_u = "min(n, n_optimal)"
n_eff = "n_u + n_u * R_N * (1 - exp(-(n / n_u - 1) / R_N))"
)law",
     R"law(R_D = { start = [1.0, 50.0], positive = true }
R_N = { start = [1.0, 50.0], positive = true }
)law"},
}};

}  // namespace

std::span<const std::string> law_names() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    for (const auto& entry : kCatalogue) names.emplace_back(entry.name);
    return names;
  }();
  return kNames;
}

LawForm find_law(const std::string& name) {
  if (name.ends_with(".toml")) return parse_form(read_file(name), name);
  for (const auto& entry : kCatalogue) {
    if (entry.name != name) continue;
    auto text = std::string(entry.head);
    text += kSizeAndData;
    text += entry.parameters;
    return parse_form(text, name);
  }
  const auto near = nearest(name, law_names());
  fail("there is no law {}{}; there are {}, or a form in a .toml file", name,
       near ? fmt::format(" (did you mean {}?)", *near) : "", join(law_names(), ", "));
}

}  // namespace rondo
