// A plan as a recipe: the width of a given recipe scaled to the planned size, its loops and steps
// set. And the memory model of a recipe as a limit on the size.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/config.h"
#include "plan/problem.h"

namespace rondo {

/// The recipe with `heads` heads of `head_dim`, kv_heads in their old ratio to the heads, d_model
/// and d_ff in their old ratio to heads · head_dim. `heads` is a multiple of heads / kv_heads.
Config scale_width(const Config& recipe, std::int64_t heads, std::int64_t head_dim);

/// The recipe with T and B set; where T is drawn it is the mean, and the cap on draws keeps its
/// ratio to it.
Config set_loops(Config recipe, std::int64_t forward, std::int64_t backward);

/// Bytes of training a resolved recipe, as `rondo info` states them: weights, gradients, optimizer
/// and activations of a micro-batch, or of the whole batch where the recipe leaves it open.
double training_bytes(const Config& recipe);

/// The largest n_total (non-embedding parameters) whose training fits into `memory` bytes, as a
/// function of the loops. Widths in steps of whole heads, and straight lines between them.
SizeLimit recipe_memory_limit(const Config& recipe, double memory);

/// A recipe near a setting, and how near.
struct PlannedRecipe {
  Config config;
  double parameters = 0;  ///< non-embedding
  double recurrent_share = 0;
  double tokens = 0;
  double flops = 0;  ///< matrices, at the mean loops
  double bytes = 0;  ///< training_bytes
  std::vector<std::string> notes = {};
};

/// The recipe with the width that brings its non-embedding parameters closest to the setting's
/// n_total, its loops, and as many steps as its tokens fill. Widths that break --memory-max or
/// --parameters-max are passed over. Throws an input error when the recipe cannot be scaled so, an
/// error of the work when no width keeps the limits.
PlannedRecipe plan_recipe(const Config& recipe, const Setting& setting, const Limits& limits);

}  // namespace rondo
