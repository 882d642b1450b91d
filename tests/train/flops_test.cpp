// The FLOPs that the cost model counts against the matrix products that a training step really
// runs.
#include "cost/flops.h"

#include <ATen/record_function.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/model/support.h"

namespace rondo {
namespace {

using namespace testing_models;

double counted = 0;

/// Adds 2 m k n of every two-dimensional product; attention's batched ones are not matrices of the
/// model and are left out.
std::unique_ptr<at::ObserverContext> count_products(const at::RecordFunction& call) {
  const std::string name = call.name();
  const auto inputs = call.inputs();
  const std::size_t first = name == "aten::addmm" ? 1 : 0;
  if ((name == "aten::mm" || name == "aten::addmm") && inputs[first].isTensor()) {
    const auto a = inputs[first].toTensor().sizes(), b = inputs[first + 1].toTensor().sizes();
    counted +=
        2.0 * static_cast<double>(a[0]) * static_cast<double>(a[1]) * static_cast<double>(b[1]);
  }
  return nullptr;
}

TEST(Flops, EqualTheProductsOfARealStep) {
  // A feed-forward width that needs no padding; a channel injection, as a dense one is cheaper than
  // counted: its input half is computed once for all loops.
  for (const auto& [forward, backward] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{1, 1}, {3, 3}, {5, 2}, {4, 1}}) {
    SCOPED_TRACE(fmt::format("({}, {})", forward, backward));
    const auto config = tiny_config(
        {"model.injection=channel", "model.d_ff=32", "data.sequence_length=7",
         fmt::format("loops.forward={}", forward), fmt::format("loops.backward={}", backward)});
    auto model = tiny_model(config.model, at::kFloat);
    const auto input = tiny_input();
    counted = 0;
    const auto handle = at::addGlobalCallback(at::RecordFunctionCallback(count_products)
                                                  .needsInputs(true)
                                                  .scopes({at::RecordScope::FUNCTION}));
    back_propagate(loss_of(model, input, {.loops = forward, .backward = backward}));
    at::removeCallback(handle);
    const auto flops = flops_per_token(
        config.model, 17, 7, {static_cast<double>(forward), static_cast<double>(backward)});
    const double tokens = static_cast<double>(input.tokens_BT.numel());
    EXPECT_DOUBLE_EQ(counted, (flops.train_matmul + flops.train_head) * tokens);
  }
}

}  // namespace
}  // namespace rondo
