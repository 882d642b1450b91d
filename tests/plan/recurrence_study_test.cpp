// The study of conditioning: its recipes can be read, its models are those named, its rules accept
// numbers in the paper's sense and refuse others.
#include "plan/recurrence_study.h"

#include <gtest/gtest.h>

#include <set>

#include "base/error.h"
#include "base/shipped.h"

namespace rondo {
namespace {

/// Numbers of every model, two seeds each, which differ by 0.02 nats.
class Results {
 public:
  Results() {
    for (const auto& table : recurrence_tables())
      for (const auto& model : table.models) {
        auto& result = results_.emplace_back();
        result.model = model;
        for (const char* seed : {"42", "43"}) {
          result.seeds.emplace_back().seed = seed;
          result.seeds.back().loss_nats[model.loops] = seed[1] == '2' ? 1.50 : 1.52;
        }
        set_rise(model.layout, model.form, 0.1);
        set_course(model.layout, model.form, "update", "loop", 0.5, 0.1);
        set_course(model.layout, model.form, "angle", "loop", 0.1, 0.02);
        set_course(model.layout, model.form, "variance", "state", 10, 100);
        set_influence(model.layout, model.form, 0.07);
      }
    set_rise("4x3", "dense state", 1.3);
    set_influence("4x3", "dense state", 0.01);
    set_rise("2x6", "dense history 2", 0.5);
    set_rise("2x6", "dense history 4", 1.5);
  }

  RecurrenceResult& find(const std::string& layout, const std::string& form) {
    for (auto& result : results_)
      if (result.model.layout == layout && result.model.form == form) return result;
    throw std::out_of_range(layout + " " + form);
  }

  void set_rise(const std::string& layout, const std::string& form, double nats) {
    auto& result = find(layout, form);
    const auto trained = result.model.loops;
    for (auto& seed : result.seeds)
      seed.loss_nats[kRecurrenceReach * trained] = seed.loss_nats[trained] + nats;
  }

  void set_course(const std::string& layout, const std::string& form, const std::string& probe,
                  const std::string& site, double at_k, double at_3k) {
    auto& result = find(layout, form);
    const auto trained = result.model.loops;
    for (auto& seed : result.seeds) {
      seed.probes[{.probe = probe, .site = site, .loop = trained}] = at_k;
      seed.probes[{.probe = probe, .site = site, .loop = kRecurrenceReach * trained}] = at_3k;
    }
  }

  void set_influence(const std::string& layout, const std::string& form, double value) {
    for (auto& seed : find(layout, form).seeds)
      seed.probes[{.probe = "interaction", .site = "lags_from_1"}] = value;
  }

  [[nodiscard]] std::map<std::string, Verdict> verdicts() const {
    std::map<std::string, Verdict> verdicts;
    for (const auto& judged : judge_recurrence(results_)) {
      EXPECT_FALSE(judged.why.empty());
      verdicts[judged.claim.name] = judged.verdict;
    }
    return verdicts;
  }

 private:
  std::vector<RecurrenceResult> results_;
};

TEST(RecurrenceStudy, EveryModelIsWhatItsNameSays) {
  for (const char* name : {"smoke", "cpu"}) {
    const auto& scale = recurrence_scale(name);
    std::set<std::string> folders;
    for (const auto& table : recurrence_tables())
      for (const auto& model : table.models) {
        EXPECT_TRUE(folders.insert(model.folder).second) << model.folder;
        const auto config = read_recipe(find_shipped(scale.recipe).string(), model.set);
        EXPECT_EQ(config.loops.forward, model.loops);
        EXPECT_EQ(config.model.core_layers * config.loops.forward, 12);
        EXPECT_EQ(config.model.prelude_layers + config.model.coda_layers, 0);
        EXPECT_EQ(config.model.injection == Injection::kNone,
                  model.form.find("state") == std::string::npos);
        EXPECT_EQ(config.model.history == HistoryForm::kNone,
                  model.form.find("history") == std::string::npos);
        EXPECT_EQ(config.model.timestep == TimestepForm::kNone,
                  model.form != "branch gates" && model.form != "adaLN");
      }
    EXPECT_EQ(folders.size(), 13U);
  }
}

TEST(RecurrenceStudy, NumbersInThePapersSenseReproduceEveryClaim) {
  for (const auto& [name, verdict] : Results().verdicts())
    EXPECT_EQ(verdict, Verdict::kReproduced) << name;
}

TEST(RecurrenceStudy, OtherNumbersDoNot) {
  const auto refuses = [](const std::string& name, auto&& change) {
    Results results;
    change(results);
    EXPECT_EQ(results.verdicts().at(name), Verdict::kNotReproduced) << name;
  };
  refuses("dense-state", [](Results& r) { r.set_rise("4x3", "adaLN", 1.4); });
  refuses("light-forms", [](Results& r) { r.set_rise("4x3", "channel state", 0.2); });
  refuses("light-forms", [](Results& r) { r.set_rise("4x3", "branch gates", 0.2); });
  refuses("smaller-steps-larger-state",
          [](Results& r) { r.set_course("2x6", "none", "angle", "loop", 0.1, 0.2); });
  refuses("smaller-steps-larger-state",
          [](Results& r) { r.set_course("4x3", "none", "variance", "state", 10, 9); });
  refuses("history-windows", [](Results& r) { r.set_rise("2x6", "dense history 2", 1.6); });
  refuses("history-windows", [](Results& r) { r.set_rise("2x6", "dense history 1", 0.2); });
  refuses("channel-keeps-influence",
          [](Results& r) { r.set_influence("4x3", "dense state", 0.05); });
}

TEST(RecurrenceStudy, OneSeedOrAMissingModelIsNotTestable) {
  Results results;
  results.find("4x3", "none").seeds.pop_back();
  const auto verdicts = results.verdicts();
  EXPECT_EQ(verdicts.at("light-forms"), Verdict::kNotTestable);
  EXPECT_EQ(verdicts.at("history-windows"), Verdict::kReproduced);
  EXPECT_EQ(judge_recurrence({}).front().verdict, Verdict::kNotTestable);
}

TEST(RecurrenceStudy, SeedsThatDivergedBeyondKAreLeftOut) {
  Results results;
  auto& result = results.find("2x6", "dense history 4");
  result.seeds.front().loss_nats[18] = std::nan("");
  ASSERT_TRUE(rise_of(result));
  EXPECT_EQ(rise_of(result)->seeds, 1U);
  EXPECT_FALSE(over_seeds({}));
}

TEST(RecurrenceStudy, UnknownScalesAreRefused) {
  EXPECT_THROW(recurrence_scale("huge"), Error);
  EXPECT_THROW(recurrence_scale("paper"), Error);
}

}  // namespace
}  // namespace rondo
