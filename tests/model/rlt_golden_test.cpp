// The recurrent looped transformer against the independent PyTorch implementation whose generator
// and results lie in tests/golden: logits, states, losses, every gradient, whole and truncated; and
// the same reading token by token.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "config/recipe.h"
#include "model/rlt_session.h"
#include "model/rlt_training.h"
#include "tensor/gemm.h"
#include "tensor/safetensors.h"
#include "tests/reference/compare.h"

namespace rondo {
namespace {

using reference::distance;

const fs::path kGoldenRlt = "tests/golden/rlt";

std::vector<fs::path> rlt_cases() {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(kGoldenRlt))
    if (entry.path().extension() == ".safetensors") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

struct RltGolden {
  Config config;
  TensorFile file;
  Rlt model;

  [[nodiscard]] const Tensor& at(const std::string& name) const { return file.tensors.at(name); }
  [[nodiscard]] Tensor inputs() const { return at("tokens").slice(1, 0, -1); }
  [[nodiscard]] Tensor targets() const {
    const auto found = file.tensors.find("targets");
    return found == file.tensors.end() ? at("tokens").slice(1, 1) : found->second;
  }
};

/// The file's config. One case cuts inside chunks, which the core can do and a recipe may not ask
/// for.
Config config_of_file(const std::string& text, const fs::path& path) {
  if (path.stem() != "truncated_chunks") return parse_recipe(text, path.string());
  EXPECT_THROW(parse_recipe(text, path.string()), Error);
  auto config = parse_recipe(text, path.string(), {"train.bptt_tokens=0"});
  config.train.bptt_tokens = 4;
  return config;
}

RltGolden load_rlt(const fs::path& path, at::ScalarType type, Form form) {
  auto file = read_safetensors(path);
  RltGolden golden{.config = {}, .file = std::move(file), .model = {}};
  golden.config = config_of_file(golden.file.metadata.at("rondo.config"), path);
  golden.model = make_rlt(golden.config.model);
  golden.model.form = form;
  std::size_t weights = 0;
  visit_parameters(golden.model, [&](const std::string& name, Parameter& parameter) {
    const auto& stored = golden.at("weight." + name);
    EXPECT_EQ(stored.sizes(), at::IntArrayRef(parameter.shape)) << name;
    parameter.value = stored.to(type).requires_grad_(true);
    ++weights;
  });
  for (const auto& [name, tensor] : golden.file.tensors) weights -= name.starts_with("weight.");
  EXPECT_EQ(weights, 0U) << "weights that the model does not have";
  return golden;
}

/// Weight of each target [B, S]: all alike, or so that the mean over an example's targets is taken
/// before the mean over examples.
Tensor target_weights(const Tensor& targets_BS, bool by_example, at::ScalarType type) {
  const auto counted = targets_BS.ne(-1).to(type);
  if (!by_example) return counted / counted.sum();
  return counted / counted.sum(1, /*keepdim=*/true) / static_cast<double>(targets_BS.size(0));
}

void check_loss(const fs::path& path, at::ScalarType type, Form form, bool by_example,
                double tolerance) {
  auto golden = load_rlt(path, type, form);
  const std::string prefix = by_example ? "example_" : "";
  const auto targets_BS = golden.targets();
  const auto weights_BS = target_weights(targets_BS, by_example, type);
  const RltPass pass(golden.model, golden.inputs());
  const double loss = back_propagate(
      pass, truncation_of(golden.config.train), [&](const Tensor& state, std::int64_t first) {
        const auto count = state.size(1);
        const auto losses = cross_entropy(logits_of(golden.model, state).flatten(0, 1),
                                          targets_BS.narrow(1, first, count).flatten());
        return (losses * weights_BS.narrow(1, first, count).flatten()).sum();
      });
  EXPECT_NEAR(loss, golden.at(prefix + "loss").item<double>(), 2e-6 * loss);
  visit_parameters(golden.model, [&](const std::string& name, Parameter& parameter) {
    const auto& wanted = golden.at(prefix + "grad." + name);
    const auto& gradient = parameter.value.grad();
    const auto got = gradient.defined() ? gradient : at::zeros_like(wanted);
    EXPECT_LE(distance(got, wanted), tolerance) << prefix << "gradient of " << name;
  });
}

void check_rlt(const fs::path& path, at::ScalarType type, Form form, double tolerance) {
  SCOPED_TRACE(path.filename().string());
  {
    const NoGrad guard;
    const auto golden = load_rlt(path, type, form);
    const auto states = RltPass(golden.model, golden.inputs()).run();
    EXPECT_LE(distance(states, golden.at("states")[0]), tolerance) << "states";
    EXPECT_LE(distance(logits_of(golden.model, states), golden.at("logits")), tolerance);
    RltSession session(golden.model);
    std::vector<Tensor> singles;
    for (std::int64_t t = 0; t < golden.inputs().size(1); ++t)
      singles.push_back(session.extend(golden.inputs().narrow(1, t, 1)));
    EXPECT_LE(distance(at::cat(singles, 1), golden.at("states")[0]), tolerance) << "token by token";
  }
  check_loss(path, type, form, false, tolerance);
  if (read_safetensors(path).tensors.contains("targets"))
    check_loss(path, type, form, true, tolerance);
}

TEST(RltGolden, EveryCaseIsThere) { EXPECT_GE(rlt_cases().size(), 34U); }

TEST(RltGolden, ComposedInDoublePrecision) {
  for (const auto& path : rlt_cases()) check_rlt(path, at::kDouble, Form::kComposed, 2e-7);
}

TEST(RltGolden, FusedInSinglePrecision) {
  for (const Gemm gemm : {Gemm::kOneDnn, Gemm::kLibtorch}) {
    use_gemm(gemm);
    for (const auto& path : rlt_cases()) check_rlt(path, at::kFloat, Form::kFused, 1e-5);
  }
}

}  // namespace
}  // namespace rondo
