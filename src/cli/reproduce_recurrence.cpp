// The runs of the study, their sweeps and probes, then its tables and its page.
#include "cli/reproduce_recurrence.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/shipped.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/reproduce_parts.h"
#include "cli/run_probes.h"
#include "config/recipe.h"
#include "eval/loss.h"
#include "plan/recurrence_study.h"
#include "record/run.h"
#include "record/run_folder.h"
#include "report/claims.h"
#include "report/law_json.h"
#include "report/page_files.h"
#include "report/recurrence_page.h"
#include "train/seeds.h"

namespace rondo {
namespace {

/// Tables chosen; throws an input error for one of no such name.
std::vector<RecurrenceTable> chosen_tables(const std::string& only) {
  if (only.empty()) return recurrence_tables();
  std::vector<std::string> names;
  for (const auto& table : recurrence_tables()) {
    if (table.name == only) return {table};
    names.push_back(table.name);
  }
  fail("--only {}: expected one of {}", one_line(only), join(names, ", "));
}

std::vector<RecurrenceModel> models_of(const std::vector<RecurrenceTable>& tables) {
  std::vector<RecurrenceModel> models;
  for (const auto& table : tables)
    models.insert(models.end(), table.models.begin(), table.models.end());
  return models;
}

/// Losses of a run after 1 … 3 K loops: `rows[]{loops, loss_nats, bits_per_byte}`; nothing when
/// interrupted.
std::optional<Json> sweep(const fs::path& dir, const RecurrenceModel& model, std::int64_t threads) {
  use_threads(threads);
  const auto opened = open_model(dir);
  const auto text = choose_text({}, opened.stored.config.data, opened);
  std::vector<std::int64_t> loops;
  for (std::int64_t r = 1; r <= kRecurrenceReach * model.loops; ++r) loops.push_back(r);
  const auto sequences = text.sequences.spread(opened.stored.config.data.validation_tokens);
  const auto points = evaluate_loss(opened.stored.model, sequences, loops);
  if (points.empty()) return std::nullopt;
  Json rows = Json::array();
  for (const auto& point : points)
    rows.push_back({{"loops", point.loops},
                    {"loss_nats", point.loss_nats},
                    {"bits_per_byte", point.bits_per_byte}});
  return Json{{"rows", rows}};
}

std::optional<Json> probes(const fs::path& dir, const RecurrenceModel& model,
                           const RecurrenceScale& scale, std::int64_t threads) {
  ProbeRequest request;
  request.model.model = dir.string();
  request.loops = kRecurrenceReach * model.loops;
  request.positions = scale.positions;
  request.interaction_positions = scale.interaction_positions;
  request.jacobians = scale.jacobians;
  request.threads = threads;
  auto [diagnosis, json] = run_probes(request);
  if (diagnosis.interrupted) return std::nullopt;
  return std::move(json);
}

/// What is in the file, or else what `make` makes, which is written there. The run is finished and
/// does not change, so what was measured of it stays true.
template <typename Make>
std::optional<Json> kept(const fs::path& path, Make&& make) {
  if (fs::exists(path)) {
    auto json = Json::parse(read_file(path), nullptr, /*allow_exceptions=*/false);
    require(json.is_object() && json_member(json, "rows").is_array(),
            "{}: expected an object with rows; delete the file to measure again", path.string());
    return json;
  }
  auto made = make();
  if (made) write_file_atomically(path, made->dump(1) + "\n");
  return made;
}

RecurrenceSeed seed_of(const RunRecord& run, const Json& losses, const Json& diagnosis) {
  RecurrenceSeed seed{.seed = run.summary.seed, .loss_nats = {}, .bits_per_byte = {}, .probes = {}};
  for (const auto& row : json_list(losses, "rows")) {
    const auto loops = std::llround(json_number(row, "loops"));
    seed.loss_nats[loops] = json_number(row, "loss_nats");
    seed.bits_per_byte[loops] = json_number(row, "bits_per_byte");
  }
  const auto place = [](const Json& row, const char* key) {
    const double value = json_number(row, key);
    return std::isfinite(value) ? std::llround(value) : std::int64_t{-1};
  };
  for (const auto& row : json_list(diagnosis, "rows"))
    if (json_text(row, "from").empty())
      seed.probes[{.probe = json_text(row, "probe"),
                   .site = json_text(row, "site"),
                   .loop = place(row, "loop"),
                   .lag = place(row, "lag")}] = json_number(row, "value");
  return seed;
}

/// Trains and measures the seeds of a model; nothing when it was interrupted.
std::optional<RecurrenceResult> result_of(const RecurrenceModel& model,
                                          const RecurrenceScale& scale,
                                          const ReproduceRecurrence& request) {
  auto set = model.set;
  if (request.threads > 0) set.push_back(fmt::format("engine.threads={}", request.threads));
  const auto done = train_seeds(read_recipe(find_shipped(scale.recipe).string(), set), scale.seeds,
                                {.out = fs::path(request.out) / "runs" / model.folder,
                                 .resume = true,
                                 .init = {},
                                 .command = command_line(),
                                 .label = model.folder});
  if (done.interrupted) return std::nullopt;
  RecurrenceResult result;
  result.model = model;
  for (const auto& dir : done.dirs) {
    if (!is_run(dir)) continue;
    const auto run = read_run(dir);
    if (run.state != RunState::kFinished) {
      ++result.failed;
      continue;
    }
    result.parameters = run.summary.parameters.total;
    result.flops_per_token = run.summary.flops_per_token_train;
    const auto losses =
        kept(dir / "sweep.json", [&] { return sweep(dir, model, request.threads); });
    if (!losses) return std::nullopt;
    const auto diagnosis =
        kept(dir / "probes.json", [&] { return probes(dir, model, scale, request.threads); });
    if (!diagnosis) return std::nullopt;
    result.seeds.push_back(seed_of(run, *losses, *diagnosis));
  }
  return result;
}

}  // namespace

void reproduce_recurrence(const ReproduceRecurrence& request, int& status) {
  const auto& scale = recurrence_scale(request.scale.empty() ? "smoke" : request.scale);
  RecurrencePage page{.summary = scale.summary,
                      .scale = scale.name,
                      .written = {},
                      .tables = chosen_tables(request.only),
                      .results = {},
                      .claims = {}};
  const auto models = models_of(page.tables);
  log("{}: {}; {} models, seeds {}", scale.name, scale.summary, models.size(),
      fmt::join(scale.seeds, ", "));
  for (std::size_t i = 0; i < models.size(); ++i) {
    log("\n{} of {}: {}, {}", i + 1, models.size(), models[i].layout, models[i].form);
    auto result = result_of(models[i], scale, request);
    if (!result) {
      log("stopped; the same command goes on");
      status = interrupt_exit_status();
      break;
    }
    page.results.push_back(std::move(*result));
  }
  if (page.results.empty()) return;
  page.claims = judge_recurrence(page.results);
  page.written = now_text();
  const fs::path out = request.out;
  Json tables = Json::array();
  for (const auto& table : page.tables)
    tables.push_back(write_table(out, table.name, recurrence_losses(table, page.results)));
  tables.push_back(write_table(out, "probes", recurrence_probes(page.results)));
  tables.push_back(write_table(out, "claims", claims_data(page.claims)));
  finish_study({.name = "recurrence",
                .scale = scale.name,
                .out = out,
                .tables = std::move(tables),
                .claims = page.claims,
                .page = render_recurrence_page(page)},
               request.json);
}

}  // namespace rondo
