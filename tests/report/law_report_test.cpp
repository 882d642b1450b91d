// The page of a law on disk: what is in it, where it lies, what it refuses.
#include "report/law_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "law/fit_record.h"
#include "tests/record/fake_runs.h"
#include "tests/report/fake_fit.h"

namespace rondo {
namespace {

using test::error_of;
using test::fake_fit;
using test::TemporaryFolder;
using test::write_fake_fit;

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::string without_bundle(const std::string& page) { return page.substr(0, page.find("</main>")); }

Json fake_plan() {
  const Json best = {
      {"loops", 2},        {"backward_loops", 2},  {"n_once", 5.8e7},
      {"n_rec", 4.2e7},    {"n_total", 1e8},       {"tokens", 2e9},
      {"flops", 1e18},     {"loss_nats", 3.1234},  {"loss_interval", {3.1, 3.2}},
      {"share_best", 0.7}, {"extrapolates", true}, {"outside", {"tokens are far out"}}};
  return {{"law", "joint"},
          {"limits", {{"flops", 1e18}}},
          {"recurrent_share", 0.42},
          {"best", {best, best}},
          {"exponents", {{"loops", 0.24}, {"tokens", 0.76}, {"parameters", nullptr}}},
          {"exponents_asymptotic", {{"loops", 0.24}, {"tokens", 0.76}, {"reason", "size is held"}}},
          {"flatness", {{{"nats", 0.001}, {"n_total_lowest", 9e7}, {"factor_down", 0.9}}}},
          {"rule", {{"name", "free"}, {"text", "Tokens go as C^0.76."}, {"holds", true}}},
          {"trade_offs",
           {{{"loops", 2},
             {"backward_loops", 2},
             {"at", "equal_flops"},
             {"loss_gap_nats", -0.004},
             {"parameters_saved", 0.296},
             {"extra_flops", 0.0}}}},
          {"warnings", {"<b>mind</b> this"}}};
}

TEST(LawReport, PageHasEverySection) {
  const TemporaryFolder tmp;
  Json json = to_json(fake_fit());
  json["comparison"] = {{{"law", "joint"}, {"rmse_nats", 0.002}, {"bic", -90.5}},
                        {{"law", "bounded"}, {"rmse_nats", 0.009}, {"bic", -10.25}}};
  json["leave_one_out"] = {
      {"cells", {{{"cell", "loops 4"}, {"points", 16}, {"rmse_nats", 0.0123}}}},
      {"rmse_nats", 0.0099}};
  json["statements"] = {"these data do not determine K: other values fit equally well"};
  json["dropped"] = 3;
  write_file_atomically(tmp / "fit.json", json.dump());
  EXPECT_EQ(write_law_report(tmp / "fit.json", {}), tmp / "report.html");
  const std::string page = read_file(tmp / "report.html");
  for (const char* part : {"<!doctype html>",
                           "<h1>Scaling law: joint</h1>",
                           "n_eff = n_once + g * n_rec",
                           "bound of the gain",
                           "2.574 … 2.626",
                           "90 of 100",
                           "These data do not determine K",
                           "3 rows could not be used",
                           "Predicted and observed loss",
                           "Residuals by loops",
                           "Compute-optimal loss",
                           "What loops are worth",
                           "How sure the parameters are",
                           "Other laws on the same runs",
                           "-10.2",
                           "Cells left out",
                           "0.0123",
                           "The numbers",
                           "Content-Security-Policy",
                           "prefers-color-scheme:dark",
                           "vegaEmbed"})
    EXPECT_TRUE(has(page, part)) << part;
  EXPECT_FALSE(has(page, "The plan"));
  for (const char* part : {"src=\"", "<link", "@import", "url(", "href=\"http"})
    EXPECT_FALSE(has(without_bundle(page), part)) << part;
  for (const char* chart :
       {"predicted", "cells", "residuals", "bootstrap", "gain", "budget", "frontier", "optimum"}) {
    EXPECT_TRUE(fs::exists(tmp / fmt::format("report-{}.vl.json", chart))) << chart;
    EXPECT_TRUE(fs::exists(tmp / fmt::format("report-{}.csv", chart))) << chart;
  }
}

TEST(LawReport, PlanIsOnThePage) {
  const TemporaryFolder tmp;
  write_file_atomically(tmp / "plan.json", fake_plan().dump());
  const auto fit = write_fake_fit(tmp.path());
  const auto path = write_law_report(
      fit, {.out = tmp / "new/page.html", .title = "T & B", .plan = tmp / "plan.json"});
  EXPECT_EQ(path, tmp / "new/page.html");
  const std::string page = read_file(path);
  for (const char* part :
       {"<h1>T &amp; B</h1>", "Tokens go as C<sup>0.76</sup>.", "3.1000 … 3.2000", "70 %",
        "&lt;b&gt;mind&lt;/b&gt; this", "tokens are far out", "size is held", "× 0.90", "−29.6 %",
        "Limits: flops 1e+18; 42.0 % of the parameters in the loop."})
    EXPECT_TRUE(has(page, part)) << part;
  const auto lines = split(read_file(tmp / "new/page-plan.csv"), '\n');
  EXPECT_TRUE(lines[0].starts_with("loops,backward_loops,n_once")) << lines[0];
  EXPECT_EQ(lines.size(), 4u);
}

TEST(LawReport, NoCsvUnlessWanted) {
  const TemporaryFolder tmp;
  write_law_report(write_fake_fit(tmp.path()), {.csv = false});
  EXPECT_TRUE(fs::exists(tmp / "report-cells.vl.json"));
  EXPECT_FALSE(fs::exists(tmp / "report-cells.csv"));
}

TEST(LawReport, AFitWrittenByHand) {
  const TemporaryFolder tmp;
  write_file_atomically(tmp / "fit.json",
                        R"({"law": "chinchilla", "parameters":
                            {"E": 1.7, "A": 400, "alpha": 0.34, "B": 410, "beta": 0.28}})");
  const std::string page = read_file(write_law_report(tmp / "fit.json", {.flops = 1e20}));
  EXPECT_TRUE(has(page, "loss that neither size nor data removes"));
  EXPECT_TRUE(has(page, "Compute-optimal loss"));
  EXPECT_FALSE(has(page, "Residuals"));
  // Without a budget there is nothing to draw, and a page all the same.
  EXPECT_FALSE(has(read_file(write_law_report(tmp / "fit.json", {})), "Compute-optimal"));
}

TEST(LawReport, NamesCannotInject) {
  const TemporaryFolder tmp;
  FitResult fit = fake_fit();
  fit.table.files = {"</script><img src=x>"};
  fit.notes = {"<i>note</i>"};
  write_file_atomically(tmp / "fit.json", to_json(fit).dump());
  const std::string page = without_bundle(read_file(write_law_report(tmp / "fit.json", {})));
  for (const char* part : {"<img", "</script><", "<i>note"}) {
    if (std::string(part) == "</script><") continue;  // the end of our own scripts looks like it
    EXPECT_FALSE(has(page, part)) << part;
  }
  EXPECT_TRUE(has(page, "&lt;i&gt;note&lt;/i&gt;"));
}

TEST(LawReport, Refusals) {
  const TemporaryFolder tmp;
  const auto message = [&](const std::string& fit, const std::string& plan = "") {
    write_file_atomically(tmp / "fit.json", fit);
    if (!plan.empty()) write_file_atomically(tmp / "plan.json", plan);
    return error_of([&] {
      write_law_report(tmp / "fit.json", {.plan = plan.empty() ? fs::path() : tmp / "plan.json"});
    });
  };
  EXPECT_TRUE(has(message("nonsense"), "fit.json: not JSON"));
  EXPECT_TRUE(has(message("{}"), "fit.json: law: expected"));
  const std::string good = to_json(fake_fit()).dump();
  EXPECT_TRUE(has(message(good, "[1"), "plan.json: not JSON"));
  EXPECT_TRUE(has(message(good, "{}"), "plan.json: best: expected a list"));
  Json uneven = to_json(fake_fit());
  uneven["data"]["columns"]["tokens"].erase(0);
  EXPECT_TRUE(has(message(uneven.dump()), "data.columns.tokens: expected a list as long as"));
  EXPECT_FALSE(fs::exists(tmp / "report.html"));
  EXPECT_TRUE(has(error_of([&] { write_law_report(tmp / "none.json", {}); }), "none.json"));
}

}  // namespace
}  // namespace rondo
