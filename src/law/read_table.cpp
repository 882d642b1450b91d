// From what a user names, files and folders of runs, to one table.
#include "law/read_table.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "law/csv.h"
#include "law/jsonl.h"
#include "law/read_runs.h"
#include "law/table_builder.h"
#include "record/run.h"
#include "record/utf8.h"

namespace rondo {
namespace {

/// Names that end in .jsonl or .ndjson are JSONL and those in .csv or .tsv are not; else an object
/// on the first line decides.
RawTable read_raw(std::string_view text, const std::string& name) {
  const auto ends = [&](std::string_view extension) { return name.ends_with(extension); };
  if (ends(".jsonl") || ends(".ndjson")) return read_jsonl(text, name);
  if (ends(".csv") || ends(".tsv")) return read_csv(text, name);
  const std::string_view content = checked_text(text, name);
  const char first = content[content.find_first_not_of(" \t\r\n")];
  require(first != '[', "{}: a JSON list; expected one object per line (JSONL) or CSV", name);
  return first == '{' ? read_jsonl(text, name) : read_csv(text, name);
}

/// Remembers what has been read, so that no run counts twice.
class Sources {
 public:
  void add(const fs::path& path) {
    std::error_code ignored;
    const auto whole = fs::absolute(path, ignored).lexically_normal();
    // "runs/" and "runs" are one folder.
    require(seen_.insert((whole / "").parent_path().string()).second,
            "{}: is there twice; expected each table and each run once",
            with_valid_utf8(path.string()));
  }

 private:
  std::set<std::string> seen_;
};

void add_runs(const fs::path& root, const ReadOptions& options, Sources& sources,
              TableBuilder& builder) {
  const auto runs = find_runs(root);
  const std::string name = with_valid_utf8(root.string());
  require(!runs.empty(),
          "{}: no run in it; expected run folders below it (tables are named one by one)", name);
  for (const auto& run : runs) sources.add(run);
  const RunRows rows = read_runs(runs);
  const std::size_t bad = rows.unusable.size();
  if (bad > 0 && !options.skip_bad) {
    constexpr std::size_t kShown = 3;
    const auto shown = std::span(rows.unusable).first(std::min(bad, kShown));
    fail(
        "{}: {} of {} runs cannot be used: {}{}; expected finished runs with a held-out loss; "
        "--skip-bad leaves the others out",
        name, bad, runs.size(), join(shown, ", "), bad > kShown ? ", …" : "");
  }
  for (const auto& problem : rows.unusable) builder.leave_out(problem);
  if (!rows.table.cells.empty()) builder.add_runs(rows.table);
}

}  // namespace

FitTable parse_table(std::string_view text, const std::string& name, const ReadOptions& options) {
  TableBuilder builder(options);
  builder.add(read_raw(text, name));
  return builder.finish();
}

FitTable read_tables(std::span<const fs::path> sources, const ReadOptions& options) {
  require(!sources.empty(), "no table; expected CSV or JSONL files or folders of runs");
  TableBuilder builder(options);
  Sources seen;
  bool any_file = false;
  for (const auto& path : sources) {
    const std::string name = with_valid_utf8(path.string());
    std::error_code ignored;
    require(fs::exists(path, ignored),
            "{}: no such file or folder; expected a CSV or JSONL table or run folders", name);
    if (fs::is_directory(path, ignored)) {
      add_runs(path, options, seen, builder);
    } else {
      any_file = true;
      seen.add(path);
      builder.add(read_raw(read_file(path), name));
    }
  }
  require(any_file || options.columns.empty(),
          "--column names columns of tables, and run folders have none; leave it out");
  FitTable table = builder.finish();
  if (auto note = tokenizer_note(table); !note.empty()) table.notes.push_back(std::move(note));
  return table;
}

}  // namespace rondo
