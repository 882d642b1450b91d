// FIT.json: what is written can be read, null stays null, and files by hand are checked.
#include "law/fit_record.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "tests/law/planted.h"
#include "tests/record/fake_runs.h"

namespace rondo {
namespace {

std::string wrong(const std::string& text) {
  return test::error_of([&] { parse_fit(text, "FIT.json"); });
}

TEST(FitRecord, WhatIsWrittenIsReadBack) {
  const auto form = find_law("joint");
  const auto table = planted::runs(form, planted::kJoint, {{1, 1}, {2, 2}, {4, 4}}, 10, 0.003, 2);
  const auto fit = fit_law(form, table, {.starts = 20, .bootstrap = 20, .holdout = "loops == 4"});
  const auto json = to_json(fit);
  EXPECT_TRUE(json["parameters"]["p"].is_null());
  EXPECT_TRUE(json["intervals"]["q"].is_null());
  EXPECT_TRUE(json["parameters"]["alpha"].is_number());
  EXPECT_EQ(json["intervals"]["alpha"].size(), 2u);
  EXPECT_EQ(json["points"], 20);
  EXPECT_EQ(json["holdout"]["points"], 10);
  EXPECT_EQ(json["loops_max"], 2);
  EXPECT_EQ(json["data"]["columns"]["loss"].size(), 30u);

  const auto law = parse_fit(json.dump(), "FIT.json");
  EXPECT_EQ(law.form.name, "joint");
  EXPECT_TRUE(std::isnan(law.parameters[form.parameter("p")]));
  EXPECT_EQ(law.parameters[0], fit.parameters[0]);
  EXPECT_EQ(law.bootstrap, fit.bootstrap);
  EXPECT_EQ(law.largest("loops"), 2);
  EXPECT_EQ(law.statements, fit.statements);
  EXPECT_NEAR(law.recurrent_share, 0.42, 1e-12);
}

TEST(FitRecord, AFileByHandNeedsLawAndParametersOnly) {
  const auto law = parse_fit(
      R"({"law": "chinchilla", "parameters": {"E": 1.8, "A": 480, "alpha": 0.35, "B": 2100, "beta": 0.37}})",
      "FIT.json");
  EXPECT_EQ(law.parameters[2], 0.35);
  EXPECT_TRUE(std::isnan(law.recurrent_share));
  EXPECT_TRUE(std::isnan(law.largest("loops")));
}

TEST(FitRecord, SaysWhatIsWrong) {
  EXPECT_EQ(wrong("{"), "FIT.json: not JSON (byte 2); expected what `rondo fit --json` prints");
  EXPECT_EQ(wrong("[1]"), "FIT.json: expected one JSON object, as `rondo fit --json` prints");
  EXPECT_EQ(wrong("{}"), "FIT.json: law: expected the name of a law");
  EXPECT_EQ(wrong(R"({"law": "parcae"})"),
            "FIT.json: parameters: expected an object from name to number");
  EXPECT_EQ(wrong(R"({"law": "parcae", "parameters": {"E": 1}})"),
            "FIT.json: parameters.A is missing; the law parcae needs it");
  EXPECT_EQ(wrong(R"({"law": "parcae", "parameters": {"E": "1"}})"),
            "FIT.json: parameters.E: expected a number");
  EXPECT_EQ(
      wrong(R"({"law": "parcae", "parameters": {"E": 1, "A": 1, "alpha": -1, "B": 1, "beta": 1}})"),
      "FIT.json: parameters.alpha: expected 0 or more");
  EXPECT_EQ(
      wrong(
          R"({"law": "parcae", "parameters": {"E": 1, "A": 1, "alpha": 1, "B": 1, "beta": 1, "p": 1}})"),
      "FIT.json: parameters.p: the law parcae has no such parameter");
}

}  // namespace
}  // namespace rondo
