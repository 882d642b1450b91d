// Shape checks, gradients and process-wide settings of the tensor library.
#include "tensor/tensor.h"

#include <fmt/format.h>
#include <malloc.h>
#include <torch/headeronly/version.h>

#include <algorithm>
#include <stdexcept>

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

void back_propagate(const Tensor& loss) { torch::autograd::backward({loss}, {}); }

void back_propagate(const std::vector<Tensor>& outputs, const std::vector<Tensor>& gradients) {
  std::vector<Tensor> reached, slopes;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!gradients[i].defined()) continue;
    reached.push_back(outputs[i]);
    slopes.push_back(gradients[i]);
  }
  if (!reached.empty()) torch::autograd::backward(reached, slopes);
}

std::vector<Tensor> gradients(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                              const std::vector<Tensor>& output_gradients) {
  return torch::autograd::grad(outputs, inputs, output_gradients, /*retain_graph=*/std::nullopt,
                               /*create_graph=*/false, /*allow_unused=*/true);
}

void set_threads(int threads) { at::set_num_threads(threads); }

void keep_freed_memory() {
  ::mallopt(M_MMAP_MAX, 0);
  ::mallopt(M_TRIM_THRESHOLD, -1);
  ::mallopt(M_TOP_PAD, 64 << 20);
}

std::string library_message(const std::exception& error) {
  const auto* library = dynamic_cast<const c10::Error*>(&error);
  std::string text = library != nullptr ? library->what_without_backtrace() : error.what();
  return text.substr(0, text.find('\n'));
}

std::string_view libtorch_version() { return TORCH_VERSION; }

}  // namespace rondo
