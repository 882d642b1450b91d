// The injections.
#include "model/injection.h"

#include "tensor/ops.h"

namespace rondo {

Inject make_inject(const ModelConfig& config) {
  const auto width = config.d_model;
  const auto factor = [](std::int64_t size, double start) {
    return Parameter{.role = Role::kInjectScale, .shape = {size}, .value = {}, .start = start};
  };
  Inject inject{.form = config.injection, .weight = {}, .a = {}, .b = {}};
  switch (config.injection) {
    case Injection::kNone:
      break;
    case Injection::kScalar:
      inject.a = factor(1, 0.0);
      break;
    case Injection::kChannel:
      inject.a = factor(width, 1.0);
      inject.b = factor(width, 0.0);
      break;
    case Injection::kResidualChannel:
      inject.a = factor(width, 0.0);
      inject.b = factor(width, 0.0);
      break;
    case Injection::kDense:
      inject.weight =
          Parameter{.role = Role::kInjectMatrix, .shape = {width, 2 * width}, .value = {}};
      break;
  }
  return inject;
}

void InjectContext::append_to(std::vector<Tensor>& list) const {
  for (const auto& tensor : {on_state, from_e})
    if (tensor.defined()) list.push_back(tensor);
}

InjectContext InjectContext::rebuilt(const std::vector<Tensor>& list, std::size_t& next) const {
  InjectContext context = *this;
  for (Tensor* tensor : {&context.on_state, &context.from_e})
    if (tensor->defined()) *tensor = list[next++];
  return context;
}

InjectContext prepare(const Inject& inject, const Tensor& e_BTD) {
  switch (inject.form) {
    case Injection::kNone:
      return {};
    case Injection::kScalar:
      return {inject.form, {}, inject.a->value * e_BTD};
    case Injection::kChannel:
      return {inject.form, inject.a->value, inject.b->value * e_BTD};
    case Injection::kResidualChannel:
      return {inject.form, 1.0 + inject.a->value, inject.b->value * e_BTD};
    case Injection::kDense: {
      const auto halves = inject.weight->value.chunk(2, 1);
      return {inject.form, halves[0], project(e_BTD, halves[1])};
    }
  }
  return {};
}

Tensor apply(const InjectContext& context, const Tensor& h_BTD) {
  if (!context.from_e.defined()) return h_BTD;
  if (!context.on_state.defined()) return h_BTD + context.from_e;
  if (context.form == Injection::kDense) return context.from_e + project(h_BTD, context.on_state);
  return at::addcmul(context.from_e, context.on_state, h_BTD);
}

}  // namespace rondo
