// The table of names.
#include "record/field_names.h"

#include <array>

namespace rondo {
namespace {

constexpr std::array kNames = std::to_array<FieldName>({
    {"step", "step", "", "Optimiser steps done."},
    {"steps", "steps", "", "Optimiser steps done in all."},
    {"tokens", "training tokens", "", "Tokens trained on since the start of the run."},
    {"flops", "training FLOPs", "",
     "Floating-point operations of the weights' matrix products so far; loops as drawn."},
    {"seconds", "training time", "s", "Sum of the step times, validations left out."},
    {"loops", "loops", "", "Loops run forward, T."},
    {"backward_loops", "back-propagated loops", "", "Last loops that are back-propagated, B."},
    {"train_loss_nats", "training loss", "nats/token", "Loss on the batch of the step."},
    {"validation_loss_nats", "validation loss", "nats/token", "Loss on held-out data."},
    {"bits_per_byte", "bits per byte", "",
     "Validation loss per byte of text: the one that tokenizers do not change."},
    {"accuracy", "accuracy", "", "Share of right answers on held-out samples."},
    {"learning_rate", "learning rate", "", "Learning rate of the step."},
    {"gradient_norm", "gradient norm", "", "Global gradient norm before clipping."},
    {"step_time_s", "step time", "s", "Wall time of the step."},
    {"state_norms", "state norm", "", "Root mean square of the state after each loop."},
    {"tokens_per_s", "tokens per second", "1/s", "Training throughput."},
    {"wall_s", "wall time", "s", "Time from start to end, everything included."},
    {"peak_bytes", "peak memory", "bytes", "Largest resident memory of the process."},
    {"parameters", "parameters", "", "Numbers the model learns, embeddings included."},
    {"n_once", "parameters used once", "", "Parameters outside the loop, without embeddings."},
    {"n_rec", "recurrent parameters", "", "Parameters inside the loop."},
    {"flops_per_token_train", "training FLOPs per token", "",
     "Forward and backward, with attention and head."},
    {"flops_per_token_forward", "forward FLOPs per token", "",
     "One forward pass at the trained number of loops, with attention and head."},
    {"physical_depth", "physical depth", "layers", "Layers that there are: p + s + c."},
    {"loop_losses_nats", "loss of loops", "nats/token",
     "Training loss of every loop that has one, the last one last."},
    {"effective_depth", "effective depth", "layers", "Layers a token passes: p + s T + c."},
    {"seed", "seed", "", "Seed of the initialisation."},
    {"state", "state", "", "running, finished, interrupted, diverged, failed or dead."},
    {"stop_reason", "stop reason", "", "Why the run ended."},
});

}  // namespace

std::string FieldName::label() const {
  std::string text(title);
  if (!unit.empty()) text.append(" (").append(unit).append(")");
  return text;
}

std::span<const FieldName> field_names() { return kNames; }

FieldName field_name(std::string_view key) {
  for (const auto& name : kNames)
    if (name.key == key) return name;
  return {key, key, "", ""};
}

}  // namespace rondo
