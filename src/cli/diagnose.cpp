// `rondo diagnose`: what the loops of a model do.
#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/machine.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/model_options.h"
#include "cli/text_choice.h"
#include "data/task_data.h"
#include "diagnose/diagnosis_json.h"
#include "diagnose/probe_data.h"
#include "diagnose/spectral_radius.h"
#include "report/diagnosis_page.h"

namespace rondo {
namespace {

constexpr std::int64_t kPositions = 16384, kInteractionPositions = 2048, kJacobians = 8;
/// A model of at most so many parameters is run in double precision unless told otherwise: it costs
/// little there.
constexpr double kSmallModel = 1e6;

struct DiagnoseArguments {
  ModelOptions model;
  std::string out;
  std::optional<std::string> probes, precision;
  TextRequest text;
  std::int64_t loops = 0, positions = 0, length = 0;  // 0 = not given
  std::int64_t interaction_positions = kInteractionPositions, jacobians = kJacobians, threads = 0;
  bool json = false;
};

/// Sequences, and what they are called.
struct ProbeChoice {
  ProbeSequences sequences;
  std::string data, split;
};

std::int64_t positions_of(const DiagnoseArguments& arguments, std::int64_t available) {
  return arguments.positions > 0 ? arguments.positions : std::min(kPositions, available);
}

/// The held-out examples of a model's task.
ProbeChoice choose_examples(const DiagnoseArguments& arguments, const DataConfig& config) {
  require(
      arguments.length == 0,
      "--sequence-length {}: this model reads examples of a task, which have their own lengths; "
      "leave it out, or give --data PATH",
      arguments.length);
  const auto split = arguments.text.split.value_or("validation");
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
  return {task_sequences(std::move(samples), positions_of(arguments, available),
                         fmt::format("task {}, {}", config.task, split)),
          config.task, split};
}

ProbeChoice choose(const DiagnoseArguments& arguments, const OpenedModel& opened) {
  const auto& config = opened.stored.config;
  if (config.data.source == DataSource::kTask && arguments.text.data.empty())
    return choose_examples(arguments, config.data);
  check(arguments.text);
  auto data = config.data;
  if (data.source == DataSource::kTask) data.source = DataSource::kText;
  if (arguments.length > 0) data.sequence_length = arguments.length;
  const auto [set, tokenizer, split] = choose_text(arguments.text, data, opened);
  const auto name = arguments.text.data.empty() ? data.path : arguments.text.data;
  const auto available = static_cast<std::int64_t>(set.tokens()) - 1;
  return {text_sequences(set, positions_of(arguments, available), name + ", " + split), name,
          split};
}

/// Whether the model is to run in double precision.
bool in_double_precision(const DiagnoseArguments& arguments, const Model& model) {
  const auto asked = arguments.precision.value_or("auto");
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

DiagnosisOptions options_of(const DiagnoseArguments& arguments, const Config& config) {
  DiagnosisOptions options{
      .probes = arguments.probes ? parse_probes(*arguments.probes) : probes_for(config.model),
      .loops = arguments.loops > 0 ? arguments.loops : default_probe_loops(config),
      .trained_loops = config.loops.forward,
      .interaction_positions = arguments.interaction_positions,
      .jacobians = arguments.jacobians,
      .most_gradient_numbers = static_cast<double>(free_memory_bytes()) / 16,
      .leave_out = !arguments.probes};
  check_probes(options.probes, config.model);
  check_grid(config, options.loops);
  if (config.model.kind == ModelKind::kRlt) options.loops = options.trained_loops = 1;
  return options;
}

Json json_of(const DiagnoseArguments& arguments, const OpenedModel& opened,
             const ProbeChoice& choice, const DiagnosisOptions& options, bool exact,
             const Diagnosis& diagnosis) {
  const auto& model = opened.stored.config.model;
  Json names = Json::array();
  for (const auto probe : options.probes) names.push_back(name_of(probe));
  Json json = {{"model", arguments.model.model},
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

void run_diagnose(const DiagnoseArguments& arguments, int& status) {
  auto opened = open_model(arguments.model, arguments.loops > 0);
  const auto& config = opened.stored.config;
  require_loops(config, arguments.loops, arguments.model.model);
  auto options = options_of(arguments, config);
  const bool exact = in_double_precision(arguments, opened.stored.model);
  use_threads(arguments.threads);
  const auto choice = choose(arguments, opened);
  if (exact) opened.stored.model = in_double(std::get<LoopedLm>(opened.stored.model));
  Progress progress("diagnose");
  options.progress = [&](const std::string& what) { progress.update(what); };
  const auto diagnosis = diagnose(opened.stored.model, choice.sequences, options);
  if (diagnosis.interrupted) {
    status = interrupt_exit_status();
    return;
  }
  for (const auto& note : diagnosis.notes) log("note: {}", note);
  auto json = json_of(arguments, opened, choice, options, exact, diagnosis);
  if (!arguments.out.empty()) json["path"] = write_diagnosis_page(json, arguments.out).string();
  if (arguments.json) return print_json(json);
  print_table(rows_table(diagnosis.rows));
  if (!arguments.out.empty()) log("page: {}", json["path"].get<std::string>());
}

}  // namespace

void declare_diagnose(CLI::App& app, int& status) {
  auto arguments = std::make_shared<DiagnoseArguments>();
  auto* command = app.add_subcommand("diagnose", "Measure what the loops of a model do");
  const auto whole = [&](const char* name, std::int64_t& value, const char* help) {
    add_whole_number(*command, name, value, 1, std::int64_t{1} << 40, help);
  };
  add_model(*command, arguments->model);
  add_whole_number(*command, "--loops", arguments->loops, static_cast<std::int64_t>(kLoops.low),
                   static_cast<std::int64_t>(kLoops.high),
                   "loops of the pass, r; default twice those of training (once, where a timestep "
                   "grid ends with them)");
  command->add_option("--probes", arguments->probes,
                      "angle,update,variance,interaction,response,gradient_flow,spectral_radius,"
                      "logit_lens; default all that have a meaning");
  whole("--positions", arguments->positions,
        "positions to look at; default 16384 or all there are (arXiv 2609.36636 takes 100000)");
  whole("--interaction-positions", arguments->interaction_positions,
        "of these, the first so many for interaction and response, which take a pass for every run "
        "of a block; default 2048");
  whole("--jacobians", arguments->jacobians,
        "sequences at whose last position the spectral radius is taken; default 8");
  command->add_option("--split", arguments->text.split,
                      "text: validation (default) or train; tasks: validation (default) or test");
  command->add_option("--data", arguments->text.data,
                      "text or shards to read instead of the run's own");
  whole("--sequence-length", arguments->length,
        "of text, positions of a sequence; default that of training");
  command->add_option("--precision", arguments->precision,
                      "auto (default: fp64 up to a million parameters, else fp32), fp32 or fp64");
  command->add_option("--out", arguments->out,
                      "also write the page with the pictures, and its numbers beside it");
  add_threads(*command, arguments->threads);
  add_model_choice(*command, arguments->model);
  command->add_flag("--json", arguments->json, "print one JSON object");
  command->footer(
      "docs/probes.md says what each probe measures and how to read it. The pairs of the "
      "interaction "
      "are in\n--json and on the page, not in the table.\n"
      "Example: rondo diagnose runs/a --loops 12 --out probes.html\n"
      "         rondo diagnose runs/a --probes angle,update,variance --positions 100000");
  command->callback([arguments, &status] { run_diagnose(*arguments, status); });
}

}  // namespace rondo
