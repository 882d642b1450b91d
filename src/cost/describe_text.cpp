// The description of a recipe for people: the numbers of describe() as tables.
#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

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

std::string parameters_text(const Json& parameters, bool rlt) {
  const auto row = [&](const char* name, const char* key, const char* what) {
    return std::vector<std::string>{name, exact(parameters[key]), rounded(parameters[key]), what};
  };
  TextTable table(row("total", "total", ""));
  table.add(row("embedding", "embedding", "embedding, and the head where untied"));
  table.add(row("once", "once", rlt ? "encoder, memory, final norm" : "prelude, coda, final norm"));
  table.add(
      row("recurrent", "recurrent", rlt ? "decoder, merge" : "core, its conditioning, loop norm"));
  table.add(row("non-embedding", "non_embedding", "once + recurrent"));
  table.add(row("N_once", "n_once_matrices", "matrices used once"));
  table.add(row("N_rec", "n_rec_matrices",
                rlt ? "matrices of the decoder and the merge" : "matrices used in every loop"));
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
  if (about.contains("decoder_stages")) return section("Gradients and sharing", table);
  return section(fmt::format("Gradients and sharing (T = {}, B = {})",
                             about["loops"]["forward"].get<std::int64_t>(),
                             about["loops"]["backward"].get<std::int64_t>()),
                 table);
}

/// What runs one after the other, and how far of it a gradient goes.
std::string stages_text(const Json& stages) {
  const auto interval = stages["feedback_interval"].get<std::int64_t>();
  TextTable table({"feedback",
                   interval == 0   ? std::string("none")
                   : interval == 1 ? std::string("at every token")
                                   : fmt::format("every {} tokens", interval),
                   ""});
  table.add({"sequential decoder stages", exact(stages["sequential"]),
             fmt::format("{} with feedback at every token, {} with none",
                         exact(stages["at_every_token"]), exact(stages["parallel"]))});
  // Without decoder layers the state is what the merge makes.
  const bool merges = stages["sequential"].get<std::int64_t>() == 0;
  table.add({"recurrent path", exact(stages[merges ? "merges" : "sequential"]),
             fmt::format("{} from the first token to the last; {} back-propagated",
                         merges ? "merges" : "decoder blocks",
                         exact(stages[merges ? "merges_back_propagated" : "back_propagated"]))});
  return section("Recurrence", table);
}

std::string optimizer_text(const Json& groups) {
  TextTable table({"group", "by", "parameters", "decay", "rate", "holds"});
  for (const auto& group : groups)
    table.add({group["name"].get<std::string>(), group["optimizer"].get<std::string>(),
               exact(group["parameters"]), fmt::format("{}", group["weight_decay"].get<double>()),
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
    table.add({"loops of a step",
               fmt::format("T {:.4g}, B {:.4g}", about["expected_loops"]["forward"].get<double>(),
                           about["expected_loops"]["backward"].get<double>()),
               "means; FLOPs and time use them"});
  table.add({"FLOPs", rounded(about["total_flops"]), "train_matmul × tokens"});
  table.add({"", rounded(about["total_flops_with_attention_and_head"]), "with attention and head"});
  return section("Run", table);
}

std::string inference_text(const Json& inference) {
  const bool timed = inference[0].contains("decode_s_per_token");
  TextTable table(
      timed ? std::vector<std::string>{"loops", "FLOPs", "KV cache", "reading", "generating"}
            : std::vector<std::string>{"loops", "FLOPs", "KV cache"});
  for (const auto& entry : inference) {
    std::vector<std::string> row = {exact(entry["loops"]), rounded(entry["flops_per_token"]),
                                    size(entry["kv_bytes_per_token"])};
    for (const char* key : {"prefill_s_per_token", "decode_s_per_token"})
      if (timed) row.push_back(fmt::format("{} tokens/s", si(1.0 / entry[key].get<double>())));
    table.add(row);
  }
  return section("Inference, per token", table);
}

/// Shares of the terms, the largest first.
std::string terms_text(const Json& terms, double total) {
  std::vector<std::pair<double, std::string>> sorted;
  for (const auto& [name, seconds] : terms.items())
    sorted.emplace_back(seconds.get<double>() / total, name);
  std::ranges::sort(sorted, std::greater<>{});
  std::vector<std::string> parts;
  for (const auto& [share, name] : sorted)
    parts.push_back(fmt::format("{} {:.0f} %", name, 100.0 * share));
  return join(parts, ", ");
}

std::string time_text(const Json& seconds) {
  const auto value = [&](const char* key) { return seconds[key].get<double>(); };
  TextTable table({"run", duration(value("run")),
                   fmt::format("{} of it validation", duration(value("run_validation")))});
  table.add({"step", duration(value("step")), terms_text(seconds["step_terms"], value("step"))});
  table.add({"tokens", fmt::format("{}/s", si(value("tokens_per_s"))), ""});
  table.add({"train_matmul", fmt::format("{:.0f} GFLOP/s", value("sustained_gflops")),
             "what turns seconds into the FLOPs of laws and plans"});
  table.add({"roof", fmt::format("{:.0f} GFLOP/s", value("roof_gflops")),
             fmt::format("{:.0f} % of it in a step; memory {:.0f} GB/s",
                         100.0 * value("roof_share"), value("bandwidth_gbps"))});
  return section(fmt::format("Time on {}, threads: {}", seconds["machine"].get<std::string>(),
                             seconds["threads"].get<std::int64_t>()),
                 table);
}

}  // namespace

std::string describe_text(const Config& config, const DescribeOptions& options) {
  const Json about = describe(config, options);
  const bool rlt = about.contains("decoder_stages");
  std::string text = parameters_text(about["parameters"], rlt);
  text += fmt::format("FLOPs per token\n{}\n", indented(flops_formula(config)));
  text += memory_text(about["memory_bytes"]) + horizon_text(about);
  if (rlt) text += stages_text(about["decoder_stages"]);
  text += optimizer_text(about["optimizer_groups"]) + run_text(about);
  text += inference_text(about["inference"]);
  if (about.contains("seconds")) text += time_text(about["seconds"]);
  text.pop_back();
  return text;
}

}  // namespace rondo
