// The section [train] of a recipe.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "config/enums.h"
#include "config/range.h"

namespace rondo {

/// The optimisation.
struct TrainConfig {
  std::int64_t steps = 1000;
  std::int64_t batch = 16;
  std::int64_t micro_batch = 0;
  OptimizerKind optimizer = OptimizerKind::kAdamw;
  double muon_momentum = 0.95;
  MuonScale muon_scale = MuonScale::kRms;
  double learning_rate = 1e-3;
  double min_learning_rate = 1e-4;
  double matrix_lr_scale = 1.0;
  ScheduleKind schedule = ScheduleKind::kCosine;
  std::int64_t warmup_steps = 100;
  std::int64_t decay_steps = 0;
  LoopLoss loop_loss = LoopLoss::kLast;
  std::int64_t bptt_tokens = 0;
  std::vector<BpttPart> bptt_detach = {BpttPart::kState, BpttPart::kKv};
  std::vector<std::int64_t> feedback_schedule;
  double weight_decay = 0.1;
  std::array<double, 2> betas = {0.9, 0.95};
  double eps = 1e-8;
  double clip = 1.0;
  Precision precision = Precision::kAuto;
  DeviceKind device = DeviceKind::kCpu;
  std::int64_t validate_every = 100;
  std::int64_t checkpoint_every = 500;
  std::int64_t keep = 2;
  bool keep_best = true;
  std::int64_t stop_after = 0;

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("steps", self.steps, kPositive, "optimiser steps");
    visit("batch", self.batch, kPositive, "sequences per step");
    visit(
        "micro_batch", self.micro_batch, kNotNegative,
        "sequences per forward pass; 0 = the quickest that fits, at most 8192 tokens (rlt: or 256 "
        "rows)");
    visit("optimizer", self.optimizer,
          "update rule; muon: of attention and feed-forward matrices, AdamW of all else");
    visit("muon_momentum", self.muon_momentum, Range{0, 1}, "muon: averaging factor");
    visit("muon_scale", self.muon_scale,
          "muon: size of an update; rms: that of AdamW's, spectral: that of a unit step");
    visit("learning_rate", self.learning_rate, kNotNegative, "peak learning rate");
    visit("min_learning_rate", self.min_learning_rate, kNotNegative, "learning rate at the end");
    visit("matrix_lr_scale", self.matrix_lr_scale, kNotNegative,
          "factor on the learning rate of hidden matrices");
    visit("schedule", self.schedule, "course of the learning rate after the warm-up");
    visit("warmup_steps", self.warmup_steps, kNotNegative, "steps of linear warm-up");
    visit("decay_steps", self.decay_steps, kNotNegative, "wsd: steps of the final linear decay");
    visit("loop_loss", self.loop_loss,
          "loss of which loops: the last, the mean or, weighted by their number, all that are "
          "back-propagated");
    visit("bptt_tokens", self.bptt_tokens, kNotNegative,
          "rlt: tokens after which back-propagation through time is cut; 0 = never");
    visit("bptt_detach", self.bptt_detach,
          "rlt: what is cut there: the state, the decoder's keys and values, the memory");
    visit("feedback_schedule", self.feedback_schedule, kPositive,
          "rlt: feedback intervals of equal parts of the steps, larger to smaller; [] = one");
    visit("weight_decay", self.weight_decay, kNotNegative,
          "decoupled decay of matrices, embedding, head");
    visit("betas", self.betas, Range{0, 1}, "AdamW's averaging factors");
    visit("eps", self.eps, kNotNegative, "AdamW's epsilon");
    visit("clip", self.clip, kNotNegative, "cap on the global gradient norm; 0 = none");
    visit("precision", self.precision, "of the factors of products; auto: bf16 where there is AMX");
    visit("device", self.device, "where tensors live");
    visit("validate_every", self.validate_every, kNotNegative,
          "steps between validations; 0 = only at the end");
    visit("checkpoint_every", self.checkpoint_every, kNotNegative,
          "steps between checkpoints; 0 = only at the end");
    visit("keep", self.keep, kPositive, "checkpoints kept, the last ones");
    visit("keep_best", self.keep_best, "also keep the checkpoint of lowest validation loss");
    visit("stop_after", self.stop_after, kNotNegative,
          "save and stop after this many steps in all; 0 = go on to steps");
  }
};

}  // namespace rondo
