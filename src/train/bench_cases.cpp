// The cases as recipes.
#include "train/bench_cases.h"

#include <fmt/format.h>

#include <array>

#include "base/error.h"
#include "base/text.h"

namespace rondo {
namespace {

// A vocabulary far beyond bytes, dense injection, loop norm, head of its own.
constexpr const char* kCommon = R"(
[model]
d_model = {d_model}
heads = {heads}
d_ff = {d_ff}
vocab = {vocab}
prelude_layers = {outer}
core_layers = 2
coda_layers = {outer}
[loops]
forward = {forward}
backward = {backward}
sampler = "{sampler}"
[data]
sequence_length = {length}
[train]
batch = {batch}
learning_rate = 3e-4
)";

struct Shape {
  int d_model, heads, d_ff, vocab, outer, length, batch;
};
constexpr Shape kA{256, 4, 683, 4096, 1, 256, 16};
constexpr Shape kB{512, 8, 1365, 8192, 1, 512, 8};
constexpr Shape kC{128, 2, 341, 256, 0, 128, 64};

struct Known {
  Shape shape;
  int forward, backward;
  const char* sampler;
};

const std::array<std::string, 7> kNames = {"a11", "a22", "a44", "a82", "sampled", "b44", "c44"};
constexpr std::array<Known, 7> kKnown = {{
    {kA, 1, 1, "fixed"},
    {kA, 2, 2, "fixed"},
    {kA, 4, 4, "fixed"},
    {kA, 8, 2, "fixed"},
    {kA, 4, 4, "uniform"},
    {kB, 4, 4, "fixed"},
    {kC, 4, 4, "fixed"},
}};

std::string recipe_of(const Known& known) {
  const auto& shape = known.shape;
  return fmt::format(kCommon, fmt::arg("d_model", shape.d_model), fmt::arg("heads", shape.heads),
                     fmt::arg("d_ff", shape.d_ff), fmt::arg("vocab", shape.vocab),
                     fmt::arg("outer", shape.outer), fmt::arg("forward", known.forward),
                     fmt::arg("backward", known.backward), fmt::arg("sampler", known.sampler),
                     fmt::arg("length", shape.length), fmt::arg("batch", shape.batch));
}

}  // namespace

std::span<const std::string> bench_case_names() { return kNames; }

std::vector<std::string> default_bench_cases() { return {kNames.begin(), kNames.end()}; }

BenchCase find_bench_case(const std::string& name, const Overrides& set) {
  const auto words = split(name, ':');
  const auto found = std::find(kNames.begin(), kNames.end(), words[0]);
  if (found == kNames.end()) {
    const auto close = nearest(words[0], kNames);
    fail("--cases {}: no such case{}; the cases are {}", one_line(words[0]),
         close ? fmt::format("; did you mean {}?", *close) : "", join(kNames, ", "));
  }
  auto all = set;
  all.insert(all.end(), words.begin() + 1, words.end());
  const auto place = static_cast<std::size_t>(found - kNames.begin());
  return {name, parse_recipe(recipe_of(kKnown[place]), "case " + words[0], all)};
}

}  // namespace rondo
