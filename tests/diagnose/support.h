// The golden files of the probes, as models and sequences.
#pragma once

#include <gtest/gtest.h>

#include "config/recipe.h"
#include "diagnose/sequences.h"
#include "model/weights.h"

namespace rondo::golden_probes {

/// One file.
struct Case {
  std::string name;
  Config config;
  TensorFile file;
  LoopedLm model;
  std::int64_t loops = 0;
  ProbeSequences sequences;

  [[nodiscard]] bool has(const std::string& tensor) const { return file.tensors.contains(tensor); }
};

inline Case load(const std::string& name, at::ScalarType type, Form form) {
  const fs::path path = "tests/golden/probes/" + name + ".safetensors";
  // Before the struct: GCC 12 frees the members of `.config = {}` twice when a later one throws.
  auto file = read_safetensors(path);
  Case golden{.name = name,
              .config = {},
              .file = std::move(file),
              .model = {},
              .loops = 0,
              .sequences = {}};
  golden.config = parse_recipe(golden.file.metadata.at("rondo.config"), path.string());
  golden.loops = std::stoll(golden.file.metadata.at("loops"));
  golden.model = make_looped_lm(golden.config.model);
  golden.model.form = form;
  visit_parameters(golden.model, [&](const std::string& parameter_name, Parameter& parameter) {
    parameter.value = golden.file.tensors.at("weight." + parameter_name).to(type);
  });
  const auto tokens = golden.file.tensors.at("tokens"), counts = golden.file.tensors.at("counts");
  golden.sequences.count = tokens.size(0);
  golden.sequences.positions = counts.sum().item<std::int64_t>();
  golden.sequences.get = [tokens, counts](std::int64_t n) {
    const auto row = tokens[n];
    ProbeSequence sequence;
    sequence.input.tokens_BT = row.slice(0, 0, -1).unsqueeze(0);
    sequence.targets_S = row.slice(0, 1);
    return cut(std::move(sequence), counts[n].item<std::int64_t>());
  };
  return golden;
}

inline const std::vector<std::string>& cases() {
  static const std::vector<std::string> names = {"base_loop", "sandwich", "conditioned",
                                                 "trained_depth", "silent_block"};
  return names;
}

/// Every number within `tolerance` of the file's relative to itself; what is rounding there (below
/// 1e-7) must be small.
inline void expect_near(const Case& golden, const std::string& name, const std::vector<double>& got,
                        double tolerance) {
  ASSERT_TRUE(golden.has(name)) << golden.name << ": " << name;
  const auto expected = golden.file.tensors.at(name).to(at::kDouble).flatten().contiguous();
  ASSERT_EQ(static_cast<std::int64_t>(got.size()), expected.numel()) << golden.name << ": " << name;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double wanted = expected.data_ptr<double>()[i];
    if (std::abs(wanted) < 1e-7)
      EXPECT_NEAR(got[i], wanted, 1e-7) << golden.name << ": " << name << "[" << i << "]";
    else
      EXPECT_LE(std::abs(got[i] / wanted - 1), tolerance)
          << golden.name << ": " << name << "[" << i << "]: " << got[i] << " for " << wanted;
  }
}

}  // namespace rondo::golden_probes
