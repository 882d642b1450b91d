// `rondo diagnose`: what the loops of a model do.
#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/interrupt.h"
#include "base/log.h"
#include "cli/command.h"
#include "cli/run_probes.h"
#include "diagnose/diagnosis_json.h"
#include "report/diagnosis_page.h"

namespace rondo {
namespace {

struct DiagnoseArguments {
  ProbeRequest request;
  std::string out;
  bool json = false;
};

void run_diagnose(const DiagnoseArguments& arguments, int& status) {
  auto [diagnosis, json] = run_probes(arguments.request);
  if (diagnosis.interrupted) {
    status = interrupt_exit_status();
    return;
  }
  for (const auto& note : diagnosis.notes) log("note: {}", note);
  if (!arguments.out.empty()) json["path"] = write_diagnosis_page(json, arguments.out).string();
  if (arguments.json) return print_json(json);
  print_table(rows_table(diagnosis.rows));
  if (!arguments.out.empty()) log("page: {}", json["path"].get<std::string>());
}

}  // namespace

void declare_diagnose(CLI::App& app, int& status) {
  auto arguments = std::make_shared<DiagnoseArguments>();
  auto& request = arguments->request;
  auto* command = app.add_subcommand("diagnose", "Measure what the loops of a model do");
  const auto whole = [&](const char* name, std::int64_t& value, const char* help) {
    add_whole_number(*command, name, value, 1, std::int64_t{1} << 40, help);
  };
  add_model(*command, request.model);
  add_whole_number(*command, "--loops", request.loops, static_cast<std::int64_t>(kLoops.low),
                   static_cast<std::int64_t>(kLoops.high),
                   "loops of the pass, r; default twice those of training (once, where a timestep "
                   "grid ends with them)");
  command->add_option("--probes", request.probes,
                      "angle,update,variance,interaction,response,gradient_flow,spectral_radius,"
                      "logit_lens; default all that have a meaning");
  whole("--positions", request.positions,
        "positions to look at; default 16384 or all there are (arXiv 2609.36636 takes 100000)");
  whole("--interaction-positions", request.interaction_positions,
        "of these, the first so many for interaction and response, which take a pass for every run "
        "of a block; default 2048");
  whole("--jacobians", request.jacobians,
        "sequences at whose last position the spectral radius is taken; default 8");
  command->add_option("--split", request.text.split,
                      "text: validation (default) or train; tasks: validation (default) or test");
  command->add_option("--data", request.text.data,
                      "text or shards to read instead of the run's own");
  whole("--sequence-length", request.length,
        "of text, positions of a sequence; default that of training");
  command->add_option("--precision", request.precision,
                      "auto (default: fp64 up to a million parameters, else fp32), fp32 or fp64");
  command->add_option("--out", arguments->out,
                      "also write the page with the pictures, and its numbers beside it");
  add_threads(*command, request.threads);
  add_model_choice(*command, request.model);
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
