// Published laws again, on small folders made here: what is read, skipped and said to agree.
#include "plan/published.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "tests/record/fake_runs.h"

namespace rondo {
namespace {

using test::error_of;
using test::TemporaryFolder;

const PublishedOptions kQuick = {.starts = 20, .bootstrap = 20, .chinchilla_bootstrap = 20};

void write(const fs::path& path, const std::string& text) {
  create_folder(path.parent_path());
  write_file_atomically(path, text);
}

const PublishedRow& row_of(const PublishedTable& table, const std::string& parameter) {
  for (const auto& row : table.rows)
    if (row.parameter == parameter) return row;
  fail("no row {}", parameter);
}

// Runs on the surface that Besiroglu et al. print, without noise.
std::string chinchilla_runs() {
  std::string text = "C,N,D,loss\n";
  for (const double n : {1e8, 3e8, 1e9, 3e9, 1e10})
    for (const double d : {2e9, 6e9, 2e10, 6e10, 2e11, 6e11})
      text += fmt::format(
          "{},{},{},{:.12g}\n", 6 * n * d, n, d,
          1.81686 + 482.00572 * std::pow(n, -0.34781) + 2085.4342 * std::pow(d, -0.36585));
  return text;
}

TEST(Published, FindsWhatATableWasMadeOf) {
  const TemporaryFolder data;
  write(data / "scaling_laws/chinchilla_kyo_takano_df.csv", chinchilla_runs());
  const auto table = published_laws(data.path(), kQuick);
  for (const char* parameter : {"E", "A", "alpha", "B", "beta"}) {
    const auto& row = row_of(table, parameter);
    EXPECT_EQ(row.rows, 30U);
    EXPECT_EQ(row.law, "chinchilla");
    EXPECT_NEAR(row.refitted / *row.published, 1, 1e-4) << parameter;
    EXPECT_EQ(row.agrees(), true);
    EXPECT_EQ(row.by(), "tolerance");
    EXPECT_TRUE(row.interval.has_value());
  }
  EXPECT_EQ(table.skipped.size(), 7U);
  EXPECT_EQ(table.skipped.front(),
            "Chinchilla, Epoch's points: not there: "
            "scaling_laws/chinchilla_epoch_svg_extracted_data.csv");

  const auto csv = to_csv(table);
  EXPECT_TRUE(csv.starts_with("study,rows,law,parameter,published,refitted,low,high,"));
  EXPECT_NE(csv.find("\"Chinchilla, Kyo-Takano's points\",30,chinchilla,E,1.81686,1.81686"),
            csv.npos)
      << csv;
  const auto markdown = to_markdown(table);
  EXPECT_NE(markdown.find("## Skipped"), markdown.npos);
  EXPECT_NE(markdown.find(agreement_rule()), markdown.npos);
  const auto json = to_json(table);
  EXPECT_EQ(json["rows"].size(), table.rows.size());
  EXPECT_EQ(json["rows"][0]["agrees"], true);
  EXPECT_EQ(json["skipped"].size(), 7U);
}

TEST(Published, AgreementByToleranceOrInterval) {
  PublishedRow row;
  row.refitted = 1.5;
  EXPECT_FALSE(row.agrees().has_value());  // nothing published
  row.published = 1.4;
  EXPECT_EQ(row.agrees(), false);
  row.tolerance = 0.1;
  EXPECT_EQ(row.by(), "tolerance");
  row.tolerance = 0.05;
  EXPECT_EQ(row.agrees(), false);
  row.interval = {1.3, 1.6};
  EXPECT_EQ(row.agrees(), true);
  EXPECT_EQ(row.by(), "interval");
  row.refitted = std::nan("");  // not determined
  EXPECT_EQ(row.agrees(), false);
}

// T* = 2.5 (C / 1e18)^0.4 at one size; one point is covered and far off.
TEST(Published, LoopsAtAFixedSize) {
  std::string text = "scale,flops,mean_recurrence,val_loss,occluded_by_star\n";
  for (const double budget : {1e18, 2e18, 4e18, 8e18}) {
    const double best = 2.5 * std::pow(budget / 1e18, 0.4);
    for (const double loops : {2.0, 4.0, 6.0, 8.0, 10.0, 12.0}) {
      const double step = std::log(loops / best);
      const bool covered = budget == 2e18 && loops == 4;
      text += fmt::format("140M,{},{},{:.12g},{}\n", budget, loops,
                          50 * std::pow(budget, -0.07) + 0.03 * step * step + (covered ? 1 : 0),
                          covered ? "yes" : "");
    }
  }
  const TemporaryFolder data;
  write(data / "looped_results/parcae/isoflop_digitised.csv", text);
  const auto table = published_laws(data.path(), kQuick);
  const auto& loops = row_of(table, "T* exponent, 140M");
  EXPECT_NEAR(loops.refitted, 0.4, 1e-9);
  EXPECT_EQ(loops.agrees(), true);
  EXPECT_EQ(loops.rows, 23U);
  // A token costs something that does not grow with T, so the exponents add up to more than 1.
  EXPECT_GT(row_of(table, "D* exponent, 140M").refitted, 0.75);
  EXPECT_GT(row_of(table, "D* exponent, 140M").refitted,
            row_of(table, "D* exponent, value embeddings free, 140M").refitted);
}

// 20 layers of 12 d² in r loops, as the published widths are, to five digits.
TEST(Published, FlopsPerToken) {
  std::string text = "r,s,log_s,log_N_once,log_n_block,log_F_per_token,log_N_total\n";
  for (const double r : {1.0, 2.0, 8.0})
    for (const double s : {6.0, 34.0}) {
      const double d = 64 * s, injection = r > 1 ? 12 * r * d * d : 0;
      const double flops = 6 * 20 * 12 * d * d + injection + 20 * 12 * d * 2048 + 6 * 32064 * d;
      const double five = std::pow(10.0, std::floor(std::log10(flops)) - 4);
      text += fmt::format("{},{},{},0,0,{},0\n", r, s, std::log(s),
                          std::log(std::round(flops / five) * five));
    }
  const TemporaryFolder data;
  write(data / "looped_results/isodepth_schwethelm/width_tables.csv", text);
  const auto table = published_laws(data.path(), kQuick);
  ASSERT_EQ(table.rows.size(), 3U);
  EXPECT_LT(table.rows[0].refitted, 5.1e-5 + 1.6e-4);  // gains of norms, which are not in here
  EXPECT_EQ(table.rows[2].refitted, 0);
}

TEST(Published, SaysWhatIsWrong) {
  const TemporaryFolder data;
  const auto none = error_of([&] { published_laws(data.path(), kQuick); });
  EXPECT_NE(none.find("no published table in it; expected files such as scaling_laws/"), none.npos)
      << none;
  const auto nowhere = error_of([&] { published_laws(data / "nowhere", kQuick); });
  EXPECT_NE(nowhere.find("nowhere: no such folder"), nowhere.npos) << nowhere;
  write(data / "looped_results/parcae/isoflop_digitised.csv",
        "scale,flops,val_loss,occluded_by_star\n140M,1e18,3.4,\n");
  const auto column = error_of([&] { published_laws(data.path(), kQuick); });
  EXPECT_NE(column.find("no column mean_recurrence"), column.npos) << column;
}

}  // namespace
}  // namespace rondo
