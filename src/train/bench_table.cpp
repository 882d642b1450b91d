// Rows of a benchmark as people read them.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "train/bench.h"

namespace rondo {
namespace {

std::string shown(const BenchRow& row) {
  if (row.unit == "B") return bytes(row.value);
  if (row.unit == "s" || row.metric == "times_faster" || row.metric == "other_cores")
    return fmt::format("{:.3g}", row.value);
  return si(row.value);
}

std::string heading(const BenchRow& row) {
  const bool said = row.unit.empty() || row.unit == "1" || row.unit == "B" ||
                    row.metric.ends_with("_per_s") || row.metric.ends_with("_s");
  return said ? row.metric : fmt::format("{} ({})", row.metric, row.unit);
}

}  // namespace

std::string bench_table(const std::vector<BenchRow>& rows) {
  std::vector<std::string> names, metrics;
  std::map<std::string, std::string> headings;
  std::map<std::pair<std::string, std::string>, std::string> cells;
  const auto learn = [](std::vector<std::string>& list, const std::string& word) {
    if (std::find(list.begin(), list.end(), word) == list.end()) list.push_back(word);
  };
  const std::string share = "roof_share";
  for (const auto& row : rows) {
    learn(names, row.name);
    learn(metrics, row.metric);
    headings[row.metric] = heading(row);
    cells[{row.name, row.metric}] = shown(row);
    if (!row.roof_share) continue;
    learn(metrics, share);
    headings[share] = share;
    cells[{row.name, share}] = fmt::format("{:.2f}", *row.roof_share);
  }
  std::vector<std::string> header = {"case"};
  for (const auto& metric : metrics) header.push_back(headings[metric]);
  TextTable table(header);
  for (const auto& name : names) {
    std::vector<std::string> line = {name};
    for (const auto& metric : metrics) {
      const auto cell = cells.find({name, metric});
      line.push_back(cell == cells.end() ? "" : cell->second);
    }
    table.add(line);
  }
  return table.aligned();
}

}  // namespace rondo
