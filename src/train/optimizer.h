// The update rules over the parameters of a model: AdamW, and Muon where a recipe asks for it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "config/config.h"
#include "nn/parameter.h"
#include "tensor/ops.h"
#include "tensor/safetensors.h"

namespace rondo {

/// Which parameters the weight decay pulls to zero: matrices, embedding and head. Gains,
/// biases, first states and the factors of injections are left alone; their natural value is not
/// zero.
bool is_decayed(Role role);

/// Whether train.matrix_lr_scale applies: hidden matrices, not embedding and head.
bool is_hidden_matrix(Role role);

/// Whether train.optimizer = "muon" moves it by Muon: the matrices of attention and feed-forward.
/// Dense injections and histories start at the identity or zero and the merge of an RLT is a gate;
/// they stay with AdamW, as do embedding, head and all that is no matrix.
bool suits_muon(Role role);

/// AdamW (Loshchilov & Hutter, 2019) with bias correction and decoupled decay: p loses lr · decay ·
/// p, then moves by lr · m̂ / (√v̂ + eps). Moments are fp32, one pass over memory per parameter.
/// With train.optimizer = "muon" the matrices that suit it follow muon_step() instead.
class Optimizer {
 public:
  /// `parameters` in a fixed order with their full names; all have values.
  Optimizer(std::vector<std::pair<std::string, Parameter*>> parameters, const TrainConfig& train,
            Form form = Form::kFused);

  /// Scales gradients so that their global norm is at most train.clip (0 = no cap); returns the
  /// norm before that, which may be non-finite.
  double clip_gradients();

  /// One step. `step` counts from 1. Parameters that got no gradient are treated as having a zero
  /// one.
  void step(double learning_rate, std::int64_t step);

  void clear_gradients();

  /// Moments by name: `m.<parameter>` and, of AdamW, `v.<parameter>`.
  [[nodiscard]] TensorFile state() const;
  /// Throws input errors for missing or differently shaped moments; `source` names the file.
  void load_state(const TensorFile& file, const std::string& source);

 private:
  struct Slot {
    std::string name;
    Parameter* parameter;
    bool muon;
    Tensor m, v;  ///< v undefined under Muon
  };
  void step_adamw(double learning_rate, std::int64_t step);
  void step_muon(double learning_rate);

  std::vector<Slot> slots_;
  TrainConfig train_;
  Form form_;
};

/// All parameters of a part with their names.
template <typename Part>
std::vector<std::pair<std::string, Parameter*>> named_parameters(Part& part) {
  std::vector<std::pair<std::string, Parameter*>> list;
  visit_parameters(part, [&](const std::string& name, Parameter& parameter) {
    list.emplace_back(name, &parameter);
  });
  return list;
}

}  // namespace rondo
