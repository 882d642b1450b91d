// `rondo status`: how far the runs below a folder have come.
#include <CLI/CLI.hpp>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text.h"
#include "cli/command.h"
#include "record/run.h"

namespace rondo {
namespace {

void show_status(const std::string& dir, bool json) {
  const auto runs = find_runs(dir);
  require(!runs.empty(), "{}: no run in it or below it", dir);
  Json list = Json::array();
  TextTable table({"run", "state", "step", "steps", "loss_nats", "time left"});
  for (const auto& path : runs) {
    const auto run = run_status(path);
    list.push_back({{"path", path.string()},
                    {"step", run.step},
                    {"steps", run.steps},
                    {"loss", std::isfinite(run.loss) ? Json(run.loss) : Json()},
                    {"eta_s", run.eta_s ? Json(*run.eta_s) : Json()},
                    {"state", word(run.state)}});
    table.add({path.string(), std::string(word(run.state)), std::to_string(run.step),
               std::to_string(run.steps),
               std::isfinite(run.loss) ? fmt::format("{:.4f}", run.loss) : "–",
               run.eta_s ? duration(*run.eta_s) : "–"});
  }
  if (json) return print_json({{"runs", list}});
  print_text(table.aligned());
}

}  // namespace

void declare_status(CLI::App& app, int&) {
  struct Arguments {
    std::string dir = ".";
    bool json = false;
  };
  auto arguments = std::make_shared<Arguments>();
  auto* command = app.add_subcommand("status", "Show how far the runs below a folder have come");
  command->add_option("DIR", arguments->dir, "a run, or a folder of runs; default the current one");
  command->add_flag("--json", arguments->json, "print one JSON object");
  command->footer("Example: rondo status runs");
  command->callback([arguments] { show_status(arguments->dir, arguments->json); });
}

}  // namespace rondo
