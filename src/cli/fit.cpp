// `rondo fit`: a law fitted to anybody's runs.
#include "law/fit.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "cli/command.h"
#include "cli/runs.h"
#include "law/catalogue.h"
#include "law/fit_record.h"
#include "law/fit_text.h"
#include "law/isoflop.h"
#include "law/raw_table.h"
#include "law/read_table.h"
#include "report/law_report.h"

namespace rondo {
namespace {

struct FitArguments {
  std::vector<std::string> sources, columns, fix, compare, bootstrap_by, leave_out;
  std::string law, where, out, isoflop_by;
  FitOptions options;
  std::int64_t starts = 500, bootstrap = 200, bootstrap_starts = 5, seed = 0, threads = 0;
  bool skip_bad = false, isoflop = false, print_form = false, json = false;
};

LawForm form_of(const std::string& law, const FitArguments& arguments, bool all_fixes) {
  auto form = find_law(law);
  std::vector<std::pair<std::string, double>> fixes;
  for (const auto& fix : arguments.fix) {
    const auto [name, text] = name_and_value("--fix", fix);
    const auto value = parse_number(text);
    require(value.has_value(), "--fix {}: expected a number, found {}", name, text);
    // A law that is only compared may lack what the main one fixes.
    if (all_fixes || form.has_parameter(name)) fixes.emplace_back(name, *value);
  }
  fix_parameters(form, fixes);
  return form;
}

FitTable chosen_runs(const FitArguments& arguments, const std::vector<LawForm>& forms) {
  auto table = read_runs(arguments.sources, arguments.columns, forms, arguments.skip_bad);
  if (arguments.where.empty()) return table;
  const auto split = split_rows(table, arguments.where);
  require(!split.holds.empty(), "--where {}: holds for no row", arguments.where);
  return table.select(split.holds);
}

FitOptions fit_options(const FitArguments& arguments, Progress& progress) {
  auto options = arguments.options;
  options.starts = static_cast<int>(arguments.starts);
  options.bootstrap = static_cast<int>(arguments.bootstrap);
  options.bootstrap_starts = static_cast<int>(arguments.bootstrap_starts);
  options.seed = static_cast<std::uint64_t>(arguments.seed);
  options.threads = static_cast<int>(arguments.threads);
  options.bootstrap_by = arguments.bootstrap_by;
  options.progress = fit_progress(progress);
  return options;
}

void run_fit(const FitArguments& arguments) {
  require(!arguments.law.empty(), "fit: no --law given; there are {}, or a form in a .toml file",
          join(law_names(), ", "));
  if (arguments.print_form) return print_text(to_toml(find_law(arguments.law)));
  require(!arguments.sources.empty(), "fit: no TABLE or run folder given; see `rondo fit --help`");

  std::vector<LawForm> forms = {form_of(arguments.law, arguments, true)};
  for (const auto& law : arguments.compare) forms.push_back(form_of(law, arguments, false));
  const auto table = chosen_runs(arguments, forms);

  std::vector<FitResult> fits;
  std::vector<LeaveOneOut> left_out;
  {
    Progress progress("fit");
    const auto options = fit_options(arguments, progress);
    for (const auto& form : forms) {
      fits.push_back(fit_law(form, table, options));
      if (!arguments.leave_out.empty())
        left_out.push_back(leave_one_cell_out(fits.back(), arguments.leave_out, options));
    }
  }
  auto json = to_json(fits.front());
  if (!left_out.empty()) json["leave_one_out"] = to_json(left_out.front());
  if (fits.size() > 1) json["comparison"] = comparison_json(fits, left_out);
  std::optional<IsoFlop> isoflop;
  if (arguments.isoflop || !arguments.isoflop_by.empty()) {
    isoflop = isoflop_frontier(table, {.seed = static_cast<std::uint64_t>(arguments.seed),
                                       .budget_column = arguments.isoflop_by});
    json["isoflop"] = to_json(*isoflop);
  }
  fs::path page;
  if (!arguments.out.empty()) {
    create_folder(arguments.out);
    write_file_atomically(fs::path(arguments.out) / "fit.json", json.dump(1) + "\n");
    page = write_law_report(fs::path(arguments.out) / "fit.json", {});
  }
  for (const auto& note : fits.front().notes) log("note: {}", note);
  if (arguments.json) return print_json(json);
  print_table(parameter_table(fits.front()));
  print_text(summary_text(fits.front()));
  if (!left_out.empty()) print_table(to_text(left_out.front()));
  if (fits.size() > 1) print_table(comparison_table(fits, left_out));
  if (isoflop) print_text(to_text(*isoflop));
  if (!page.empty()) print_text(page.string());
}

}  // namespace

void declare_fit(CLI::App& app, int&) {
  auto arguments = std::make_shared<FitArguments>();
  auto* command = app.add_subcommand("fit", "Fit a scaling law to tables of runs or run folders");
  command->add_option("TABLE|RUNS", arguments->sources, "CSV or JSONL files, folders of runs");
  command->add_option("--law", arguments->law, "a law by name, or a form in a .toml file");
  const auto text = [&](const char* name, auto& value, const char* help) {
    command->add_option(name, value, help);
  };
  const auto list = [&](const char* name, auto& value, const char* help) {
    command->add_option(name, value, help)->delimiter(',')->allow_extra_args(false);
  };
  list("--compare", arguments->compare, "other laws to fit to the same rows: bounded,iso-depth");
  command->add_option("--column", arguments->columns, "our column = yours: loss=final_loss")
      ->allow_extra_args(false);
  text("--where", arguments->where, "use only rows where this holds: \"tokens > 1e9\"");
  text("--holdout", arguments->options.holdout, "hold out rows where this holds: \"loops >= 8\"");
  list("--leave-out", arguments->leave_out, "fit without each cell of these columns in turn");
  command->add_option("--fix", arguments->fix, "hold a parameter: q=1")->allow_extra_args(false);
  add_whole_number(*command, "--bootstrap", arguments->bootstrap, 0, 1000000,
                   "refits for intervals; default 200, 0 = none");
  list("--bootstrap-by", arguments->bootstrap_by, "resample cells of these columns, not rows");
  add_whole_number(*command, "--bootstrap-starts", arguments->bootstrap_starts, 1, 1000000,
                   "starts of each refit; default 5");
  command->add_flag("--profile", arguments->options.profile, "profile intervals too");
  command->add_flag("--isoflop", arguments->isoflop, "parabolas and the compute-optimal frontier");
  text("--isoflop-by", arguments->isoflop_by, "the column whose values are the budgets");
  add_whole_number(*command, "--starts", arguments->starts, 1, 10000000,
                   "random starts; default 500");
  text("--delta", arguments->options.delta, "Huber's delta on log loss; default 1e-3");
  text("--overestimate-weight", arguments->options.overestimate_weight,
       "factor on runs predicted too high; default 1");
  add_whole_number(*command, "--seed", arguments->seed, 0, INT64_MAX, "of starts and resamples");
  add_whole_number(*command, "--threads", arguments->threads, 0, 4096, "default all cores");
  command->add_flag("--skip-bad", arguments->skip_bad, "leave bad rows out instead of failing");
  text("--out", arguments->out, "folder for fit.json and a page");
  command->add_flag("--print-form", arguments->print_form, "print the law's form, to start from");
  command->add_flag("--json", arguments->json, "print one JSON object: what `rondo plan` reads");
  command->footer(
      "Example: rondo fit runs.csv --law joint --holdout \"loops >= 8\" --out fits/joint\n"
      "Columns: n_once, n_rec (or n), loops, backward_loops, tokens or flops, loss; names that "
      "others use are known, --column maps the rest.");
  command->callback([arguments] { run_fit(*arguments); });
}

}  // namespace rondo
