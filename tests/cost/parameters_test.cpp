// Counts against numbers worked out by hand, published counts, and the tensors of the golden files.
#include "cost/parameters.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "cost/groups.h"
#include "tests/cost/recipes.h"

namespace rondo {
namespace {

using test::recipe;
using test::with;

ParameterCounts counts_of(const Config& config) {
  return count_parameters(config.model, vocabulary_size(config));
}

TEST(Parameters, TheDefaultRecipe) {
  // A layer: 4·256² + 3·256·683 = 786,688 in matrices and 2·256 in norms.
  const auto counts = counts_of(recipe());
  EXPECT_EQ(counts.n_once_matrices, 2 * 786688);
  EXPECT_EQ(counts.n_rec_matrices, 2 * 786688 + 2 * 256 * 256);
  EXPECT_EQ(counts.once, 2 * (786688 + 512) + 256);
  EXPECT_EQ(counts.recurrent, 2 * (786688 + 512) + 2 * 256 * 256 + 256);
  EXPECT_EQ(counts.embedding, 2 * 256 * 256);
  EXPECT_EQ(counts.total, counts.embedding + counts.once + counts.recurrent);
  EXPECT_EQ(counts.non_embedding(), counts.once + counts.recurrent);
}

TEST(Parameters, GroupedQueriesAndWideHeads) {
  // heads · head_dim = 24 and kv_heads · head_dim = 12 differ from d_model = 14.
  const auto counts = counts_of(recipe(R"(
    [model]
    d_model = 14
    heads = 4
    kv_heads = 2
    head_dim = 6
    d_ff = 18
    qk_norm = "gain"
    prelude_layers = 0
    core_layers = 1
    coda_layers = 0
    injection = "residual-channel"
  )"));
  const std::int64_t matrices = 2 * 24 * 14 + 2 * 12 * 14 + 3 * 14 * 18;
  EXPECT_EQ(counts.n_rec_matrices, matrices);
  EXPECT_EQ(counts.recurrent, matrices + 2 * 14 + 2 * 6 + 2 * 14 + 14);
  EXPECT_EQ(counts.once, 14);
  EXPECT_EQ(counts.n_once_matrices, 0);
  EXPECT_EQ(counts.embedding, 2 * 256 * 14);
}

TEST(Parameters, EachConditioning) {
  const auto counts = [](std::vector<std::string> keys) {
    keys.insert(keys.end(), {"model.core_layers=3", "model.loop_norm=false", "model.d_model=32",
                             "model.heads=2", "model.injection=none"});
    return counts_of(with(keys));
  };
  const auto base = counts({});
  const auto added = [&](const char* key, const char* form, std::int64_t window) {
    std::vector<std::string> keys = {fmt::format("{}={}", key, form)};
    if (window > 0) keys.push_back(fmt::format("model.history_window={}", window));
    const auto found = counts(keys);
    EXPECT_EQ(found.once, base.once);
    EXPECT_EQ(found.total - base.total, found.recurrent - base.recurrent);
    return std::pair(found.recurrent - base.recurrent, found.n_rec_matrices - base.n_rec_matrices);
  };
  using Added = std::pair<std::int64_t, std::int64_t>;
  // papers.md C.2 and C.3: w, w d, w d²; 8, 16 and 32 d a layer. Products are those of d² alone.
  EXPECT_EQ(added("model.history", "scalar", 5), Added(5, 0));
  EXPECT_EQ(added("model.history", "channel", 5), Added(5 * 32, 0));
  EXPECT_EQ(added("model.history", "dense", 5), Added(5 * 32 * 32, 5 * 32 * 32));
  EXPECT_EQ(added("model.timestep", "loop-gate", 0), Added(8, 0));
  EXPECT_EQ(added("model.timestep", "branch-gate", 0), Added(3 * 16, 0));
  EXPECT_EQ(added("model.timestep", "adaln", 0), Added(3 * 32 * 32, 0));
}

TEST(Parameters, GroupsOfConditioning) {
  const auto texts = [](const std::vector<std::string>& keys) {
    std::vector<std::string> found;
    for (const auto& group : optimizer_groups(with(keys), 256)) found.push_back(group.tensors);
    return found;
  };
  using Texts = std::vector<std::string>;
  EXPECT_EQ(texts({}),
            (Texts{"hidden matrices, inject.weight", "embedding and head", "norm gains"}));
  EXPECT_EQ(texts({"model.history=dense", "model.history_window=2", "model.timestep=adaln"}),
            (Texts{"hidden matrices, inject.weight, history.*", "embedding and head",
                   "norm gains, timestep.*"}));
  EXPECT_EQ(texts({"model.injection=scalar", "model.history=channel", "model.history_window=2"}),
            (Texts{"hidden matrices", "embedding and head", "norm gains, inject.*, history.*"}));
  const auto config =
      with({"model.history=dense", "model.history_window=2", "model.timestep=adaln"});
  const auto groups = optimizer_groups(config, 256), plain = optimizer_groups(with({}), 256);
  EXPECT_EQ(groups[0].parameters - plain[0].parameters, 2 * 256 * 256);
  EXPECT_EQ(groups[2].parameters - plain[2].parameters, 2 * 32 * 256);
  EXPECT_EQ(groups[2].weight_decay, 0.0);
}

TEST(Parameters, EachInjection) {
  const auto recurrent = [](const char* kind) {
    return counts_of(with({fmt::format("model.injection={}", kind), "model.core_layers=0",
                           "model.loop_norm=false"}))
        .recurrent;
  };
  EXPECT_EQ(recurrent("none"), 0);
  EXPECT_EQ(recurrent("scalar"), 1);
  EXPECT_EQ(recurrent("channel"), 2 * 256);
  EXPECT_EQ(recurrent("residual-channel"), 2 * 256);
  EXPECT_EQ(recurrent("dense"), 2 * 256 * 256);
}

TEST(Parameters, TransformerOfTheRecurrentPaper) {
  // arXiv 2610.07591: Transformer-8, 25.31 M, exactly 25,314,304.
  const auto config = recipe(R"(
    [model]
    d_model = 512
    heads = 4
    d_ff = 1365
    qk_norm = "gain"
    tied_head = true
    vocab = 277
    prelude_layers = 0
    core_layers = 8
    coda_layers = 0
    injection = "none"
    loop_norm = false
    [loops]
    forward = 1
  )");
  EXPECT_EQ(counts_of(config).total, 25314304);
  EXPECT_EQ(counts_of(config).embedding, 277 * 512);
}

TEST(Parameters, IsoDepthGridOfThePriorLaw) {
  // arXiv 2604.21106: 640 wide, 2 + r · (16 / r) + 2 layers; its 4d MLP counts like ours of 8/3 d.
  const std::map<int, double> published = {{1, 98.3e6}, {2, 59.8e6}, {4, 40.2e6}, {8, 30.3e6}};
  for (const auto& [loops, count] : published) {
    auto config =
        with({"model.d_model=640", "model.heads=5", "model.prelude_layers=2", "model.coda_layers=2",
              "model.loop_norm=false", fmt::format("model.core_layers={}", 16 / loops)});
    if (loops == 1) config.model.injection = Injection::kNone;
    EXPECT_NEAR(static_cast<double>(counts_of(config).non_embedding()), count, 0.1e6)
        << loops << " loops";
  }
}

TEST(Parameters, NamesAndShapesOfTheGoldenFiles) {
  int files = 0;
  for (const auto& entry : fs::directory_iterator("tests/golden")) {
    const auto& path = entry.path();
    if (path.extension() != ".safetensors" || path.stem() == "optimizer" || path.stem() == "muon")
      continue;
    const std::string content = read_file(path);
    std::uint64_t length = 0;
    for (int i = 7; i >= 0; --i)
      length = length << 8 | static_cast<unsigned char>(content[static_cast<std::size_t>(i)]);
    const auto header = nlohmann::json::parse(content.substr(8, length));
    const auto config = recipe(header.at("__metadata__").at("rondo.config").get<std::string>());
    std::map<std::string, std::vector<std::int64_t>> stored, listed;
    for (const auto& [name, tensor] : header.items())
      if (name.starts_with("weight."))
        stored[name.substr(7)] = tensor.at("shape").get<std::vector<std::int64_t>>();
    for (const auto& tensor : parameter_shapes(config.model, config.model.vocab))
      listed[tensor.name] = tensor.shape;
    EXPECT_EQ(listed, stored) << path;
    ++files;
  }
  EXPECT_GT(files, 20);
}

TEST(Parameters, Vocabulary) {
  EXPECT_EQ(vocabulary_size(recipe()), 256);
  EXPECT_EQ(vocabulary_size(with({"model.vocab=300"})), 300);
  try {
    vocabulary_size(with({"model.vocab=255"}));
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "model.vocab = 255: smaller than the 256 ids of data.tokenizer = \"bytes\"; "
                 "expected 0 or at least 256");
    EXPECT_EQ(error.exit_status(), 2);
  }
}

TEST(Parameters, MoreThanCanBeCountedIsAnError) {
  EXPECT_THROW(counts_of(with({"model.d_model=4000000000", "model.heads=1"})), Error);
  EXPECT_THROW(counts_of(with({"model.d_model=1000000000", "model.heads=1", "model.d_ff=1"})),
               Error);
}

TEST(OptimizerGroups, MuonTakesAttentionAndFeedForward) {
  const auto config =
      with({"model.history=dense", "model.history_window=2", "model.timestep=adaln",
            "train.optimizer=muon", "train.muon_scale=spectral", "train.matrix_lr_scale=2.0"});
  const auto groups = optimizer_groups(config, 256);
  const auto counts = counts_of(config);
  ASSERT_EQ(groups.size(), 4U);
  EXPECT_EQ(groups[0].name, "muon");
  EXPECT_EQ(groups[0].optimizer, "muon (spectral)");
  // Four layers of 4 d² and 3 d F; injection and history stay with AdamW.
  const std::int64_t blocks = 4 * (4 * 256 * 256 + 3 * 256 * 683);
  EXPECT_EQ(groups[0].parameters, blocks);
  EXPECT_EQ(groups[0].tensor_count, 4 * 7);
  EXPECT_EQ(groups[0].lr_scale, 2.0);
  EXPECT_EQ(groups[0].weight_decay, 0.1);
  EXPECT_EQ(groups[1].tensors, "inject.weight, history.*");
  EXPECT_EQ(groups[1].optimizer, "adamw");
  EXPECT_EQ(groups[1].parameters, 2 * 256 * 256 + 2 * 256 * 256);
  EXPECT_EQ(groups[2].parameters, counts.embedding);
  EXPECT_EQ(groups[3].weight_decay, 0.0);
  std::int64_t sum = 0;
  for (const auto& group : groups) sum += group.parameters;
  EXPECT_EQ(sum, counts.total);
  EXPECT_EQ(optimizer_values(config, 256), static_cast<double>(2 * counts.total - blocks));
  // The merge of an RLT is no attention; with none, AdamW has no matrix left.
  EXPECT_EQ(optimizer_groups(with({"model.kind=rlt", "train.optimizer=muon"}), 256)[1].tensors,
            "merge.*.weight");
  const auto none = optimizer_groups(with({"model.injection=none", "train.optimizer=muon"}), 256);
  EXPECT_EQ(none[1].tensors, "none");
  EXPECT_EQ(none[1].parameters, 0);
}

TEST(OptimizerGroups, CoverEveryTensorOnce) {
  const auto config = with({"model.injection=channel", "model.qk_norm=gain",
                            "train.matrix_lr_scale=2.0", "train.weight_decay=0.05"});
  const auto groups = optimizer_groups(config, 256);
  const auto counts = counts_of(config);
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups[0].parameters, counts.n_once_matrices + counts.n_rec_matrices);
  EXPECT_EQ(groups[1].parameters, counts.embedding);
  EXPECT_EQ(groups[0].parameters + groups[1].parameters + groups[2].parameters, counts.total);
  EXPECT_EQ(groups[0].lr_scale, 2.0);
  EXPECT_EQ(groups[0].weight_decay, 0.05);
  EXPECT_EQ(groups[1].lr_scale, 1.0);
  EXPECT_EQ(groups[1].weight_decay, 0.05);
  EXPECT_EQ(groups[2].weight_decay, 0.0);
  EXPECT_EQ(groups[0].tensor_count, 4 * 7);
  EXPECT_EQ(groups[1].tensor_count, 2);
  EXPECT_EQ(groups[2].tensor_count, 4 * 4 + 2 + 2);
}

}  // namespace
}  // namespace rondo
