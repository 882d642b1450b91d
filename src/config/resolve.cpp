// What a recipe leaves open is derived here, and contradictions between its keys are refused.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/text.h"
#include "config/recipe.h"
#include "config/task_lengths.h"

namespace rondo {
namespace {

void check_rlt(const ModelConfig& model, std::string_view source) {
  require(model.heads * model.head_dim == model.d_model,
          "{}: model.heads = {} times model.head_dim = {} is not model.d_model = {}; an RLT needs "
          "them equal, as all heads read its memory",
          source, model.heads, model.head_dim, model.d_model);
  require(!model.share_blocks ||
              (model.encoder_layers == model.decoder_layers && model.decoder_layers > 0),
          "{}: model.share_blocks = true with model.encoder_layers = {} and model.decoder_layers = "
          "{}; sharing needs as many of one as of the other, and at least one",
          source, model.encoder_layers, model.decoder_layers);
}

/// Truncation and the course of the feedback interval.
void check_feedback(const Config& config, std::string_view source) {
  const auto& train = config.train;
  auto intervals = train.feedback_schedule;
  const auto interval = config.model.feedback_interval;
  require(intervals.empty() || intervals.back() == interval,
          "{}: train.feedback_schedule ends with {} and model.feedback_interval = {}; the last one "
          "is stored with the model, so set both alike",
          source, intervals.empty() ? 0 : intervals.back(), interval);
  require(std::is_sorted(intervals.rbegin(), intervals.rend()),
          "{}: train.feedback_schedule goes from larger intervals to smaller ones, as in [8, 4, 1]",
          source);
  require(static_cast<std::int64_t>(intervals.size()) <= train.steps,
          "{}: train.feedback_schedule has {} parts and train.steps = {}; a part needs a step",
          source, intervals.size(), train.steps);
  auto detached = train.bptt_detach;
  std::sort(detached.begin(), detached.end());
  require(std::adjacent_find(detached.begin(), detached.end()) == detached.end(),
          "{}: train.bptt_detach names a part twice; expected some of {}", source,
          join(std::vector<std::string>(kWords<BpttPart>.begin(), kWords<BpttPart>.end()), ", "));
  if (train.bptt_tokens == 0) return;
  require(
      !detached.empty(),
      "{}: train.bptt_tokens = {} with an empty train.bptt_detach cuts nothing; name what is cut "
      "or set bptt_tokens = 0",
      source, train.bptt_tokens);
  intervals.push_back(interval);
  for (const auto each : intervals)
    require(each == 0 || train.bptt_tokens % each == 0,
            "{}: train.bptt_tokens = {} is no multiple of the feedback interval {}; a cut may not "
            "fall inside a chunk",
            source, train.bptt_tokens, each);
}

void resolve_model(ModelConfig& model, std::string_view source) {
  if (model.head_dim == 0) {
    require(model.d_model % model.heads == 0,
            "{}: model.heads = {} does not divide model.d_model = {}; change one of them or set "
            "model.head_dim",
            source, model.heads, model.d_model);
    model.head_dim = model.d_model / model.heads;
  }
  require(
      model.head_dim % 2 == 0,
      "{}: the head width {} is odd; RoPE needs an even one (model.head_dim, or model.d_model / "
      "model.heads)",
      source, model.head_dim);
  if (model.kv_heads == 0) model.kv_heads = model.heads;
  require(model.heads % model.kv_heads == 0,
          "{}: model.kv_heads = {} does not divide model.heads = {}", source, model.kv_heads,
          model.heads);
  if (model.d_ff == 0) model.d_ff = (8 * model.d_model + 1) / 3;
  require(model.residual_divisor == 0 || model.init == Init::kScaled,
          "{}: model.residual_divisor = {} belongs to model.init = \"scaled\" and this one is "
          "\"{}\"; leave it out or change model.init",
          source, model.residual_divisor, word(model.init));
  if (model.kind == ModelKind::kRlt) return check_rlt(model, source);
  require(
      model.injection != Injection::kNone || model.state_init == StateInit::kPrelude,
      "{}: model.state_init = \"{}\" with model.injection = \"none\" would never let the loop see "
      "the input; choose an injection or state_init = \"prelude\"",
      source, word(model.state_init));
}

/// History and timestep of a looped model.
void check_conditioning(const Config& config, std::string_view source) {
  const auto& model = config.model;
  const auto& loops = config.loops;
  require(
      model.history != HistoryForm::kNone || model.history_window == 0,
      "{}: model.history_window = {} with model.history = \"none\"; choose a form of history or "
      "set the window to 0",
      source, model.history_window);
  require(model.history == HistoryForm::kNone || model.history_window > 0,
          "{}: model.history = \"{}\" with model.history_window = 0 would see no state; set the "
          "window to 1 or more",
          source, word(model.history));
  const bool prefix = model.timestep_grid == TimestepGrid::kPrefix;
  require(
      !prefix || model.timestep != TimestepForm::kNone,
      "{}: model.timestep_grid = \"prefix\" with model.timestep = \"none\": there is no time to "
      "put on a grid; choose a timestep or leave the grid out",
      source);
  require(
      model.core_layers > 0 ||
          (model.timestep != TimestepForm::kBranchGate && model.timestep != TimestepForm::kAdaln),
      "{}: model.timestep = \"{}\" with model.core_layers = 0: it acts on the core's layers, and "
      "there are none",
      source, word(model.timestep));
  require(
      !prefix || !is_drawn(loops.sampler) || loops.max == loops.forward,
      "{}: model.timestep_grid = \"prefix\" with loops.sampler = \"{}\": loops may be drawn up to "
      "loops.max = {} and the grid ends at loops.forward = {}; set loops.max = {} or use the grid "
      "\"rescaled\"",
      source, word(loops.sampler), loops.max, loops.forward, loops.forward);
}

/// The course of the loops over the steps.
void check_loops(const LoopsConfig& loops, std::string_view source) {
  if (loops.sampler != Sampler::kSchedule) {
    require(loops.start == 1 && loops.schedule_steps == 0,
            "{}: loops.start = {} and loops.schedule_steps = {} belong to loops.sampler = "
            "\"schedule\" and this one is \"{}\"; leave them out or change the sampler",
            source, loops.start, loops.schedule_steps, word(loops.sampler));
    return;
  }
  require(loops.schedule_steps > 0,
          "{}: loops.sampler = \"schedule\" with loops.schedule_steps = 0: set in how many steps "
          "T rises from loops.start = {} to loops.forward = {}",
          source, loops.start, loops.forward);
  require(loops.start <= loops.forward,
          "{}: loops.start = {} is above loops.forward = {}; a schedule rises, so lower the start",
          source, loops.start, loops.forward);
}

void check_data(const DataConfig& data, std::string_view source) {
  require(data.tokenizer == "bytes",
          "{}: data.tokenizer = \"{}\": not available in this version; expected \"bytes\"", source,
          data.tokenizer);
  require(!data.path.empty(), "{}: data.path is empty; expected a file or a folder", source);
}

/// Lengths that are left open become the task's own, and the row's length follows from them. Those
/// of a file are known when it is read.
void resolve_task(DataConfig& data, std::string_view source) {
  const bool used = data.source == DataSource::kTask;
  require(!used || !data.document_mask,
          "{}: data.document_mask = true with data.source = \"task\": an example is one document; "
          "leave it false",
          source);
  require(!used || data.supervise == Supervise::kFinal || data.task == "parity",
          "{}: data.supervise = \"prefix\" with data.task = \"{}\": only parity has labels of "
          "prefixes; leave it \"final\"",
          source, one_line(data.task));
  require(!used || data.label_at == LabelAt::kMark || has_label(data.task),
          "{}: data.label_at = \"last\" with data.task = \"{}\": only {} have one label an "
          "example; leave it \"mark\"",
          source, one_line(data.task), fmt::join(kLabelTasks, ", "));
  require(data.length_groups == 0 || used,
          "{}: data.length_groups = {} is for data.source = \"task\"; leave it 0", source,
          data.length_groups);
  if (const auto own = own_lengths(data.task)) {
    const auto asked = data.min_length;
    if (data.min_length == 0)
      data.min_length = data.max_length == 0 ? own->min : std::min(own->min, data.max_length);
    if (data.max_length == 0) data.max_length = std::max(own->max, asked);
  }
  require(data.max_length == 0 || data.min_length <= data.max_length,
          "{}: data.min_length = {} is above data.max_length = {}", source, data.min_length,
          data.max_length);
  if (!used) return;
  if (const auto row = longest_row(data.task, data.max_length, data.label_at))
    data.sequence_length = *row;
}

void check_train(const TrainConfig& train, std::string_view source) {
  const TrainConfig defaults;
  require(
      train.optimizer == OptimizerKind::kMuon || (train.muon_momentum == defaults.muon_momentum &&
                                                  train.muon_scale == defaults.muon_scale),
      "{}: train.muon_momentum = {} and train.muon_scale = \"{}\" belong to train.optimizer = "
      "\"muon\" and this one is \"{}\"; leave them out or change the optimizer",
      source, train.muon_momentum, word(train.muon_scale), word(train.optimizer));
  require(train.muon_momentum < 1, "{}: train.muon_momentum = {}: must be below 1", source,
          train.muon_momentum);
  require(train.betas[0] < 1 && train.betas[1] < 1,
          "{}: train.betas = [{}, {}]: each must be below 1", source, train.betas[0],
          train.betas[1]);
  require(train.min_learning_rate <= train.learning_rate,
          "{}: train.min_learning_rate = {} is above train.learning_rate = {}; lower it too",
          source, train.min_learning_rate, train.learning_rate);
  require(train.micro_batch == 0 || train.batch % train.micro_batch == 0,
          "{}: train.micro_batch = {} does not divide train.batch = {}", source, train.micro_batch,
          train.batch);
  require(train.schedule != ScheduleKind::kWsd || train.decay_steps <= train.steps,
          "{}: train.decay_steps = {} is more than train.steps = {}", source, train.decay_steps,
          train.steps);
}

}  // namespace

void resolve(Config& config, std::string_view source) {
  resolve_model(config.model, source);
  if (config.model.kind == ModelKind::kRlt) {
    // Every formula that counts loops holds for an RLT with one loop.
    config.loops = LoopsConfig{.forward = 1, .backward = 1};
    check_feedback(config, source);
    require(!config.data.document_mask,
            "{}: data.document_mask = true: the register and the window of an RLT carry from one "
            "document to the next; set it false",
            source);
  }
  // A cap on draws; loops that are not drawn need none.
  auto& loops = config.loops;
  if (is_drawn(loops.sampler) && loops.max == 0) loops.max = 4 * loops.forward;
  require(loops.max == 0 || loops.max >= loops.forward,
          "{}: loops.max = {} is below loops.forward = {}", source, loops.max, loops.forward);
  check_loops(loops, source);
  config.model.trained_loops = loops.forward;
  if (config.model.kind == ModelKind::kLooped) check_conditioning(config, source);
  check_data(config.data, source);
  resolve_task(config.data, source);
  check_train(config.train, source);
  const auto groups = config.data.length_groups;
  require(
      groups <= config.train.batch && config.train.micro_batch * groups <= config.train.batch,
      "{}: data.length_groups = {} and train.micro_batch = {} do not fit into train.batch = {}; "
      "expected micro-batches of at most batch / length_groups",
      source, groups, config.train.micro_batch, config.train.batch);
}

std::vector<std::string> notes(const Config& config) {
  std::vector<std::string> lines;
  const auto& train = config.train;
  if (train.warmup_steps >= train.steps)
    lines.push_back(fmt::format(
        "train.warmup_steps = {} covers all {} steps: the peak learning rate is never passed",
        train.warmup_steps, train.steps));
  if (train.schedule == ScheduleKind::kWsd && train.decay_steps == 0)
    lines.push_back("train.schedule = \"wsd\" with train.decay_steps = 0: the rate never decays");
  const auto interval = config.model.feedback_interval, length = config.data.sequence_length;
  if (config.model.kind == ModelKind::kRlt && interval > length)
    lines.push_back(fmt::format(
        "model.feedback_interval = {} is more than data.sequence_length = {}: nothing is fed back",
        interval, length));
  const auto& loops = config.loops;
  const auto most = is_drawn(loops.sampler) ? loops.max : loops.forward;
  const bool truncated = loops.backward != 0 && loops.backward < most;
  if (truncated && config.model.injection == Injection::kNone)
    lines.push_back(fmt::format(
        "loops.backward = {} with model.injection = \"none\": in steps that run more loops, the "
        "embedding and the prelude get no gradient",
        config.loops.backward));
  if (train.loop_loss != LoopLoss::kLast && (loops.backward == 1 || most == 1))
    lines.push_back(fmt::format(
        "train.loop_loss = \"{}\" and one back-propagated loop: the last loop alone is read out",
        word(train.loop_loss)));
  if (loops.sampler == Sampler::kSchedule && loops.schedule_steps >= train.steps)
    lines.push_back(fmt::format(
        "loops.schedule_steps = {} covers all {} steps: {} loops are reached at the end, if at all",
        loops.schedule_steps, train.steps, loops.forward));
  // The last loop, number T − 1, looks back at most T − 2 states.
  const auto window = config.model.history_window, last_lag = std::max<std::int64_t>(most - 2, 0);
  if (window > last_lag)
    lines.push_back(
        fmt::format("model.history_window = {} and {} loops: a lag of more than {} never occurs in "
                    "training, so "
                    "what belongs to it keeps its initial value",
                    window, most, last_lag));
  return lines;
}

}  // namespace rondo
