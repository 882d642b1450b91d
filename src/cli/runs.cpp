// From arguments to tables.
#include "cli/runs.h"

#include "cli/command.h"
#include "law/read_table.h"

namespace rondo {

FitTable read_runs(const std::vector<std::string>& sources, const std::vector<std::string>& columns,
                   std::span<const LawForm> forms, bool skip_bad) {
  ReadOptions options{.skip_bad = skip_bad};
  for (const auto& column : columns) options.columns.push_back(name_and_value("--column", column));
  for (const auto& form : forms)
    for (auto& name : form.columns()) options.needed.push_back(std::move(name));
  const std::vector<fs::path> paths(sources.begin(), sources.end());
  return read_tables(paths, options);
}

std::function<void(std::string_view, int, int)> fit_progress(Progress& line) {
  return [&line](std::string_view what, int done, int of) {
    if (line.due()) line.update(fmt::format("{}: {} of {}", what, done, of));
  };
}

}  // namespace rondo
