// `rondo bench`: how fast this machine and this program are.
#include "train/bench.h"

#include <CLI/CLI.hpp>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/machine.h"
#include "base/text.h"
#include "cli/command.h"
#include "config/train_config.h"
#include "tensor/tensor.h"

namespace rondo {
namespace {

struct BenchArguments {
  std::string name, cases, gemm, peer;
  Overrides set;
  std::int64_t rounds = 0, steps = 0, threads = 0;  // 0 = the benchmark's own
  bool no_memory = false, json = false;
};

bool trains(const std::string& name) { return name == "lm" || name == "rlt"; }

void check_name(const std::string& name) {
  for (const char* later : {"decode", "fit"})
    require(name != later, "bench {}: not in this version; expected lm, rlt or roof", name);
  require(trains(name) || name == "roof", "bench {}: no such benchmark; expected lm, rlt or roof",
          one_line(name));
}

/// Options of another benchmark are a mistake, not something to pass over.
void check(const BenchArguments& arguments) {
  check_name(arguments.name);
  if (trains(arguments.name)) return;
  const std::array given = {
      std::pair("--cases", !arguments.cases.empty()), std::pair("--gemm", !arguments.gemm.empty()),
      std::pair("--peer", !arguments.peer.empty()), std::pair("--set", !arguments.set.empty())};
  for (const auto& [option, is_given] : given)
    require(!is_given, "{}: belongs to bench lm and rlt, not to bench {}", option, arguments.name);
}

BenchOptions options_of(const BenchArguments& arguments) {
  // A step of the recurrent cases takes as long as several of the others.
  const bool recurrent = arguments.name == "rlt";
  const auto or_else = [](std::int64_t given, int usual) {
    return given > 0 ? static_cast<int>(given) : usual;
  };
  BenchOptions options{.benchmark = recurrent ? Benchmark::kRlt : Benchmark::kLm,
                       .cases = {},
                       .rounds = or_else(arguments.rounds, recurrent ? 3 : 5),
                       .steps = or_else(arguments.steps, recurrent ? 1 : 3),
                       .set = arguments.set,
                       .peer = arguments.peer,
                       .memory = !arguments.no_memory};
  if (!arguments.cases.empty()) options.cases = split(arguments.cases, ',');
  if (!arguments.gemm.empty()) options.set.push_back("engine.gemm=" + arguments.gemm);
  if (arguments.threads > 0)
    options.set.push_back(fmt::format("engine.threads={}", arguments.threads));
  return options;
}

Json to_json(const std::vector<BenchRow>& rows) {
  Json list = Json::array();
  for (const auto& row : rows)
    list.push_back({{"case", row.name},
                    {"metric", row.metric},
                    {"value", row.value},
                    {"unit", row.unit},
                    {"roof_share", row.roof_share ? Json(*row.roof_share) : Json()}});
  return {{"rows", list}, {"machine", machine_name()}, {"libtorch", libtorch_version()}};
}

void run_bench(const BenchArguments& arguments, int& status) {
  check(arguments);
  use_threads(arguments.threads);
  const auto options = options_of(arguments);
  const auto rows = trains(arguments.name) ? bench_steps(options) : bench_roof(options);
  if (interrupt_signal() != 0) status = interrupt_exit_status();
  if (arguments.json) return print_json(to_json(rows));
  print_text(bench_table(rows));
}

}  // namespace

void declare_bench(CLI::App& app, int& status) {
  auto arguments = std::make_shared<BenchArguments>();
  auto* command = app.add_subcommand("bench", "Measure training steps, or the machine's roofs");
  command
      ->add_option("NAME", arguments->name,
                   "lm (training steps of looped models), rlt (of recurrent ones) or roof")
      ->required();
  command->add_option("--cases", arguments->cases,
                      fmt::format("lm: {}; rlt: {}; a44:engine.fused=false is a44 with a change; "
                                  "default all",
                                  join(bench_case_names(Benchmark::kLm), ","),
                                  join(bench_case_names(Benchmark::kRlt), ",")));
  command->add_option("--set", arguments->set, "lm, rlt: override a key in every case")
      ->allow_extra_args(false);
  command->add_option("--gemm", arguments->gemm, "lm, rlt: auto (default), libtorch or onednn");
  command->add_option("--peer", arguments->peer,
                      "lm, rlt: a command that measures another program once a round; see "
                      "docs/performance.md");
  add_whole_number(*command, "--rounds", arguments->rounds, 1, 1000,
                   "times that all cases run in turn; default 5, rlt 3");
  add_whole_number(*command, "--steps", arguments->steps, 1, 1000,
                   "steps of each case in a round; default 3, rlt 1");
  add_threads(*command, arguments->threads);
  command->add_flag("--no-memory", arguments->no_memory,
                    "lm, rlt: leave out peak memory, for which each case runs once more");
  command->add_flag("--json", arguments->json, "print one JSON object");
  command->footer("Example: rondo bench lm --cases a44,a82,a44:engine.gemm=libtorch");
  command->callback([arguments, &status] { run_bench(*arguments, status); });
}

}  // namespace rondo
