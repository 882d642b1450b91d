// `rondo report`: runs as one self-contained page.
#include "report/report.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"

namespace rondo {
namespace {

struct ReportArguments {
  std::vector<std::string> dirs;
  ReportOptions options;
  std::string out;
  bool json = false;
};

void run_report(ReportArguments arguments) {
  arguments.options.out = arguments.out;
  const std::vector<fs::path> dirs(arguments.dirs.begin(), arguments.dirs.end());
  const auto path = write_report(dirs, arguments.options);
  if (arguments.json) return print_json({{"path", path.string()}});
  print_text(path.string());
}

}  // namespace

void declare_report(CLI::App& app, int&) {
  auto arguments = std::make_shared<ReportArguments>();
  auto* command = app.add_subcommand("report", "Write runs as one self-contained HTML page");
  command->add_option("DIR", arguments->dirs, "runs, or folders of runs")->required();
  command->add_option("--out", arguments->out, "the page; default report.html beside the runs");
  command->add_flag("--csv", arguments->options.csv, "also write each chart's data as CSV");
  command->add_flag("--watch", arguments->options.watch, "write it again while the runs go");
  command->add_flag("--json", arguments->json, "print one JSON object");
  command->footer("Example: rondo report runs/plain runs/looped --out comparison.html");
  command->callback([arguments] { run_report(*arguments); });
}

}  // namespace rondo
