// `rondo report`: runs, a fitted law, or probes, as one self-contained page.
#include "report/report.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cli/command.h"
#include "report/diagnosis_page.h"
#include "report/law_report.h"

namespace rondo {
namespace {

struct ReportArguments {
  std::vector<std::string> dirs;
  ReportOptions options;
  std::string out;
  double flops = 0;
  bool json = false;
};

/// Whether the first path is a file, or named like one that is not there; folders hold runs.
bool of_a_law(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) ||
         (path.extension() == ".json" && !fs::is_directory(path, ignored));
}

/// Whether the file is what `rondo diagnose --json` printed.
bool of_a_diagnosis(const fs::path& path) {
  std::error_code ignored;
  if (path.extension() != ".json" || !fs::is_regular_file(path, ignored)) return false;
  return is_diagnosis(Json::parse(read_file(path), nullptr, /*allow_exceptions=*/false));
}

fs::path probes_page(const std::vector<fs::path>& paths, const ReportArguments& arguments) {
  const auto& path = paths.front();
  require(paths.size() == 1, "{}: a page of probes is made of one diagnosis; got {} paths",
          path.string(), paths.size());
  require(!arguments.options.watch && arguments.flops == 0,
          "{}: --watch is for runs and --flops for a law; leave them out", path.string());
  const fs::path out = arguments.out;
  return write_diagnosis_page(read_diagnosis(path),
                              out.empty() ? path.parent_path() / "report.html" : out);
}

fs::path law_page(const std::vector<fs::path>& paths, const ReportArguments& arguments) {
  const auto& fit = paths.front();
  require(fit.extension() == ".json",
          "{}: expected a folder of runs, or what `rondo fit --json` prints in a .json file",
          fit.string());
  require(paths.size() <= 2, "{}: a law's page is made of one fit and one plan; got {} paths",
          fit.string(), paths.size());
  require(!arguments.options.watch, "--watch: a fit does not go on; only runs can be watched");
  return write_law_report(fit, {.out = arguments.out,
                                .plan = paths.size() > 1 ? paths[1] : fs::path(),
                                .csv = true,
                                .flops = arguments.flops});
}

void run_report(ReportArguments arguments) {
  arguments.options.out = arguments.out;
  const std::vector<fs::path> paths(arguments.dirs.begin(), arguments.dirs.end());
  if (of_a_diagnosis(paths.front())) {
    const auto page = probes_page(paths, arguments);
    return arguments.json ? print_json({{"path", page.string()}}) : print_text(page.string());
  }
  const bool law = of_a_law(paths.front());
  require(law || arguments.flops == 0, "--flops is for the page of a law; {} is not a FIT.json",
          paths.front().string());
  const auto path = law ? law_page(paths, arguments) : write_report(paths, arguments.options);
  if (arguments.json) return print_json({{"path", path.string()}});
  print_text(path.string());
}

}  // namespace

void declare_report(CLI::App& app, int&) {
  auto arguments = std::make_shared<ReportArguments>();
  auto* command =
      app.add_subcommand("report", "Write runs, or a fitted law, as one self-contained HTML page");
  command
      ->add_option("DIR|FIT.json", arguments->dirs,
                   "runs, or folders of runs; or a fit, and a plan made from it; or what diagnose "
                   "--json printed")
      ->required();
  command->add_option("--out", arguments->out,
                      "the page; default report.html beside the runs or the fit");
  command->add_flag("--csv", arguments->options.csv,
                    "also write each chart's data as CSV; always done for a law");
  command->add_flag("--watch", arguments->options.watch, "write it again while the runs go");
  command->add_flag("--json", arguments->json, "print one JSON object");
  command->add_option("--flops", arguments->flops,
                      "for a law: the budget to compare loops at; default from its runs");
  command->footer(
      "Example: rondo report runs/plain runs/looped --out comparison.html\n"
      "Example: rondo report fit.json plan.json");
  command->callback([arguments] { run_report(*arguments); });
}

}  // namespace rondo
