// The list of studies, and running those whose files are there.
#include "plan/published.h"

#include <array>

#include "base/error.h"
#include "base/text.h"
#include "plan/published_study.h"

namespace rondo {
namespace {

/// A study and the files that it cannot do without.
struct Entry {
  const char* name;
  std::vector<const char*> files;
  void (*run)(Study&);
};

const std::vector<Entry>& studies() {
  static const std::vector<Entry> kStudies = {
      {"Chinchilla, Epoch's points",
       {"scaling_laws/chinchilla_epoch_svg_extracted_data.csv"},
       study_chinchilla},
      {"Chinchilla, Kyo-Takano's points",
       {"scaling_laws/chinchilla_kyo_takano_df.csv"},
       study_chinchilla_cleaned},
      {"iso-depth",
       {"looped_results/isodepth_schwethelm/isoflop_points_digitised.csv",
        "looped_results/isodepth_schwethelm/empirical_isoflop_minima.csv",
        "looped_results/isodepth_schwethelm/width_tables.csv"},
       study_iso_depth},
      {"FLOPs of iso-depth",
       {"looped_results/isodepth_schwethelm/width_tables.csv"},
       study_flops_per_token},
      {"Parcae", {"looped_results/parcae/isoflop_digitised.csv"}, study_parcae},
      {"IsoFLOP sources",
       {"scaling_laws/isoflops_open_athena_combined.csv"},
       study_isoflop_sources},
      {"repeated data", {"scaling_laws/datablations_c4_runs.csv"}, study_repeated_data},
      {"loops at test time",
       {"looped_results/looped_nanochat/s20_val_bpb_by_eval_r.csv"},
       study_test_time}};
  return kStudies;
}

}  // namespace

PublishedTable published_laws(const fs::path& data, const PublishedOptions& options) {
  require(fs::is_directory(data),
          "{}: no such folder; expected one with scaling_laws/ and looped_results/", data.string());
  PublishedTable table;
  for (const auto& entry : studies()) {
    std::vector<std::string> missing;
    for (const auto* file : entry.files)
      if (!fs::exists(data / file)) missing.emplace_back(file);
    if (!missing.empty()) {
      table.skipped.push_back(fmt::format("{}: not there: {}", entry.name, join(missing, ", ")));
      continue;
    }
    Study study(entry.name, data, options, table.rows);
    entry.run(study);
  }
  require(!table.rows.empty(), "{}: no published table in it; expected files such as {} or {}",
          data.string(), studies().front().files.front(), studies()[2].files.front());
  return table;
}

}  // namespace rondo
