// Shape checks, gradients and process-wide settings of the tensor library.
#include "tensor/tensor.h"

#include <fmt/format.h>
#include <torch/headeronly/version.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace rondo {

void expect_shape(const Tensor& tensor, std::initializer_list<std::int64_t> shape,
                  std::string_view name) {
  const auto sizes = tensor.sizes();
  const bool fits = sizes.size() == shape.size() &&
                    std::equal(shape.begin(), shape.end(), sizes.begin(),
                               [](auto wanted, auto got) { return wanted == -1 || wanted == got; });
  if (fits) return;
  std::string wanted, got;
  for (const auto n : shape) wanted += fmt::format(" {}", n);
  for (const auto n : sizes) got += fmt::format(" {}", n);
  throw std::logic_error(fmt::format("{}: shape is [{} ], expected [{} ]", name, got, wanted));
}

Tensor token_tensor(std::span<const std::int32_t> ids, std::int64_t rows) {
  const auto count = static_cast<std::int64_t>(ids.size());
  auto tensor = at::empty({rows, count / rows}, at::kLong);
  std::copy(ids.begin(), ids.end(), tensor.data_ptr<std::int64_t>());
  return tensor;
}

namespace {

thread_local bool spent = false;

/// The graph walked back while this lives is given up by the walk. Walks may be nested.
class SpentGraph {
 public:
  SpentGraph() : before_(std::exchange(spent, true)) {}
  ~SpentGraph() { spent = before_; }
  SpentGraph(const SpentGraph&) = delete;
  SpentGraph& operator=(const SpentGraph&) = delete;

 private:
  bool before_;
};

}  // namespace

bool graph_is_spent() { return spent; }

Tensor passed_on(const Tensor& gradient, const Tensor& slope) {
  if (!gradient.defined() || slope.item<double>() == 1.0) return gradient;
  return graph_is_spent() ? gradient.mul_(slope) : gradient * slope;
}

void back_propagate(const Tensor& loss) {
  const SpentGraph graph;
  torch::autograd::backward({loss}, {});
}

void back_propagate(const std::vector<Tensor>& outputs, const std::vector<Tensor>& gradients) {
  std::vector<Tensor> reached, slopes;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!gradients[i].defined()) continue;
    reached.push_back(outputs[i]);
    slopes.push_back(gradients[i]);
  }
  const SpentGraph graph;
  if (!reached.empty()) torch::autograd::backward(reached, slopes);
}

std::vector<Tensor> gradients(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                              const std::vector<Tensor>& output_gradients) {
  const SpentGraph graph;
  return torch::autograd::grad(outputs, inputs, output_gradients, /*retain_graph=*/std::nullopt,
                               /*create_graph=*/false, /*allow_unused=*/true);
}

void set_threads(int threads) { at::set_num_threads(threads); }

std::string library_message(const std::exception& error) {
  const auto* library = dynamic_cast<const c10::Error*>(&error);
  std::string text = library != nullptr ? library->what_without_backtrace() : error.what();
  return text.substr(0, text.find('\n'));
}

std::string_view libtorch_version() { return TORCH_VERSION; }

}  // namespace rondo
