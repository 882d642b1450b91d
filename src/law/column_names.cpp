// The table of well-known names and the matching.
#include "law/column_names.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/error.h"
#include "base/text.h"

namespace rondo {
namespace {

/// Names that others use, without spaces, underscores and dashes and in lower case.
struct OtherNames {
  std::string_view ours;
  std::vector<std::string_view> theirs;
};

std::span<const OtherNames> other_names() {
  static const std::vector<OtherNames> kNames = {
      {"n", {"params", "parameters", "modelsize", "nparams", "nonembedding", "size"}},
      {"n_once", {}},
      {"n_rec", {"nloop"}},
      {"loops", {"t", "r", "recurrence", "meanrecurrence", "numloops", "nloops", "meanloops"}},
      {"backward_loops", {"rbwd", "bpttk", "backwardrecurrence", "meanbackpropdepth"}},
      {"tokens", {"d", "dtokens", "data", "trainingtokens", "tokensseen"}},
      {"flops",
       {"c", "compute", "budget", "trainingflop", "trainingflops", "trainflops", "cflops",
        "totalflops"}},
      {"loss",
       {"valloss", "validationloss", "validationlossnats", "vallossnats", "finalloss", "evalloss",
        "smoothloss", "testloss"}},
      {"unique_tokens", {"u", "unique"}},
      {"inference_loops", {}}};
  return kNames;
}

std::span<const std::string_view> known_others(std::string_view ours) {
  for (const auto& entry : other_names())
    if (entry.ours == ours) return entry.theirs;
  return {};
}

std::string plain(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c == ' ' || c == '_' || c == '-') continue;
    out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return out;
}

std::string shown(std::string_view name) { return one_line(name, 40); }

class Matcher {
 public:
  Matcher(const RawTable& table, const ReadOptions& options)
      : table_(table), options_(options), file_(table.files.front()) {}

  ColumnMatch match() {
    check_mapped_names();
    for (const char* ours : {"n_once", "n_rec", "loops", "backward_loops", "tokens", "loss"})
      seek(ours);
    match_sizes();
    match_compute();
    if (!match_.find("loss")) missing("loss", "val_loss, final_loss, eval_loss");
    for (const auto& [ours, theirs] : options_.columns)
      if (!is_contract_column(ours) && ours != "n") seek(ours);
    for (const auto& ours : options_.needed) {
      if (is_contract_column(ours)) continue;
      seek(ours);
      if (!match_.find(ours)) missing(ours, "");
    }
    return std::move(match_);
  }

 private:
  /// Refuses names on the left of --column that nothing would read.
  void check_mapped_names() const {
    std::vector<std::string> known = options_.needed;
    for (const auto& entry : other_names()) known.emplace_back(entry.ours);
    std::set<std::string> taken;
    for (const auto& [ours, theirs] : options_.columns) {
      require(!ours.empty() && !theirs.empty(),
              "--column {}={}: expected OURS=THEIRS, as in --column loss=final_loss", shown(ours),
              shown(theirs));
      if (std::find(known.begin(), known.end(), ours) == known.end())
        fail("--column {}={}: {}", shown(ours), shown(theirs), unknown_column(ours, known));
      require(taken.insert(ours).second, "--column {}={}: {} is given twice; expected it once",
              shown(ours), shown(theirs), shown(ours));
    }
  }

  [[nodiscard]] const std::string* mapping(std::string_view ours) const {
    for (const auto& [left, right] : options_.columns)
      if (left == ours) return &right;
    return nullptr;
  }

  [[nodiscard]] std::optional<std::size_t> exact(std::string_view name) const {
    const auto at = std::find(table_.names.begin(), table_.names.end(), name);
    if (name.empty() || at == table_.names.end()) return std::nullopt;
    return static_cast<std::size_t>(at - table_.names.begin());
  }

  /// Whether a column of that name can be meant: one of words, such as data = "fineweb", is not.
  [[nodiscard]] bool holds_numbers(std::size_t column) const {
    bool empty = true;
    for (const auto& cells : table_.cells) {
      if (parse_number(cells[column])) return true;
      empty = empty && cells[column].empty();
    }
    return empty;
  }

  /// Whether --column gives the column to another of ours, so that only asking makes it this one
  /// too. What repeats another column takes nothing away: backward loops, unique tokens.
  [[nodiscard]] bool is_taken(std::size_t column, std::string_view ours) const {
    return std::any_of(options_.columns.begin(), options_.columns.end(), [&](const auto& pair) {
      const bool repeats = pair.first == "backward_loops"
                               ? ours == "loops"
                               : !is_contract_column(pair.first) && pair.first != "n";
      return pair.second == table_.names[column] && !repeats;
    });
  }

  /// The columns that have our name in another spelling, else those with a well-known other name.
  [[nodiscard]] std::vector<std::size_t> candidates(std::string_view ours) const {
    std::vector<std::size_t> spelled, others;
    const auto known = known_others(ours);
    for (std::size_t i = 0; i < table_.names.size(); ++i) {
      const std::string name = plain(table_.names[i]);
      const bool is_other = std::find(known.begin(), known.end(), name) != known.end();
      if (is_taken(i, ours) || (!is_other && name != plain(ours)) || name.empty()) continue;
      if (holds_numbers(i)) (is_other ? others : spelled).push_back(i);
    }
    return spelled.empty() ? others : spelled;
  }

