// The course of a run: start or resume, steps, validations, checkpoints, summary.
#include "train/trainer.h"

#include <chrono>
#include <cmath>
#include <deque>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/machine.h"
#include "base/statistics.h"
#include "base/text.h"
#include "base/version.h"
#include "config/recipe.h"
#include "cost/describe.h"
#include "cost/flops.h"
#include "cost/loops.h"
#include "eval/loss.h"
#include "eval/open_model.h"
#include "eval/task_eval.h"
#include "nn/engine.h"
#include "record/events.h"
#include "record/run_folder.h"
#include "record/state.h"
#include "tensor/roof.h"
#include "train/checkpoint.h"
#include "train/preflight.h"
#include "train/run_data.h"
#include "train/schedule.h"
#include "train/settle.h"
#include "train/start.h"
#include "train/step.h"
#include "train/step_profile.h"

namespace rondo {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Peak resident memory counts from here on.
void reset_peak_memory() {
  // Not every system lets a process reset its own peak; then the peak is that of the whole process.
  if (std::FILE* file = std::fopen("/proc/self/clear_refs", "w")) {
    std::fputs("5", file);
    std::fclose(file);
  }
}

Json depth_json(const std::vector<Validation>& points) {
  Json list = Json::array();
  for (const auto& point : points) {
    Json row = {{"loops", point.loops}, {"loss_nats", point.loss_nats}};
    if (point.bits_per_byte) row["bits_per_byte"] = *point.bits_per_byte;
    if (point.accuracy) row["accuracy"] = *point.accuracy;
    row["stderr"] = point.stderr_nats;
    list.push_back(std::move(row));
  }
  return list;
}

class Run {
 public:
  Run(const Config& recipe, const TrainOptions& options);
  Json go();

 private:
  void begin();
  bool step();
  void validate(bool last);
  void show_validation(bool last);
  void save();
  void sweep_lengths();
  void show(const StepResult& result, double seconds);
  void append_step(const StepResult& result, double seconds);
  [[nodiscard]] bool weights_finite();
  [[nodiscard]] bool last_step() const { return step_ == last_; }
  [[nodiscard]] Preflight plan() const;
  /// Tokens of a step in the mean so far.
  [[nodiscard]] double tokens_per_step() const { return tokens_ / static_cast<double>(step_); }
  /// Tokens so far, as records show them: a whole number.
  [[nodiscard]] std::int64_t tokens() const { return std::llround(tokens_); }
  [[nodiscard]] Json facts() const;
  [[nodiscard]] Json summary(const std::string& stop_reason, const std::string& message) const;

  TrainOptions options_;
  RunData data_;
  StepBatches batches_;
  Config config_;
  Model model_;
  std::optional<Optimizer> optimizer_;
  std::optional<RunWriter> writer_;
  Progress progress_;

