// Writing and reading back, the hash and what it leaves out, differences, the reference.
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>

#include "base/error.h"
#include "base/files.h"
#include "base/rng.h"
#include "config/kinds.h"
#include "config/recipe.h"
#include "config/visit.h"

namespace rondo {
namespace {

Config read(const std::string& text, const Overrides& overrides = {}) {
  return parse_recipe(text, "test.toml", overrides);
}

/// Sets every field to something random inside its range.
class RandomFields {
 public:
  explicit RandomFields(std::uint64_t which) : stream_(1, "config", which) {}

  void operator()(const FieldInfo& field, std::int64_t& value) {
    value = static_cast<std::int64_t>(std::max(field.range.low, 0.0)) +
            static_cast<std::int64_t>(below(40));
  }
  void operator()(const FieldInfo&, std::uint64_t& value) { value = stream_.bits(at_++) >> 1; }
  void operator()(const FieldInfo& field, double& value) { value = number(field.range); }
  void operator()(const FieldInfo& field, std::array<double, 2>& value) {
    for (double& v : value) v = number(field.range);
  }
  void operator()(const FieldInfo&, bool& value) { value = below(2) == 1; }
  void operator()(const FieldInfo&, std::vector<std::int64_t>& value) {
    value.clear();
    for (std::size_t i = below(3); i > 0; --i) value.push_back(static_cast<std::int64_t>(i) * 6);
  }
  void operator()(const FieldInfo&, std::vector<BpttPart>& value) {
    value = {static_cast<BpttPart>(below(3))};
  }
  void operator()(const FieldInfo&, std::string& value) {
    static const std::vector<std::string> kPieces = {"a",    "\"", "\\", "\n", "\t", "\x01",
                                                     "\x7F", "é",  "😀",  "#",  " ",  "'",
                                                     "\r",   "]",  "=",  "u00"};
    value = "x";
    for (std::size_t i = below(12); i > 0; --i) value += kPieces[below(kPieces.size())];
  }
  template <typename Enum>
  requires std::is_enum_v<Enum>
  void operator()(const FieldInfo&, Enum& value) {
    value = static_cast<Enum>(below(kWords<Enum>.size()));
  }

 private:
  std::size_t below(std::size_t bound) { return stream_.below(bound, at_++); }
  double number(const Range& range) {
    if (range.high < kHuge) return range.low + (range.high - range.low) * stream_.uniform(at_++);
    return std::pow(10.0, 24.0 * stream_.uniform(at_++) - 12.0);
  }

