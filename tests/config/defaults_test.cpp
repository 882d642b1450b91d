// Defaults, what is derived from them, the dial, and which of recipe, dial and --set wins.
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "base/error.h"
#include "base/files.h"
#include "config/recipe.h"

namespace rondo {
namespace {

Config read(const std::string& text, const Overrides& overrides = {}) {
  return parse_recipe(text, "test.toml", overrides);
}

// The documented table of keys, whole: it must read, and say nothing but the defaults.
constexpr const char* kDocumented = R"(
seed = 42
size = "s"
[model]
kind = "looped"
d_model = 256
heads = 4
kv_heads = 4
head_dim = 64
d_ff = 683
qk_norm = "none"
qk_norm_order = "after-rope"
rope_base = 10000.0
rope_scaling = "none"
norm_eps = 1e-5
init = "normal"
residual_divisor = 0.0
tied_head = false
logit_scale = 1.0
logit_softcap = 0.0
vocab = 0
prelude_layers = 1
core_layers = 2
coda_layers = 1
state_init = "prelude"
state_std = 1.0
injection = "dense"
injection_init = "state"
loop_norm = true
history = "none"
history_window = 0
timestep = "none"
timestep_grid = "rescaled"
encoder_layers = 4
decoder_layers = 4
feedback_interval = 1
window = 8
merge_scale = 0.1
merge_bias = 0.0
[loops]
forward = 4
backward = 4
sampler = "fixed"
max = 0
start = 1
schedule_steps = 0
recompute = false
[data]
source = "text"
tokenizer = "bytes"
sequence_length = 256
validation = 0.05
document_mask = false
task = "parity"
min_length = 3
max_length = 40
seed = 20260914
validation_seed = 0
test_seed = 0
[train]
steps = 1000
batch = 16
micro_batch = 0
optimizer = "adamw"
learning_rate = 1e-3
min_learning_rate = 1e-4
matrix_lr_scale = 1.0
schedule = "cosine"
warmup_steps = 100
decay_steps = 0
bptt_tokens = 0
weight_decay = 0.1
betas = [0.9, 0.95]
eps = 1e-8
clip = 1.0
precision = "auto"
device = "cpu"
validate_every = 100
checkpoint_every = 500
keep = 2
keep_best = true
stop_after = 0
[engine]
threads = 0
fused = true
)";

TEST(Defaults, AreTheDocumentedOnes) { EXPECT_EQ(to_toml(read(kDocumented)), to_toml(read(""))); }

TEST(Defaults, DeriveWhatIsLeftOpen) {
  const auto config = read("");
  EXPECT_EQ(config.model.head_dim, 64);
  EXPECT_EQ(config.model.kv_heads, 4);
  EXPECT_EQ(config.model.d_ff, 683);
  EXPECT_EQ(config.loops.max, 0);  // nothing is drawn
  EXPECT_EQ(read("loops.sampler = \"uniform\"").loops.max, 16);
  // 8/3 of the width to the nearest whole number: 1365.33, 1368, 2.67.
  EXPECT_EQ(read("model.d_model = 512").model.d_ff, 1365);
  EXPECT_EQ(read("model = {d_model = 513, heads = 1, head_dim = 2}").model.d_ff, 1368);
  EXPECT_EQ(read("model = {d_model = 1, heads = 1, head_dim = 2}").model.d_ff, 3);
  const auto wide = read("[model]\nhead_dim = 10\nheads = 6\nkv_heads = 3\nd_model = 7\nd_ff = 5");
  EXPECT_EQ(wide.model.head_dim, 10);
  EXPECT_EQ(wide.model.kv_heads, 3);
  EXPECT_EQ(wide.model.d_ff, 5);
}

TEST(Defaults, ValuesAreReadAsWritten) {
  const auto config = read(
      "[model]\nd_model = 0x80\nnorm_eps = 1\n[data]\npath = 'C:\\texts'\n[train]\nsteps = "
      "1_000\n");
  EXPECT_EQ(config.model.d_model, 128);
  EXPECT_EQ(config.model.norm_eps, 1.0);
  EXPECT_EQ(config.data.path, "C:\\texts");
  EXPECT_EQ(read("[data]\nvalidation = 0.05").data.validation, "0.05");
  EXPECT_EQ(read("[data]\nvalidation = \"held-out/\"").data.validation, "held-out/");
  EXPECT_EQ(read("\xEF\xBB\xBFseed = 7\r\n[train]\r\nsteps = 5\r\n").seed, 7U);
}

TEST(Size, SIsTheDefault) { EXPECT_EQ(to_toml(read("size = \"s\"")), to_toml(read(""))); }

TEST(Size, GrowsAlongTheDial) {
  Config before;
  for (const std::string size : {"xs", "s", "m", "l", "xl"}) {
    const auto config = read("size = \"" + size + "\"");
    EXPECT_EQ(config.model.head_dim, 64) << size;
    EXPECT_DOUBLE_EQ(config.train.min_learning_rate, config.train.learning_rate / 10);
    if (size != "xs") {
      EXPECT_GT(config.model.d_model, before.model.d_model);
      EXPECT_GE(config.model.core_layers, before.model.core_layers);
      EXPECT_LT(config.train.learning_rate, before.train.learning_rate);
    }
    before = config;
  }
}

TEST(Size, ExplicitKeysWinWhereverTheyStand) {
  const auto config = read("size = \"m\"\n[model]\nd_model = 128\n[train]\nlearning_rate = 0.5");
  EXPECT_EQ(config.model.d_model, 128);
  EXPECT_EQ(config.train.learning_rate, 0.5);
  EXPECT_EQ(config.model.heads, 8);
  EXPECT_EQ(read("[model]\nd_model = 192", {"size=m"}).model.d_model, 192);
  EXPECT_EQ(read("size = \"m\"", {"size=xs"}).model.d_model, 128);
  EXPECT_EQ(read("size = \"m\"", {"model.d_model=64", "size=xs"}).model.d_model, 64);
}

TEST(Overrides, BeatTheRecipeAndTheLastOneWins) {
  EXPECT_EQ(read("[train]\nsteps = 5", {"train.steps=6"}).train.steps, 6);
  EXPECT_EQ(read("", {"train.steps=6", "train.steps=7"}).train.steps, 7);
  EXPECT_EQ(read("", {"seed=9"}).seed, 9U);
}

TEST(Overrides, AreTomlOrElseText) {
  EXPECT_EQ(read("", {"train.betas=[0.5, 0.6]"}).train.betas[1], 0.6);
  EXPECT_EQ(read("", {"model.injection=none"}).model.injection, Injection::kNone);
  EXPECT_EQ(read("", {"model.injection=\"none\""}).model.injection, Injection::kNone);
  EXPECT_EQ(read("", {"data.path=some/where else"}).data.path, "some/where else");
  EXPECT_EQ(read("", {"data.path=a=b"}).data.path, "a=b");
  EXPECT_EQ(read("", {"data.validation=0.1"}).data.validation, "0.1");
  EXPECT_FALSE(read("", {"engine.fused=false"}).engine.fused);
}

TEST(Files, AFileOrTheFolderOfARun) {
  const auto folder = fs::temp_directory_path() / fmt::format("rondo-config-{}", ::getpid());
  create_folder(folder);
  write_file_atomically(folder / "config.toml", "seed = 3\n");
  EXPECT_EQ(read_recipe(folder.string()).seed, 3U);
  EXPECT_EQ(read_recipe((folder / "config.toml").string(), {"seed=4"}).seed, 4U);
  fs::remove_all(folder);
}

TEST(Notes, SayWhatIsAllowedButOdd) {
  EXPECT_TRUE(notes(read("")).empty());
  EXPECT_EQ(notes(read("[train]\nsteps = 50")),
            std::vector<std::string>{"train.warmup_steps = 100 covers all 50 steps: the peak "
                                     "learning rate is never passed"});
  EXPECT_EQ(notes(read("[train]\nschedule = \"wsd\"")),
            std::vector<std::string>{
                "train.schedule = \"wsd\" with train.decay_steps = 0: the rate never decays"});
  EXPECT_EQ(notes(read("[model]\ninjection = \"none\"\n[loops]\nbackward = 2")),
            std::vector<std::string>{
                "loops.backward = 2 with model.injection = \"none\": in steps that run more loops, "
                "the embedding and the prelude get no gradient"});
  EXPECT_TRUE(notes(read("[model]\ninjection = \"none\"\n[loops]\nbackward = 0")).empty());
  EXPECT_TRUE(notes(read("[model]\ninjection = \"none\"\n[loops]\nbackward = 9")).empty());
}

}  // namespace
}  // namespace rondo
