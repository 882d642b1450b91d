// The node of the graph behind summed_by_parts().
#include "tensor/by_parts.h"

#include <algorithm>

#include "tensor/torch.h"

namespace rondo {
namespace {

using Variables = torch::autograd::variable_list;

class SummedByParts : public torch::autograd::Function<SummedByParts> {
 public:
  static Tensor forward(torch::autograd::AutogradContext* context, const PartSum& sum,
                        std::int64_t rows, bool learns, const Tensor& x, at::TensorList shared_in) {
    const auto count = x.size(0), parts = (count + rows - 1) / rows;
    const auto each = (count + parts - 1) / parts;
    std::vector<Tensor> shared;
    for (const auto& tensor : shared_in)
      shared.push_back(tensor.detach().requires_grad_(learns && tensor.requires_grad()));
    Variables found(1 + shared.size());
    if (learns && x.requires_grad()) found[0] = at::empty(x.sizes(), x.options());
    double total = 0;
    for (std::int64_t first = 0; first < count; first += each) {
      const auto part = x.detach().narrow(0, first, std::min(each, count - first));
      total += learns ? descend(sum, part, first, shared, found)
                      : sum(part, first, shared).item<double>();
    }
    context->save_for_backward(found);
    return at::scalar_tensor(total, x.options());
  }

  static Variables backward(torch::autograd::AutogradContext* context, Variables slopes) {
    Variables result(3);  // of the function, the rows and the switch
    for (const auto& gradient : context->get_saved_variables())
      result.push_back(passed_on(gradient, slopes[0]));
    return result;
  }

 private:
  /// The sum of one part; its gradients go to their place in `found`.
  static double descend(const PartSum& sum, const Tensor& part_in, std::int64_t first,
                        const std::vector<Tensor>& shared, Variables& found) {
    const at::AutoGradMode enable(true);
    const auto part = part_in.detach().requires_grad_(found[0].defined());
    std::vector<Tensor> wanted;
    if (found[0].defined()) wanted.push_back(part);
    for (const auto& tensor : shared)
      if (tensor.requires_grad()) wanted.push_back(tensor);
    const auto value = sum(part, first, shared);
    const auto slopes = gradients({value}, wanted);
    std::size_t next = 0;
    if (found[0].defined()) found[0].narrow(0, first, part.size(0)).copy_(slopes[next++]);
    for (std::size_t i = 0; i < shared.size(); ++i) {
      if (!shared[i].requires_grad()) continue;
      const auto& slope = slopes[next++];
      auto& place = found[1 + i];
      if (slope.defined()) place = place.defined() ? place.add_(slope) : slope;
    }
    return value.item<double>();
  }
};

}  // namespace

Tensor summed_by_parts(const PartSum& sum, const Tensor& x, const std::vector<Tensor>& shared,
                       std::int64_t rows) {
  const auto wants = [](const Tensor& tensor) { return tensor.requires_grad(); };
  const bool learns =
      at::GradMode::is_enabled() && (wants(x) || std::any_of(shared.begin(), shared.end(), wants));
  return SummedByParts::apply(sum, rows, learns, x, at::TensorList(shared));
}

}  // namespace rondo
