// AdamW over the library's fused kernel, and who follows Muon.
#include "train/optimizer.h"

#include <cmath>

#include "base/error.h"
#include "tensor/profile.h"
#include "train/muon.h"

namespace rondo {

bool is_decayed(Role role) {
  return is_hidden_matrix(role) || role == Role::kEmbedding || role == Role::kHead;
}

bool is_hidden_matrix(Role role) {
  return suits_muon(role) || role == Role::kMergeMatrix || role == Role::kInjectMatrix ||
         role == Role::kHistoryMatrix;
}

bool suits_muon(Role role) { return role == Role::kMatrix || role == Role::kResidualOutput; }

Optimizer::Optimizer(std::vector<std::pair<std::string, Parameter*>> parameters,
                     const TrainConfig& train, Form form)
    : train_(train), form_(form) {
  for (auto& [name, parameter] : parameters) {
    const bool muon = train.optimizer == OptimizerKind::kMuon && suits_muon(parameter->role);
    slots_.push_back({.name = std::move(name),
                      .parameter = parameter,
                      .muon = muon,
                      .m = at::zeros(parameter->shape),
                      .v = muon ? Tensor() : at::zeros(parameter->shape)});
  }
}

double Optimizer::clip_gradients() {
  const ProfileScope scope(Part::kOptimizer);
  std::vector<Tensor> gradients;
  for (auto& slot : slots_) {
    auto& gradient = slot.parameter->value.mutable_grad();
    if (!gradient.defined()) gradient = at::zeros(slot.parameter->shape);
    gradients.push_back(gradient);
  }
  const NoGrad guard;
  double squares = 0;
  for (const auto& norm : at::_foreach_norm(gradients)) {
    const auto value = norm.item<double>();
    squares += value * value;
  }
  const double total = std::sqrt(squares);
  if (train_.clip > 0 && total > train_.clip) at::_foreach_mul_(gradients, train_.clip / total);
  return total;
}

void Optimizer::step(double learning_rate, std::int64_t step) {
  const ProfileScope scope(Part::kOptimizer);
  const NoGrad guard;
  step_adamw(learning_rate, step);
  step_muon(learning_rate * train_.matrix_lr_scale);
}

void Optimizer::step_muon(double learning_rate) {
  std::vector<MuonMatrix> matrices;
  for (const auto& slot : slots_)
    if (slot.muon)
      matrices.push_back({slot.parameter->value, slot.parameter->value.grad(), slot.m});
  muon_step(matrices, train_, learning_rate, form_);
}

void Optimizer::step_adamw(double learning_rate, std::int64_t step) {
  // One call per kind, since the kernel takes one rate and one decay.
  for (const bool hidden : {false, true}) {
    for (const bool decayed : {false, true}) {
      std::vector<Tensor> values, gradients, m, v, steps;
      for (auto& slot : slots_) {
        const Role role = slot.parameter->role;
        if (slot.muon || is_hidden_matrix(role) != hidden || is_decayed(role) != decayed) continue;
        values.push_back(slot.parameter->value);
        gradients.push_back(slot.parameter->value.grad());
        m.push_back(slot.m);
        v.push_back(slot.v);
        steps.push_back(at::scalar_tensor(static_cast<double>(step), at::kFloat));
      }
      if (values.empty()) continue;
      at::_fused_adamw_(values, gradients, m, v, /*max_exp_avg_sqs=*/{}, steps,
                        learning_rate * (hidden ? train_.matrix_lr_scale : 1.0), train_.betas[0],
                        train_.betas[1], decayed ? train_.weight_decay : 0.0, train_.eps,
                        /*amsgrad=*/false, /*maximize=*/false);
    }
  }
}

void Optimizer::clear_gradients() {
  const ProfileScope scope(Part::kOptimizer);
  for (auto& slot : slots_) slot.parameter->value.mutable_grad().reset();
}

TensorFile Optimizer::state() const {
  TensorFile file;
  for (const auto& slot : slots_) {
    file.tensors["m." + slot.name] = slot.m;
    if (!slot.muon) file.tensors["v." + slot.name] = slot.v;
  }
  return file;
}

void Optimizer::load_state(const TensorFile& file, const std::string& source) {
  const auto take = [&](const std::string& name, Tensor& moment) {
    const auto found = file.tensors.find(name);
    require(found != file.tensors.end(), "{}: tensor {} is missing", source, name);
    require(found->second.sizes() == moment.sizes() && found->second.scalar_type() == at::kFloat,
            "{}: tensor {} has another shape or type than the model's parameter", source, name);
    moment = found->second.clone();
  };
  std::size_t taken = 0;
  for (auto& slot : slots_) {
    take("m." + slot.name, slot.m);
    if (!slot.muon) take("v." + slot.name, slot.v);
    taken += slot.muon ? 1 : 2;
  }
  require(file.tensors.size() == taken,
          "{}: holds {} tensors, expected the {} moments of this model", source,
          file.tensors.size(), taken);
}

}  // namespace rondo
