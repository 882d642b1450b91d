// Widths between which a recipe can be scaled, and the one that fits a plan best.
#include "plan/scaled_recipe.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>

#include "base/error.h"
#include "config/recipe.h"
#include "cost/flops.h"
#include "cost/memory.h"
#include "cost/parameters.h"

namespace rondo {
namespace {

constexpr std::int64_t kMostHeads = 65536;
constexpr std::int64_t kHeadStep = 8;
// How much closer in size another head width must bring a recipe, as ln of the size a ln of the
// head width: the recipe's own head width is kept where that costs about a percent.
constexpr double kHeadPrice = 0.1;

std::int64_t heads_per_kv(const ModelConfig& model) { return model.heads / model.kv_heads; }

std::int64_t scaled(std::int64_t length, double factor) {
  return std::max<std::int64_t>(1, std::llround(static_cast<double>(length) * factor));
}

double size_of(const Config& recipe) {
  const auto counts = count_parameters(recipe.model, vocabulary_size(recipe));
  return static_cast<double>(counts.non_embedding());
}

/// Sizes and bytes of a recipe at whole numbers of groups of heads.
class WidthTable {
 public:
  WidthTable(Config recipe, double memory) : recipe_(std::move(recipe)), memory_(memory) {}

  double largest_size(std::int64_t forward, std::int64_t backward) {
    std::int64_t fits = 0, above = 1;
    while (above <= kMostHeads && bytes(above, forward, backward) <= memory_) {
      fits = above;
      above *= 2;
    }
    while (above - fits > 1) {
      const std::int64_t middle = fits + (above - fits) / 2;
      (bytes(middle, forward, backward) <= memory_ ? fits : above) = middle;
    }
    const double low = bytes(fits, forward, backward), high = bytes(above, forward, backward);
    if (low > memory_) return 0;
    return size(fits) + (size(above) - size(fits)) * (memory_ - low) / (high - low);
  }

 private:
  struct Width {
    Config recipe;
    double parameters;
  };

  const Width& width(std::int64_t groups) {
    const auto place = widths_.find(groups);
    if (place != widths_.end()) return place->second;
    const auto& model = recipe_.model;
    auto config = scale_width(recipe_, groups * heads_per_kv(model), model.head_dim);
    const double parameters = size_of(config);
    return widths_.emplace(groups, Width{std::move(config), parameters}).first->second;
  }

  double size(std::int64_t groups) { return groups == 0 ? 0 : width(groups).parameters; }

  double bytes(std::int64_t groups, std::int64_t forward, std::int64_t backward) {
    // Bytes are a parabola in the width, up to rounding: continued to no width at all, three points
    // of it give what does not shrink with the width, such as the logits.
    if (groups == 0)
      return std::max(0.0, 3 * bytes(1, forward, backward) - 3 * bytes(2, forward, backward) +
                               bytes(3, forward, backward));
    const auto& entry = width(groups);
    return training_bytes(set_loops(entry.recipe, forward, backward));
  }

