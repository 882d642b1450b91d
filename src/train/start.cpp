// Starting and resuming in a run's folder.
#include "train/start.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text.h"
#include "config/recipe.h"
#include "record/run_folder.h"
#include "record/state.h"
#include "train/settle.h"

namespace rondo {

Config resumed_config(const Config& recipe, const fs::path& out) {
  require(is_run(out), "{}: no run to resume; leave out --resume to start one", out.string());
  const auto earlier = read_recipe(out.string());
  auto config = adopt_settled(recipe, earlier);
  const auto changed = differences(earlier, config);
  require(
      changed.empty(),
      "{}: --resume with another recipe: {}. Use the run's own ({}/config.toml) or another --out",
      out.string(), join(changed, "; "), out.string());
  return config;
}

std::optional<Json> finished_summary(const Config& recipe, const fs::path& out) {
  const auto file = out / kSummaryFile;
  if (!is_run(out) || !fs::exists(file)) return std::nullopt;
  const auto config = resumed_config(recipe, out);
  auto summary = Json::parse(read_file(file), nullptr, /*allow_exceptions=*/false);
  if (!summary.is_object()) return std::nullopt;
  const bool done = summary.value("stop_reason", "") == kStopFinished &&
                    summary.value("steps", std::int64_t{-1}) == config.train.steps;
  return done ? std::optional(summary) : std::nullopt;
}

void check_folder(const TrainOptions& options) {
  const auto name = options.out.string();
  require(!fs::exists(options.out) || fs::is_directory(options.out),
          "{}: is a file; expected a folder for the run", name);
  if (options.resume) return;
  require(!is_run(options.out),
          "{}: holds a run already; use --resume to go on with it, or another --out", name);
  // Old checkpoints would be taken for those of the new run.
  for (const char* part : {kConfigFile, kCheckpointsFolder})
    require(!fs::exists(options.out / part),
            "{}: holds {} but no whole run; remove it, or choose another --out", name, part);
}

}  // namespace rondo
