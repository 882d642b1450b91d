// The description of a recipe for people: the numbers of describe() as tables.
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text.h"
#include "cost/describe.h"
#include "cost/flops.h"

namespace rondo {
namespace {

std::string rounded(const Json& value) { return si(value.get<double>()); }
std::string size(const Json& value) { return bytes(value.get<double>()); }

/// 1234567 as "1,234,567".
std::string exact(const Json& value) {
  const std::string digits = fmt::format("{}", value.get<std::int64_t>());
  std::string out;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) out += ',';
    out += digits[i];
  }
  return out;
}

/// Every line two columns to the right.
std::string indented(const std::string& lines) {
  std::string out;
  for (const auto& line : split(lines, '\n'))
    if (!line.empty()) out += fmt::format("  {}\n", line);
  return out;
}

/// A heading with the rows of a table under it.
std::string section(const std::string& heading, const TextTable& table) {
  return fmt::format("{}\n{}\n", heading, indented(table.aligned()));
}

std::string parameters_text(const Json& parameters) {
  const auto row = [&](const char* name, const char* key, const char* what) {
    return std::vector<std::string>{name, exact(parameters[key]), rounded(parameters[key]), what};
  };
  TextTable table(row("total", "total", ""));
  table.add(row("embedding", "embedding", "embedding, and the head where untied"));
  table.add(row("once", "once", "prelude, coda, final norm"));
  table.add(row("recurrent", "recurrent", "core, injection, loop norm"));
  table.add(row("non-embedding", "non_embedding", "once + recurrent"));
  table.add(row("N_once", "n_once_matrices", "matrices used once"));
  table.add(row("N_rec", "n_rec_matrices", "matrices used in every loop"));
  return section("Parameters", table);
}

std::string memory_text(const Json& memory) {
  TextTable table({"weights", size(memory["weights"]), ""});
  table.add({"gradients", size(memory["gradients"])});
  table.add({"optimizer", size(memory["optimizer"])});
  table.add({"activations", size(memory["activations"]),
             fmt::format("estimate, micro-batch {}", memory["micro_batch"].get<std::int64_t>())});
  table.add({"total", size(memory["total"])});
  table.add({"KV cache", size(memory["kv_cache_per_token"]), "per token when generating"});
  return section("Memory", table);
}

std::string horizon_text(const Json& about) {
  TextTable table({"tensors", "gradient"});
  for (const auto& group : about["gradient_horizon"]["groups"])
    table.add({group["tensors"].get<std::string>(), group["why"].get<std::string>()});
  for (const auto& shared : about["sharing"]) {
    const auto name = shared["tensors"].get<std::string>();
    table.add({name, shared.contains("alias")
                         ? fmt::format("shared with {}", shared["alias"].get<std::string>())
                         : fmt::format("used {} times", shared["uses"].get<std::int64_t>())});
  }
  return section(fmt::format("Gradients and sharing (T = {}, B = {})",
                             about["loops"]["forward"].get<std::int64_t>(),
                             about["loops"]["backward"].get<std::int64_t>()),
                 table);
}

std::string optimizer_text(const Json& groups) {
  TextTable table({"group", "parameters", "decay", "rate", "holds"});
  for (const auto& group : groups)
    table.add({group["name"].get<std::string>(), exact(group["parameters"]),
               fmt::format("{}", group["weight_decay"].get<double>()),
               fmt::format("× {}", group["lr_scale"].get<double>()),
               group["tensors"].get<std::string>()});
  return section("Optimizer groups", table);
}

std::string run_text(const Json& about) {
  TextTable table({"effective depth", exact(about["effective_depth"]), "layers"});
  table.add({"tokens", rounded(about["tokens"]),
             about["tokens_per_parameter"].is_null()
                 ? ""
                 : fmt::format("{:.3g} per non-embedding parameter",
                               about["tokens_per_parameter"].get<double>())});
  if (about.contains("expected_loops"))
    table.add({"loops drawn",
               fmt::format("T {:.4g}, B {:.4g}", about["expected_loops"]["forward"].get<double>(),
                           about["expected_loops"]["backward"].get<double>()),
               "means; FLOPs and time below use them"});
  table.add({"FLOPs", rounded(about["total_flops"]), "train_matmul × tokens"});
  table.add({"", rounded(about["total_flops_with_attention_and_head"]), "with attention and head"});
  if (about.contains("time_s")) {
    const auto& time = about["time_s"];
    table.add({"time", duration(time["total"].get<double>()),
               fmt::format(
                   "{} a step at {:.0f} % of {:.0f} GFLOP/s", duration(time["step"].get<double>()),
                   100.0 * time["efficiency"].get<double>(), time["roof_gflops"].get<double>())});
  }
  return section("Run", table);
}

}  // namespace

std::string describe_text(const Config& config, const DescribeOptions& options) {
  const Json about = describe(config, options);
  std::string text = parameters_text(about["parameters"]);
  text += fmt::format("FLOPs per token\n{}\n", indented(flops_formula(config)));
  text += memory_text(about["memory_bytes"]) + horizon_text(about);
  text += optimizer_text(about["optimizer_groups"]) + run_text(about);
  text.pop_back();
  return text;
}

}  // namespace rondo
