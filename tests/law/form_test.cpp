// Forms: the catalogue, writing and reading back, and every way to get one wrong.
#include <gtest/gtest.h>

#include "base/error.h"
#include "law/catalogue.h"
#include "law/fit.h"
#include "tests/law/planted.h"
#include "tests/record/fake_runs.h"

namespace rondo {
namespace {

std::string wrong(const std::string& toml) {
  return test::error_of([&] { parse_form(toml, "my.toml"); });
}

constexpr const char* kTail = "\n[parameters]\nE = { start = [0.1, 1] }\n";

TEST(Form, EveryLawOfTheCatalogueReadsBackAsWritten) {
  for (const auto& name : law_names()) {
    const auto form = find_law(name);
    EXPECT_EQ(form.name, name);
    const auto again = parse_form(to_toml(form), name);
    EXPECT_EQ(to_toml(again), to_toml(form));
    ASSERT_EQ(again.parameters.size(), form.parameters.size());
  }
}

TEST(Form, ParametersKeepTheOrderOfTheContract) {
  const auto form = find_law("joint");
  std::vector<std::string> names;
  for (const auto& parameter : form.parameters) names.push_back(parameter.name);
  EXPECT_EQ(names, (std::vector<std::string>{"E", "A", "alpha", "B", "beta", "G", "K", "p", "q"}));
}

TEST(Form, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(wrong("loss = 'E * tokens'" + std::string(kTail)),
            "my.toml: law is missing: law = \"…\"");
  EXPECT_EQ(wrong("law = 'x'\nlos = 'E * tokens'" + std::string(kTail)),
            "my.toml:2: unknown key los; did you mean loss?");
  EXPECT_EQ(wrong("law = 'x'\nloss = 'E'" + std::string(kTail)),
            "my.toml: the loss depends on no column");
  EXPECT_EQ(wrong("law = 'x'\nloss = 'tokens'" + std::string(kTail)),
            "my.toml: parameters.E is not used");
  EXPECT_EQ(wrong("law = 'x'\nloss = 'E * u'\n[define]\nu = 'v'\nv = 'u'" + std::string(kTail)),
            "my.toml: the loss depends on no column");
  EXPECT_EQ(
      wrong("law = 'x'\nloss = 'E * u * tokens'\n[define]\nu = 'v'\nv = 'u'" + std::string(kTail)),
      "law x: define.u needs itself");
  EXPECT_EQ(wrong("law = 'x'\nloss = 'E * tokens'\n[define]\nu = 'loops'" + std::string(kTail)),
            "my.toml: define.u is not used");
  EXPECT_EQ(wrong("law = 'x'\nloss = 'E * tokens / 0'" + std::string(kTail)),
            "my.toml: loss: 'E * tokens / 0': divides by zero");
  EXPECT_EQ(wrong("law = 'x'\nloss = 'E * tokens'\n[parameters]\nE = { start = [1, 0] }"),
            "my.toml:4: parameters.E.start must be [low, high] with low < high");
  EXPECT_EQ(
      wrong("law = 'x'\nloss = 'E * tokens'\n[parameters]\nE = { start = [0, 1], positive = true "
            "}"),
      "my.toml:4: parameters.E.start must be above 0, as the parameter is positive");
  EXPECT_EQ(wrong("law = 'x'\nloss = 'E * tokens'\n[parameters]\nE = { positive = true }"),
            "my.toml:4: parameters.E.start is missing: the range that random starts come from, "
            "[low, high]");
  EXPECT_EQ(wrong("law = 'x'\nloss = 'E * tokens'\n[parameters]\nexp = { start = [0, 1] }"),
            "my.toml:4: 'exp' cannot be a name: it has a meaning");
  EXPECT_EQ(wrong("law = 'x'\nloss = 'E * tokens'\n[parameters]\nE = { start = [0, 1], scale = "
                  "'flops' }"),
            "my.toml: parameters.E.scale: there is no flops; a scale is made of n, tokens, loss "
            "and parameters");
  EXPECT_NE(wrong("law = ").find("my.toml:1: "), std::string::npos);
}

TEST(Form, UnknownLawsAreNamedWithTheNearest) {
  try {
    find_law("join");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "there is no law join (did you mean joint?); there are chinchilla, joint, "
                 "joint-k1, iso-depth, bounded, parcae, parcae-test-time, data-constrained, or a "
                 "form in a .toml file");
  }
}

// The reconstruction's table of arXiv 2610.26030's g (K, G with g(2,2) = 2, p .237, q 1.022).
TEST(LawFunction, GainOfTheJointLaw) {
  const LawFunction law(find_law("joint"), {1, 1, 1, 1, 1, 2.44, 2, 0.237, 1.022});
  const auto g = [&](double loops, double backward) {
    return *law.definition(
        "g", {.n_once = 1, .n_rec = 1, .loops = loops, .backward_loops = backward, .tokens = 1});
  };
  EXPECT_DOUBLE_EQ(g(1, 1), 1);
  EXPECT_NEAR(g(2, 1), 1.20, 0.005);
  EXPECT_NEAR(g(2, 2), 2.00, 0.005);
  EXPECT_NEAR(g(4, 2), 2.16, 0.005);
  EXPECT_NEAR(g(4, 4), 2.71, 0.005);
  EXPECT_NEAR(g(16, 16), 3.29, 0.006);
}

TEST(LawFunction, FormsOfTheContract) {
  const LawFunction::Point point{
      .n_once = 3, .n_rec = 5, .loops = 4, .backward_loops = 2, .tokens = 7};
  const auto loss = [&](const char* law, std::vector<double> parameters) {
    return LawFunction(find_law(law), std::move(parameters))(point);
  };
  const auto size_and_data = [](double n) {
    return 1 + 2 * std::pow(n, -0.5) + 3 * std::pow(7, -0.25);
  };
  EXPECT_DOUBLE_EQ(loss("chinchilla", {1, 2, 0.5, 3, 0.25}), size_and_data(8));
  EXPECT_DOUBLE_EQ(loss("parcae", {1, 2, 0.5, 3, 0.25}), size_and_data(23));
  EXPECT_NEAR(loss("iso-depth", {1, 2, 0.5, 3, 0.25, 0.5}), size_and_data(13), 1e-14);
  EXPECT_NEAR(loss("bounded", {1, 2, 0.5, 3, 0.25, 0.8, 2}),
              size_and_data(3 + 5 * (1 + 0.8 * (1 - std::exp(-1.5)))), 1e-14);
  const double u = std::pow(4, 0.2) * std::pow(2, 0.9);
  EXPECT_NEAR(loss("joint", {1, 2, 0.5, 3, 0.25, 1.5, 2, 0.2, 0.9}),
              size_and_data(3 + 5 * (1 + 1.5 * (u - 1) / (u + 1))), 1e-14);
  EXPECT_NEAR(loss("joint-k1", {1, 2, 0.5, 3, 0.25, 1.5, 0.2, 0.9}),
              size_and_data(3 + 5 * (1 + 1.5 * (1 - 1 / u))), 1e-14);
}

// With as many unique tokens as tokens and a size below the optimum it is Chinchilla's law.
TEST(LawFunction, DataConstrainedWithoutRepetitionIsChinchilla) {
  const std::vector<double> base = {1.7, 400, 0.34, 2000, 0.37};
  auto with_repetition = base;
  with_repetition.insert(with_repetition.end(), {15, 5});
  const LawFunction constrained(find_law("data-constrained"), with_repetition);
  const LawFunction plain(find_law("chinchilla"), base);
  const LawFunction::Point point{.n_once = 1e8, .tokens = 2e10};
  EXPECT_NEAR(constrained(point), plain(point), 1e-12);
  auto repeated = point;
  repeated.unique_tokens = 1e9;
  EXPECT_GT(constrained(repeated), plain(point));
}

}  // namespace
}  // namespace rondo
