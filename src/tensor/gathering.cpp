// The autograd node that adds up.
#include "tensor/gathering.h"

namespace rondo {
namespace {

/// The node behind gathering_part().
class GatheringPart : public torch::autograd::Function<GatheringPart> {
 public:
  static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& x,
                        const Tensor& gradient, std::int64_t dimension, std::int64_t count) {
    context->saved_data["gradient"] = gradient.narrow(dimension, 0, count);
    return x.narrow(dimension, 0, count);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list output_gradient) {
    context->saved_data["gradient"].toTensor().add_(output_gradient[0]);
    return torch::autograd::variable_list(4);
  }
};

}  // namespace

Tensor gathering_part(const Tensor& x, std::int64_t dimension, std::int64_t count,
                      const Tensor& gradient) {
  return GatheringPart::apply(x, gradient, dimension, count);
}

}  // namespace rondo
