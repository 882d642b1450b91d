// Scaling laws that others have published, fitted again to the tables that they published: each
// constant beside ours, and whether they agree by a rule that was fixed first.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/json.h"
#include "law/fit.h"

namespace rondo {

struct PublishedOptions {
  int starts = 500;                 ///< random starts of every fit
  int bootstrap = 200;              ///< refits for intervals
  int chinchilla_bootstrap = 1000;  ///< of the fit whose standard errors are published
  std::uint64_t seed = 0;
  int threads = 0;  ///< 0 = all cores
  /// Called now and then with what is being done.
  std::function<void(std::string_view)> progress = {};
};

/// One number of a study.
struct PublishedRow {
  std::string study;
  std::size_t rows = 0;  ///< of the study's table that went into it
  std::string law;
  std::string parameter;
  std::optional<double> published;
  double refitted = 0;
  Interval interval;                ///< 95 %, of a bootstrap
  std::optional<double> tolerance;  ///< of the difference, fixed before the fit
  std::string note;

  /// Nothing where there is no published number.
  [[nodiscard]] std::optional<bool> agrees() const;
  /// What decided: "tolerance" or "interval"; empty where nothing did.
  [[nodiscard]] std::string by() const;
};

struct PublishedTable {
  std::vector<PublishedRow> rows;
  std::vector<std::string> skipped;  ///< studies whose files are not there, and which
};

/// Runs every study whose files lie below `data` (scaling_laws/…, looped_results/…). Throws an
/// input error when none does, and when a file cannot be read.
PublishedTable published_laws(const fs::path& data, const PublishedOptions& options);

/// The rule of agreement in a sentence.
std::string agreement_rule();

std::string to_csv(const PublishedTable& table);
std::string to_markdown(const PublishedTable& table);
Json to_json(const PublishedTable& table);

}  // namespace rondo