  void place(std::string_view ours, std::size_t column) {
    match_.places.emplace(ours, column);
    const std::string& theirs = table_.names[column];
    if (theirs != ours) match_.notes.push_back(fmt::format("{} is taken as {}", theirs, ours));
  }

  /// Finds what stands for one of ours; nothing happens when the file does not have it.
  void seek(std::string_view ours) {
    if (match_.find(ours)) return;
    if (const std::string* theirs = mapping(ours)) {
      place_mapped(ours, *theirs);
    } else if (const auto column = exact(ours)) {
      place(ours, *column);
    } else if (const auto found = candidates(ours); !found.empty()) {
      require(found.size() == 1, "{}: {} and {} could both be {}; say which with --column {}={}",
              file_, shown(table_.names[found[0]]), shown(table_.names[found.back()]), ours, ours,
              shown(table_.names[found[0]]));
      place(ours, found[0]);
    }
  }

  void place_mapped(std::string_view ours, const std::string& theirs) {
    if (const auto column = exact(theirs)) return place(ours, *column);
    // The right side may also be one of ours that the file has under another name, or that has a
    // default: --column backward_loops=loops serves plain tables and looped ones together.
    if (theirs != ours && mapping(theirs) == nullptr) {
      if (is_contract_column(theirs) || theirs == "n") seek(theirs);
      if (const auto column = match_.find(theirs)) return place(ours, *column);
      if (ours == "backward_loops" && theirs == "loops") return;
    }
    fail("{}: --column {}={}: {}", file_, ours, shown(theirs),
         unknown_column(theirs, table_.names));
  }

  /// n_once and n_rec where both are there; else n helps out, or takes their place.
  void match_sizes() {
    const bool has_once = match_.find("n_once").has_value();
    const bool has_rec = match_.find("n_rec").has_value();
    if (has_once && has_rec && mapping("n") == nullptr) return;
    seek("n");
    if (!match_.find("n")) {
      if (has_once) missing("n_rec", "n, the sum of n_once and n_rec");
      if (has_rec) missing("n_once", "n, the sum of n_once and n_rec");
      missing("n", "params, model size, or n_once and n_rec for looped models");
    }
    if (!has_once || !has_rec) return;
    // Asked for n by name: what the file calls n_once and n_rec gives way, unless asked for too.
    const bool once = mapping("n_once") != nullptr, rec = mapping("n_rec") != nullptr;
    require(!once || !rec,
            "--column n={}: n_once and n_rec are given too; expected two of the three",
            shown(*mapping("n")));
    if (!once) drop("n_once");
    if (!rec) drop("n_rec");
  }

  void drop(const std::string& ours) {
    const std::size_t column = match_.places.at(ours);
    const std::string note = fmt::format("{} is taken as {}", table_.names[column], ours);
    std::erase(match_.notes, note);
    match_.places.erase(ours);
    match_.notes.push_back(fmt::format("{} is not used: --column n={} takes its place",
                                       table_.names[column], *mapping("n")));
  }

  void match_compute() {
    if (!match_.find("tokens")) {
      seek("flops");
      if (!match_.find("flops")) missing("tokens", "D, training_tokens, or flops");
      return;
    }
    if (const std::string* theirs = mapping("flops")) {
      require(exact(*theirs).has_value(), "{}: --column flops={}: {}", file_, shown(*theirs),
              unknown_column(*theirs, table_.names));
      match_.notes.push_back(
          fmt::format("{} is not used as flops: they follow from tokens", *theirs));
    }
  }

  [[noreturn]] void missing(std::string_view ours, std::string_view others) const {
    fail("{}: {}; expected it{}, or --column {}=THEIRS", file_, unknown_column(ours, table_.names),
         others.empty() ? "" : fmt::format(" (or {})", others), ours);
  }

  const RawTable& table_;
  const ReadOptions& options_;
  const std::string& file_;
  ColumnMatch match_;
};

}  // namespace

std::span<const std::string> contract_columns() {
  static const std::array<std::string, 7> kNames = {"n_once", "n_rec", "loops", "backward_loops",
                                                    "tokens", "flops", "loss"};
  return kNames;
}

bool is_contract_column(std::string_view name) {
  const auto names = contract_columns();
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::optional<std::size_t> ColumnMatch::find(std::string_view ours) const {
  const auto at = places.find(ours);
  if (at == places.end()) return std::nullopt;
  return at->second;
}

ColumnMatch match_columns(const RawTable& table, const ReadOptions& options) {
  return Matcher(table, options).match();
}

std::string unknown_column(std::string_view name, std::span<const std::string> known) {
  constexpr std::size_t kShown = 30;
  std::vector<std::string> names;
  for (const auto& other : known)
    if (!other.empty()) names.push_back(shown(other));
  const auto close = nearest(name, names);
  std::string text = fmt::format("no column {}{}", shown(name),
                                 close ? fmt::format("; did you mean {}?", *close) : ".");
  const std::size_t count = names.size();
  if (count > kShown) names.resize(kShown);
  text += fmt::format(" The columns are {}", join(names, ", "));
  if (count > kShown) text += fmt::format(" and {} more", count - kShown);
  return text;
}

}  // namespace rondo
