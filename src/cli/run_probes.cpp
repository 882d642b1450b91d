// Which sequences and which precision a diagnosis takes, and its JSON.
#include "cli/run_probes.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/log.h"
#include "base/machine.h"
#include "base/text.h"
#include "cli/command.h"
#include "data/task_data.h"
#include "diagnose/diagnosis_json.h"
#include "diagnose/probe_data.h"
#include "diagnose/spectral_radius.h"

namespace rondo {
namespace {

constexpr std::int64_t kPositions = 16384;
/// A model of at most so many parameters is run in double precision unless told otherwise: it costs
/// little there.
constexpr double kSmallModel = 1e6;

/// Sequences, and what they are called.
struct ProbeChoice {
  ProbeSequences sequences;
  std::string data, split;
};

std::int64_t positions_of(const ProbeRequest& request, std::int64_t available) {
  return request.positions > 0 ? request.positions : std::min(kPositions, available);
}

/// The held-out examples of a model's task.
ProbeChoice choose_examples(const ProbeRequest& request, const DataConfig& config) {
  require(
      request.length == 0,
      "--sequence-length {}: this model reads examples of a task, which have their own lengths; "
      "leave it out, or give --data PATH",
      request.length);
  const auto split = request.text.split.value_or("validation");
  require(split == "validation" || split == "test", "--split {}: expected validation or test",
          one_line(split));
  const TaskData data(config);
  std::vector<TaskSample> samples;
  std::int64_t available = 0;
  for (const auto& set : split == "test" ? data.test() : data.validation()) {
    samples.insert(samples.end(), set.samples.begin(), set.samples.end());
    for (const auto& sample : set.samples)
      available += static_cast<std::int64_t>(sample.tokens.size());
  }
  return {task_sequences(std::move(samples), positions_of(request, available),
                         fmt::format("task {}, {}", config.task, split)),
          config.task, split};
}

ProbeChoice choose(const ProbeRequest& request, const OpenedModel& opened) {
  const auto& config = opened.stored.config;
  if (config.data.source == DataSource::kTask && request.text.data.empty())
    return choose_examples(request, config.data);
  check(request.text);
  auto data = config.data;
  if (data.source == DataSource::kTask) data.source = DataSource::kText;
  if (request.length > 0) data.sequence_length = request.length;
  const auto [set, tokenizer, split] = choose_text(request.text, data, opened);
  const auto name = request.text.data.empty() ? data.path : request.text.data;
  const auto available = static_cast<std::int64_t>(set.tokens()) - 1;
  return {text_sequences(set, positions_of(request, available), name + ", " + split), name, split};
}

/// Whether the model is to run in double precision.
bool in_double_precision(const ProbeRequest& request, const Model& model) {
  const auto asked = request.precision.value_or("auto");
  require(asked == "auto" || asked == "fp32" || asked == "fp64",
          "--precision {}: expected auto, fp32 or fp64", one_line(asked));
  const auto* looped = std::get_if<LoopedLm>(&model);
  require(asked != "fp64" || looped != nullptr,
          "--precision fp64: an RLT runs in fp32; leave it out");
  if (asked != "auto" || looped == nullptr) return asked == "fp64";
  double parameters = 0;
  visit_parameters(*looped, [&](const std::string&, const Parameter& parameter) {
    parameters += static_cast<double>(parameter.value.numel());
  });
  return parameters <= kSmallModel;
}

DiagnosisOptions options_of(const ProbeRequest& request, const Config& config) {
  DiagnosisOptions options{
      .probes = request.probes ? parse_probes(*request.probes) : probes_for(config.model),
      .loops = request.loops > 0 ? request.loops : default_probe_loops(config),
      .trained_loops = config.loops.forward,
      .interaction_positions = request.interaction_positions,
      .jacobians = request.jacobians,
      .most_gradient_numbers = static_cast<double>(free_memory_bytes()) / 16,
      .leave_out = !request.probes};
  check_probes(options.probes, config.model);
  check_grid(config, options.loops);
  if (config.model.kind == ModelKind::kRlt) options.loops = options.trained_loops = 1;
  return options;
}

Json json_of(const ProbeRequest& request, const OpenedModel& opened, const ProbeChoice& choice,
             const DiagnosisOptions& options, bool exact, const Diagnosis& diagnosis) {
  const auto& model = opened.stored.config.model;
  Json names = Json::array();
  for (const auto probe : options.probes) names.push_back(name_of(probe));
  Json json = {{"model", request.model.model},
               {"kind", word(model.kind)},
               {"probes", names},
               {"loops", options.loops},
               {"trained_loops", options.trained_loops},
               {"layers",
                {{"prelude", model.prelude_layers},
                 {"core", model.core_layers},
                 {"coda", model.coda_layers}}},
               {"data", choice.data},
               {"split", choice.split},
               {"sequences", choice.sequences.count},
               {"positions", choice.sequences.positions},
               {"interaction_positions", diagnosis.interaction_positions},
               {"jacobians", diagnosis.jacobians},
               {"precision", exact ? "fp64" : "fp32"},
               {"notes", diagnosis.notes}};
  if (model.kind == ModelKind::kRlt) json.erase("layers");
  json["rows"] = rows_json(diagnosis.rows);
  return json;
}

}  // namespace

ProbedModel run_probes(const ProbeRequest& request) {
  auto opened = open_model(request.model, request.loops > 0);
  const auto& config = opened.stored.config;
  require_loops(config, request.loops, request.model.model);
  auto options = options_of(request, config);
  const bool exact = in_double_precision(request, opened.stored.model);
  use_threads(request.threads);
  const auto choice = choose(request, opened);
  if (exact) opened.stored.model = in_double(std::get<LoopedLm>(opened.stored.model));
  Progress progress("diagnose");
  options.progress = [&](const std::string& what) { progress.update(what); };
  ProbedModel probed;
  probed.diagnosis = diagnose(opened.stored.model, choice.sequences, options);
  probed.json = json_of(request, opened, choice, options, exact, probed.diagnosis);
  return probed;
}

}  // namespace rondo