  double roof_gflops_ = 0;
  ParameterCounts counts_;
  std::int64_t step_ = 0, last_ = 0, first_ = 0;
  double tokens_ = 0, flops_ = 0, wall_before_ = 0;
  Clock::time_point started_ = Clock::now();
  std::optional<Clock::time_point> validation_shown_;
  std::optional<double> train_loss_, validation_loss_, bits_per_byte_, accuracy_;
  std::optional<double> validated_now_, best_;
  std::vector<Validation> sweep_;
  Json length_sweep_, selected_;
  std::deque<double> step_times_;
  std::optional<StepProfile> profile_;
};

Run::Run(const Config& recipe, const TrainOptions& options)
    : options_(options),
      data_(recipe.data),
      config_(settle(data_.completed(options.resume ? resumed_config(recipe, options.out) : recipe),
                     data_.vocab())),
      progress_(options.label) {
  batches_ = data_.batches(config_.train);
  set_threads(static_cast<int>(config_.engine.threads));
  use_engine(config_.engine);
  counts_ = count_parameters(config_.model, config_.model.vocab);
  refuse_if_too_large(config_, plan(), options_.out);

  model_ = initial_model(config_.model, config_.seed);
  set_form(model_, form_of(config_.engine));
  if (options_.init) {
    const auto file = find_weights(*options_.init);
    check_weights(file);
    load_weights(model_, read_safetensors(file), file.string());
  }
  optimizer_.emplace(named_parameters(model_), config_.train, form_of(config_.engine));
  if (options_.profile) profile_.emplace(*options_.profile);
  last_ = config_.train.stop_after == 0 ? config_.train.steps
                                        : std::min(config_.train.steps, config_.train.stop_after);
}

Preflight Run::plan() const {
  return preflight(config_, data_.training_tokens(), roof_gflops_, data_.tokens_per_sequence());
}

void Run::begin() {
  if (!options_.resume) {
    writer_.emplace(RunWriter::create(options_.out, config_));
  } else {
    const auto entries = list_checkpoints(options_.out / kCheckpointsFolder);
    if (!entries.empty()) {
      const auto& entry = entries.back();
      require(entry.manifest.data_sha256 == data_.sha256(),
              "{}: the data at {} have changed since this run began (SHA-256 {}… before, {}… now); "
              "restore them or start another run",
              options_.out.string(), data_.name(), entry.manifest.data_sha256.substr(0, 12),
              data_.sha256().substr(0, 12));
      const auto manifest = load_checkpoint(entry.path, config_, model_, *optimizer_);
      step_ = manifest.step;
      tokens_ = manifest.tokens;
      flops_ = manifest.flops;
      wall_before_ = manifest.wall_s;
      train_loss_ = manifest.train_loss_nats;
      best_ = best_checkpoint(entries).manifest.validation_loss_nats;
      require(step_ <= config_.train.steps, "{}: has done {} steps, more than train.steps = {}",
              options_.out.string(), step_, config_.train.steps);
    }
    writer_.emplace(RunWriter::resume(options_.out, step_));
    writer_->write_config(config_);
    log("{}: {}", options_.out.string(),
        entries.empty() ? "no checkpoint yet; starting again from the first step"
                        : fmt::format("going on after step {}", step_));
  }
  first_ = step_;
  Json event = {{"event", "started"}, {"step", step_}};
  event.update(facts());
  writer_->append(event);
  // Weights from elsewhere cannot be made again from the recipe: they are saved before the first
  // step.
  if (step_ == 0 && options_.init) save();
}

Json Run::go() {
  begin();
  // Only now: what keeps a run from starting is then said at once, and is all that is said.
  roof_gflops_ = known_roof_gflops();
  for (const auto& line : split(preflight_text(config_, plan()), '\n')) log("{}", line);
  for (const auto& note : notes(config_)) log("note: {}", note);
  reset_peak_memory();
  started_ = Clock::now();
  std::string stop_reason, message;
  try {
    while (stop_reason.empty() && step_ < last_) {
      if (!step()) {
        stop_reason = kStopDiverged;
        message = fmt::format("loss or gradient left the finite numbers after step {}", step_);
      } else if (interrupt_signal() != 0) {
        stop_reason = kStopInterrupted;
        save();
      }
    }
    if (stop_reason.empty()) {
      if (first_ == step_) validate(/*last=*/step_ == config_.train.steps);
      stop_reason = step_ == config_.train.steps ? kStopFinished : kStopAfter;
      if (stop_reason == kStopFinished && data_.task() != nullptr) sweep_lengths();
    }
  } catch (const Error& error) {
    writer_->append({{"event", "stopped"},
                     {"step", step_},
                     {"stop_reason", kStopFailed},
                     {"message", error.what()}});
    throw;
  }
  if (profile_ && profile_->finish())
    for (const auto& line : split(profile_->text(), '\n')) log("{}", line);
  Json stop = {{"event", "stopped"}, {"step", step_}, {"stop_reason", stop_reason}};
  if (!message.empty()) stop["message"] = message;
  writer_->append(stop);
  const auto result = summary(stop_reason, message);
  writer_->write_summary(result);
  return result;
}

/// One step with what is due after it; false when the run has left the finite numbers.
bool Run::step() {
  if (profile_) profile_->begin();
  const auto start = Clock::now();
  const auto result = run_step(config_, batches_, model_, *optimizer_, step_ + 1);
  const double seconds = seconds_since(start);
  if (profile_ && profile_->end(seconds))
    for (const auto& line : split(profile_->text(), '\n')) log("{}", line);
  if (!result.finite) return false;
  ++step_;
  train_loss_ = result.loss_nats;
  const auto tokens = static_cast<double>(result.tokens);
  tokens_ += tokens;
  const auto loops = count_of(result.loops);
  flops_ += tokens * train_matmul_flops(counts_, loops, read_outs(config_.train, loops));
  append_step(result, seconds);
  show(result, seconds);

  const auto due = [&](std::int64_t every) { return every > 0 && step_ % every == 0; };
  validated_now_.reset();
  // A person who waits for the end of the run does not want one more validation first.
  if (interrupt_signal() == 0 && (due(config_.train.validate_every) || last_step()))
    validate(step_ == config_.train.steps);
  if (validated_now_ && !std::isfinite(*validated_now_)) return false;
  const bool improved = validated_now_ && (!best_ || *validated_now_ < *best_);
  if (improved) best_ = validated_now_;
  if (due(config_.train.checkpoint_every) || last_step() || (improved && config_.train.keep_best)) {
    if (!weights_finite()) return false;
    save();
  }
  return true;
}

void Run::validate(bool last) {
  const auto trained = config_.loops.forward;
  const auto loops = last ? default_loops(config_) : std::vector<std::int64_t>{trained};
  const auto points = data_.validate(model_, loops);
  Json event = {{"step", step_}, {"tokens", tokens()}, {"flops", flops_}};
  for (const auto& point : points) {
    if (point.loops != trained) continue;
    validation_loss_ = validated_now_ = point.loss_nats;
    bits_per_byte_ = point.bits_per_byte;
    accuracy_ = point.accuracy;
    event["validation_loss_nats"] = point.loss_nats;
    if (point.bits_per_byte) event["bits_per_byte"] = *point.bits_per_byte;
    if (point.accuracy) event["accuracy"] = *point.accuracy;
    event["stderr"] = point.stderr_nats;
  }
  if (points.empty()) return;
  event["by_loops"] = depth_json(points);
  if (last) sweep_ = points;
  writer_->append(event);
  show_validation(last);
}

/// A run of short steps shows one every ten seconds, so that its log stays short; all are on
/// record.
void Run::show_validation(bool last) {
  constexpr std::chrono::seconds kGap(10);
  const auto now = Clock::now();
  if (!last && validation_shown_ && now - *validation_shown_ < kGap) return;
  validation_shown_ = now;
  progress_.keep(fmt::format(
      "step {}: validation {:.4f} nats, {}", step_, *validation_loss_,
      accuracy_ ? fmt::format("{:.2f} % right, guessing gets {:.2f}", 100 * *accuracy_,
                              100 * data_.task()->guess().chance)
                : fmt::format("{:.4f} bits per byte", bits_per_byte_.value_or(kNotRecorded))));
}

/// Scores the checkpoint of lowest validation loss (the last one unless that is kept) on test
/// examples of every length.
void Run::sweep_lengths() {
  auto selected = open_model(writer_->dir(), config_.train.keep_best).stored.model;
  set_form(selected, form_of(config_.engine));
  const std::vector<std::int64_t> loops = {config_.loops.forward};
  auto rows = Json::array();
  for (const auto& set : data_.task()->test()) {
    const auto results = evaluate_task(selected, set.samples, loops);
    if (results.empty()) return;
    for (auto& row : task_rows(data_.task()->task(), set, results)) rows.push_back(std::move(row));
  }
  length_sweep_ = std::move(rows);
  // Which step that was: every validation is on record, those before a resume too.
  const auto file = writer_->dir() / kMetricsFile;
  for (const auto& event : parse_events(read_file(file), file.string()).validations) {
    const bool last = event.step == step_;
    if (config_.train.keep_best
            ? selected_.is_null() || event.validation_loss_nats < selected_["validation_loss_nats"]
            : last)
      selected_ = {{"step", event.step},
                   {"validation_loss_nats", event.validation_loss_nats},
                   {"accuracy", event.accuracy}};
  }
}

void Run::save() {
  Manifest manifest{.step = step_,
                    .config_hash = {},
                    .data_sha256 = data_.sha256(),
                    .version = {},
                    .files = {},
                    .tokens = tokens_,
                    .flops = flops_,
                    .wall_s = wall_before_ + seconds_since(started_),
                    .validation_loss_nats = validated_now_,
                    .train_loss_nats = train_loss_};
  save_checkpoint(writer_->checkpoints(), config_, model_, *optimizer_, manifest);
  prune_checkpoints(writer_->checkpoints(), config_.train.keep, config_.train.keep_best);
}

bool Run::weights_finite() {
  const NoGrad guard;
  bool finite = true;
  visit_parameters(model_, [&](const std::string&, const Parameter& parameter) {
    finite = finite && std::isfinite(parameter.value.sum().item<double>());
  });
  return finite;
}

void Run::append_step(const StepResult& result, double seconds) {
  constexpr std::size_t kRemembered = 200;
  step_times_.push_back(seconds);
  if (step_times_.size() > kRemembered) step_times_.pop_front();
  Json event = {{"step", step_},
                {"tokens", tokens()},
                {"flops", flops_},
                {"loops", result.loops.forward},
                {"backward_loops", result.loops.backward},
                {"train_loss_nats", result.loss_nats},
                {"learning_rate", result.learning_rate},
                {"gradient_norm", result.gradient_norm},
                {"step_time_s", seconds},
                {"state_norms", result.state_norms}};
  if (config_.train.loop_loss != LoopLoss::kLast) event["loop_losses_nats"] = result.loop_losses;
  if (config_.model.kind == ModelKind::kRlt)
    event["feedback_interval"] = feedback_interval_at(config_, step_);
  writer_->append(event);
}

void Run::show(const StepResult& result, double seconds) {
  if (!progress_.due()) return;
  const auto flops =
      flops_per_token(config_, count_of(result.loops)).train * static_cast<double>(result.tokens);
  const double typical = median(std::vector<double>(step_times_.begin(), step_times_.end()));
  progress_.update(
      fmt::format("step {}/{}  loss {:.4f}  {} tokens/s  {:.0f} % of the roof  {} left", step_,
                  last_, result.loss_nats, si(static_cast<double>(result.tokens) / seconds),
                  100.0 * flops / seconds / (roof_gflops_ * 1e9),
                  duration(typical * static_cast<double>(last_ - step_))));
}

/// What is known of the run as a whole before it ends.
Json Run::facts() const {
  const auto described = describe(config_);
  return {{"parameters", described["parameters"]},
          {"flops_per_token", described["flops_per_token"]},
          {"effective_depth", described["effective_depth"]},
          {"trained_loops",
           {{"min", smallest_loops(config_.loops)},
            {"max", std::llround(largest_loops(config_.loops).forward)}}},
          {"seed", config_.seed},
          {"config_hash", config_hash(config_)},
          {"data", {{"sha256", data_.sha256()}, {"description", data_.description()}}},
          {"version", kVersion},
          {"libtorch", libtorch_version()},
          {"machine", machine_name()},
          {"command", options_.command}};
}

Json Run::summary(const std::string& stop_reason, const std::string& message) const {
  const auto number = [](const std::optional<double>& value) {
    return value && std::isfinite(*value) ? Json(*value) : Json();
  };
  Json json = {{"steps", step_},
               {"tokens", tokens()},
               {"flops", flops_},
               {"train_loss_nats", number(train_loss_)},
               {"validation_loss_nats", number(validation_loss_)}};
  if (data_.task() == nullptr) {
    json["bits_per_byte"] = number(bits_per_byte_);
  } else {
    json["accuracy"] = number(accuracy_);
    const auto guess = data_.task()->guess();
    json["chance"] = guess.chance;
    json["majority"] = guess.majority;
    json["selected"] = selected_;
    json["length_sweep"] = length_sweep_;
  }
  const double typical = median(std::vector<double>(step_times_.begin(), step_times_.end()));
  json["tokens_per_s"] = number(tokens_per_step() / typical);
  json["roof_gflops"] = roof_gflops_;
  json["wall_s"] = wall_before_ + seconds_since(started_);
  json["peak_bytes"] = peak_resident_bytes();
  if (profile_) json["profile"] = profile_->json();
  json["stop_reason"] = stop_reason;
  if (!message.empty()) json["message"] = message;
  json.update(facts());
  json["depth_sweep"] = depth_json(sweep_);
  return json;
}

}  // namespace

Json train(const Config& config, const TrainOptions& options) {
  require(!FileLock::is_held(options.out / kLockFile),
          "{}: is in use by another process; wait for it, or choose another --out",
          options.out.string());
  if (options.resume) {
    if (const auto done = finished_summary(config, options.out)) {
      log("{}: finished already; nothing to do", options.out.string());
      return *done;
    }
  }
  check_folder(options);
  return Run(config, options).go();
}

}  // namespace rondo