  RandomStream stream_;
  std::uint64_t at_ = 0;
};

/// A random config without contradictions.
Config random_config(std::uint64_t which) {
  Config config;
  visit_fields(config, RandomFields(which));
  auto& model = config.model;
  model.head_dim += model.head_dim % 2;
  if (model.head_dim == 0) model.head_dim = 2;
  model.kv_heads = which % 2 == 0 ? 1 : 0;
  if (model.kind == ModelKind::kRlt) {
    model.d_model = model.heads * model.head_dim;
    model.kv_heads = 0;
    model.decoder_layers = model.encoder_layers += 1;
    const auto& intervals = config.train.feedback_schedule;
    if (!intervals.empty()) model.feedback_interval = intervals.back();
    config.train.bptt_tokens = 12 * model.feedback_interval;
    config.train.steps += 3;
    config.data.document_mask = false;
  }
  if (model.injection == Injection::kNone) model.state_init = StateInit::kPrelude;
  if (model.init != Init::kScaled) model.residual_divisor = 0;
  model.layout.clear();
  model.history_window = model.history == HistoryForm::kNone ? 0 : model.history_window + 1;
  model.core_layers += 1;
  auto& loops = config.loops;
  if (loops.sampler == Sampler::kSchedule) {
    loops.start = std::min(loops.start, loops.forward);
    loops.schedule_steps += 1;
  } else {
    loops.start = 1;
    loops.schedule_steps = 0;
  }
  if (config.train.optimizer != OptimizerKind::kMuon) {
    config.train.muon_momentum = TrainConfig().muon_momentum;
    config.train.muon_scale = TrainConfig().muon_scale;
  }
  if (model.timestep == TimestepForm::kNone || is_drawn(loops.sampler))
    model.timestep_grid = TimestepGrid::kRescaled;
  config.loops.max = which % 3 == 0 ? 0 : config.loops.forward + config.loops.max;
  config.data.tokenizer = "bytes";
  config.train.min_learning_rate = config.train.learning_rate / 3;
  config.train.micro_batch = 0;
  config.train.decay_steps = config.train.steps / 2;
  auto& data = config.data;
  if (data.source == DataSource::kTask) {
    data.document_mask = false;
    data.supervise = Supervise::kFinal;
    data.label_at = LabelAt::kMark;
  }
  data.length_groups = 0;
  if (data.min_length > data.max_length) std::swap(data.min_length, data.max_length);
  resolve(config, "random");
  return config;
}

TEST(Write, ReadsBackEqual) {
  for (std::uint64_t i = 0; i < 500; ++i) {
    const auto config = random_config(i);
    const std::string text = to_toml(config);
    const auto again = read(text);
    ASSERT_EQ(to_toml(again), text);
    ASSERT_EQ(config_hash(again), config_hash(config));
    ASSERT_TRUE(differences(again, config).empty());
    ASSERT_EQ(again.data.path, config.data.path);
    ASSERT_EQ(again.train.eps, config.train.eps);
    ASSERT_EQ(again.model.rope_base, config.model.rope_base);
  }
}

TEST(Write, WritesEveryKeyOfItsKindAndEachOnce) {
  for (const char* kind : {"looped", "rlt"}) {
    const auto config = read("", {fmt::format("model.kind={}", kind)});
    const std::string text = to_toml(config);
    std::set<std::string> keys;
    visit_fields(config, [&](const FieldInfo& field, const auto&) {
      if (!applies(field.key(), config.model.kind)) return;
      EXPECT_TRUE(keys.insert(field.key()).second) << field.key();
      EXPECT_NE(text.find(field.name + " = "), std::string::npos) << field.key();
    });
    EXPECT_EQ(static_cast<std::size_t>(std::count(text.begin(), text.end(), '=')), keys.size());
  }
}

TEST(Write, ResolvingIsDoneOnce) {
  auto config = read("");
  const std::string text = to_toml(config);
  resolve(config, "again");
  EXPECT_EQ(to_toml(config), text);
}

TEST(Write, ALayoutIsWrittenAsTheKeysThatItStandsFor) {
  const auto config = read("[model]\nlayout = \"1+2x9+3\"");
  EXPECT_EQ(config.model.prelude_layers, 1);
  EXPECT_EQ(config.model.core_layers, 2);
  EXPECT_EQ(config.model.coda_layers, 3);
  EXPECT_EQ(config.loops.forward, 9);
  EXPECT_EQ(config.loops.backward, 9);  // all of them, unless the recipe says otherwise
  EXPECT_EQ(config.model.trained_loops, 9);
  const auto spelled = read(
      "[model]\nprelude_layers = 1\ncore_layers = 2\ncoda_layers = 3\n[loops]\nforward = "
      "9\nbackward = 9");
  EXPECT_EQ(to_toml(config), to_toml(spelled));
  EXPECT_EQ(config_hash(config), config_hash(spelled));
  EXPECT_EQ(effective_depth(config), 22);
  // Without + there is no prelude and no coda, whatever the size says.
  const auto base = read("size = \"xl\"\n[model]\nlayout = \"4x7\"\n[loops]\nbackward = 2");
  EXPECT_EQ(base.model.prelude_layers + base.model.coda_layers, 0);
  EXPECT_EQ(base.model.core_layers, 4);
  EXPECT_EQ(base.loops.backward, 2);
  // A written recipe has no layout any more, so its keys can be changed one by one.
  EXPECT_EQ(read(to_toml(base), {"loops.forward=5"}).loops.forward, 5);
  EXPECT_EQ(read(to_toml(base), {"model.layout=2x3"}).model.core_layers, 2);
  EXPECT_EQ(read("[model]\nlayout = \"4x7\"\ncore_layers = 4").model.core_layers, 4);
}

TEST(Write, NumbersKeepTheirKind) {
  const std::string text = to_toml(read("[model]\nrope_base = 5e14\n[train]\nclip = 2"));
  EXPECT_NE(text.find("clip = 2.0\n"), std::string::npos) << text;
  EXPECT_NE(text.find("eps = 1e-08\n"), std::string::npos) << text;
  EXPECT_NE(text.find("betas = [0.9, 0.95]\n"), std::string::npos) << text;
}

/// Changes a field to another allowed value.
struct Changed {
  void operator()(std::int64_t& value) const { value += 2; }
  void operator()(std::uint64_t& value) const { value += 1; }
  void operator()(double& value) const { value = value * 0.5 + 0.25; }
  void operator()(std::array<double, 2>& value) const { value[1] *= 0.5; }
  void operator()(bool& value) const { value = !value; }
  void operator()(std::vector<std::int64_t>& value) const { value.push_back(2); }
  void operator()(std::vector<BpttPart>& value) const { value.pop_back(); }
  void operator()(std::string& value) const { value += "x"; }
  template <typename Enum>
  requires std::is_enum_v<Enum>
  void operator()(Enum& value) const {
    const auto next = static_cast<std::size_t>(value) + 1;
    value = static_cast<Enum>(next % kWords<Enum>.size());
  }
};

TEST(Hash, CoversEveryKeyButTheFreeOnes) {
  const std::set<std::string> free = {"train.stop_after", "train.validate_every",
                                      "train.checkpoint_every", "train.keep", "engine.threads"};
  // They belong to features that are off, and have their defaults whenever these are.
  const std::set<std::string> off = {"train.muon_momentum", "train.muon_scale", "loops.start",
                                     "loops.schedule_steps"};
  for (const char* kind : {"looped", "rlt"}) {
    const auto config = read("", {fmt::format("model.kind={}", kind)});
    visit_fields(config, [&](const FieldInfo& info, const auto&) {
      auto other = config;
      visit_fields(other, [&](const FieldInfo& field, auto& value) {
        if (field.key() == info.key()) Changed()(value);
      });
      const bool same = free.contains(info.key()) || off.contains(info.key()) ||
                        !applies(info.key(), config.model.kind);
      EXPECT_EQ(config_hash(other) == config_hash(config), same) << info.key();
      const auto changes = differences(config, other);
      ASSERT_EQ(changes.size(), same ? 0U : 1U) << info.key();
      for (const auto& change : changes) EXPECT_TRUE(change.starts_with(info.key() + ": "));
    });
  }
}

TEST(Hash, CoversTheKeysOfAFeatureThatIsOn) {
  const auto pairs = std::vector<std::pair<Overrides, std::string>>{
      {{"train.optimizer=muon"}, "train.muon_momentum=0.9"},
      {{"train.optimizer=muon"}, "train.muon_scale=spectral"},
      {{"loops.sampler=schedule", "loops.schedule_steps=9"}, "loops.start=2"},
      {{"loops.sampler=schedule", "loops.schedule_steps=9"}, "loops.schedule_steps=8"}};
  for (const auto& [on, change] : pairs) {
    auto changed = on;
    changed.push_back(change);
    EXPECT_NE(config_hash(read("", on)), config_hash(read("", changed))) << change;
    EXPECT_EQ(differences(read("", on), read("", changed)).size(), 1U) << change;
  }
}

TEST(Hash, StepsAreFreeWhereTheScheduleDoesNotDependOnThem) {
  for (const char* schedule : {"constant", "wsd", "cosine", "linear"}) {
    const Overrides base = {fmt::format("train.schedule={}", schedule)};
    auto longer = base;
    longer.emplace_back("train.steps=2000");
    const bool free = *schedule == 'c' ? schedule[2] == 'n' : *schedule == 'w';
    EXPECT_EQ(config_hash(read("", base)) == config_hash(read("", longer)), free) << schedule;
    EXPECT_EQ(differences(read("", base), read("", longer)).empty(), free) << schedule;
  }
}

TEST(Hash, ANewKeyAtItsDefaultChangesNothing) {
  Config config;
  EXPECT_EQ(config_hash(config), sha256(""));
  config.data.label_at = LabelAt::kLast;
  EXPECT_EQ(config_hash(config), sha256("data.label_at = \"last\"\n"));
}

TEST(Hash, DoesNotDependOnHowTheRecipeIsWritten) {
  const auto spelled = read("# a comment\n[train]\nsteps = 1_000\n[model]\nd_ff = 683\n");
  EXPECT_EQ(config_hash(spelled), config_hash(read("")));
  EXPECT_EQ(config_hash(read("")).size(), 64U);
}

TEST(Differences, NameOldAndNewValue) {
  EXPECT_EQ(differences(read(""), read("", {"train.learning_rate=0.002", "model.init=scaled"})),
            (std::vector<std::string>{"model.init: \"normal\" → \"scaled\"",
                                      "train.learning_rate: 0.001 → 0.002"}));
  EXPECT_EQ(differences(read("", {"train.schedule=constant"}), read("", {"train.steps=9"})),
            std::vector<std::string>{"train.schedule: \"constant\" → \"cosine\""});
}

TEST(Reference, NamesEveryKeyWithItsMeaning) {
  const std::string text = recipe_reference();
  const Config config;
  visit_fields(config, [&](const FieldInfo& field, const auto&) {
    EXPECT_NE(text.find("| `" + field.name + "` | `"), std::string::npos) << field.key();
    EXPECT_NE(text.find(field.help), std::string::npos) << field.key();
    EXPECT_GT(std::string(field.help).size(), 3U) << field.key();
  });
  EXPECT_NE(text.find("## [loops]"), std::string::npos);
}

}  // namespace
}  // namespace rondo