  Config recipe_;
  double memory_;
  std::map<std::int64_t, Width> widths_;
};

}  // namespace

Config scale_width(const Config& recipe, std::int64_t heads, std::int64_t head_dim) {
  Config config = recipe;
  auto& model = config.model;
  const double factor = static_cast<double>(heads * head_dim) /
                        static_cast<double>(recipe.model.heads * recipe.model.head_dim);
  const bool default_ff = model.d_ff == (8 * model.d_model + 1) / 3;
  model.d_model = scaled(recipe.model.d_model, factor);
  model.d_ff = default_ff ? (8 * model.d_model + 1) / 3 : scaled(recipe.model.d_ff, factor);
  model.kv_heads = heads / heads_per_kv(recipe.model);
  model.heads = heads;
  model.head_dim = head_dim;
  return config;
}

Config set_loops(Config recipe, std::int64_t forward, std::int64_t backward) {
  auto& loops = recipe.loops;
  if (loops.max > 0) {
    const double ratio = static_cast<double>(loops.max) / static_cast<double>(loops.forward);
    loops.max = std::max(forward, scaled(forward, ratio));
  }
  loops.forward = forward;
  loops.backward = backward;
  loops.start = std::min(loops.start, forward);
  return recipe;
}

double training_bytes(const Config& recipe) {
  const std::int64_t batch =
      recipe.train.micro_batch > 0 ? recipe.train.micro_batch : recipe.train.batch;
  return memory_bytes(recipe, vocabulary_size(recipe), {.micro_batch = batch}).total();
}

SizeLimit recipe_memory_limit(const Config& recipe, double memory) {
  struct Cache {
    WidthTable table;
    std::map<std::pair<std::int64_t, std::int64_t>, double> sizes;
  };
  const auto cache = std::make_shared<Cache>(Cache{WidthTable(recipe, memory), {}});
  // Where T is not drawn it does not matter to memory.
  const bool fixed = recipe.loops.sampler == Sampler::kFixed;
  const auto at = [cache, fixed](double forward, double backward) {
    const auto b = static_cast<std::int64_t>(backward);
    const auto t = fixed ? b : static_cast<std::int64_t>(forward);
    const auto place = cache->sizes.find({t, b});
    if (place != cache->sizes.end()) return place->second;
    return cache->sizes[{t, b}] = cache->table.largest_size(t, b);
  };
  return [at](LoopCount loops) {
    const double t = std::ceil(loops.forward), b = std::floor(loops.backward);
    const double low = at(t, b), part = loops.backward - b;
    return part == 0 ? low : low + part * (at(t, b + 1) - low);
  };
}

namespace {

/// The width whose size is closest to `target` among those that `allowed` accepts.
std::optional<Config> closest_width(const Config& recipe, double target,
                                    const std::function<bool(const Config&)>& allowed) {
  const auto& model = recipe.model;
  const std::int64_t group = heads_per_kv(model), own = model.head_dim;
  std::vector<std::int64_t> head_dims = {own};
  for (std::int64_t k = kHeadStep; 4 * k <= 5 * own; k += kHeadStep)
    if (4 * k >= 3 * own && k != own) head_dims.push_back(k);
  std::optional<Config> best;
  double least = HUGE_VAL;
  const double scale = std::sqrt(target / size_of(recipe));
  for (const std::int64_t head_dim : head_dims) {
    const double exact =
        static_cast<double>(model.heads * own) * scale / static_cast<double>(head_dim * group);
    require(exact < static_cast<double>(kMostHeads),
            "the recipe would need {:.3g} heads to have {:.3g} parameters; give it more layers",
            exact * static_cast<double>(group), target);
    // Sizes are not quite squares of widths: look a little around.
    const auto middle = static_cast<std::int64_t>(exact);
    for (std::int64_t groups = std::max<std::int64_t>(1, middle - 2); groups <= middle + 2;
         ++groups) {
      auto config = scale_width(recipe, groups * group, head_dim);
      const double distance =
          std::abs(std::log(size_of(config) / target)) +
          kHeadPrice * std::abs(std::log(static_cast<double>(head_dim) / static_cast<double>(own)));
      if (distance >= least || !allowed(config)) continue;
      least = distance;
      best = std::move(config);
    }
  }
  return best;
}

std::vector<std::string> recipe_notes(const Config& recipe, const PlannedRecipe& planned) {
  auto lines = notes(planned.config);
  if (planned.config.model.d_model != recipe.model.d_model)
    lines.push_back(fmt::format(
        "the learning rate {:g} was left as it is; the width went from {} to {}",
        recipe.train.learning_rate, recipe.model.d_model, planned.config.model.d_model));
  if (planned.config.loops.forward == 1 && planned.config.model.injection != Injection::kNone)
    lines.push_back(
        "T = 1: with model.injection = \"none\" and model.loop_norm = false it is a plain "
        "transformer");
  if (recipe.loops.sampler == Sampler::kSchedule)
    lines.push_back(
        fmt::format("loops rise from {} to T = {} over {} steps; the plan takes T from "
                    "the first step on",
                    planned.config.loops.start, planned.config.loops.forward,
                    planned.config.loops.schedule_steps));
  if (is_drawn(recipe.loops.sampler))
    lines.push_back(fmt::format("loops are drawn ({}); T = {} is their mean",
                                word(recipe.loops.sampler), planned.config.loops.forward));
  return lines;
}

}  // namespace

PlannedRecipe plan_recipe(const Config& recipe, const Setting& setting, const Limits& limits) {
  const auto forward = std::llround(setting.loops.forward);
  const auto backward = std::llround(setting.loops.backward);
  const auto allowed = [&](const Config& config) {
    return (!limits.parameters_max || size_of(config) <= *limits.parameters_max) &&
           (!limits.memory_max ||
            training_bytes(set_loops(config, forward, backward)) <= *limits.memory_max);
  };
  const auto width = closest_width(recipe, setting.n_total, allowed);
  if (!width)
    fail_work(
        "no width of the recipe near {:.4g} parameters keeps --parameters-max and "
        "--memory-max",
        setting.n_total);
  PlannedRecipe planned{.config = set_loops(*width, forward, backward)};
  auto& config = planned.config;
  const double step_tokens =
      static_cast<double>(config.train.batch) * static_cast<double>(config.data.sequence_length);
  const double steps = std::max(1.0, std::ceil(setting.tokens / step_tokens * (1 - 1e-12)));
  require(steps <= kPositive.high, "the recipe would need {:.3g} steps; give it a larger batch",
          steps);
  config.train.steps = static_cast<std::int64_t>(steps);
  resolve(config, "the planned recipe");
  const auto counts = count_parameters(config.model, vocabulary_size(config));
  planned.parameters = static_cast<double>(counts.non_embedding());
  planned.recurrent_share = static_cast<double>(counts.recurrent) / planned.parameters;
  planned.tokens = steps * step_tokens;
  planned.flops = expected_flops_per_token(config).train_matmul * planned.tokens;
  planned.bytes = training_bytes(config);
  planned.notes = recipe_notes(recipe, planned);
  return planned;
}

}  // namespace rondo
