// Whether 95 % intervals hold the truth about as often as they say. RONDO_REPLICATES=100 makes the
// record in results/laws-coverage.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "tests/law/planted.h"

namespace rondo {
namespace {

TEST(CoverageSlow, IntervalsOfThePlantedJointLawHoldItsExponents) {
  const char* wanted = std::getenv("RONDO_REPLICATES");
  const int replicates = wanted != nullptr ? std::atoi(wanted) : 8;
  const auto form = find_law("joint");
  std::vector<int> covered(form.parameters.size(), 0);
  std::printf("replicate");
  for (const auto& parameter : form.parameters)
    std::printf("\t%s\t%s low\t%s high", parameter.name.c_str(), parameter.name.c_str(),
                parameter.name.c_str());
  std::printf("\n");
  for (int replicate = 0; replicate < replicates; ++replicate) {
    const auto table = planted::runs(form, planted::kJoint, planted::grid(), 16, 0.003,
                                     static_cast<std::uint64_t>(replicate));
    const auto fit = fit_law(form, table, {.starts = 100, .bootstrap = 200});
    std::printf("%d", replicate);
    for (std::size_t i = 0; i < covered.size(); ++i) {
      ASSERT_TRUE(fit.intervals[i].has_value());
      const auto [low, high] = *fit.intervals[i];
      if (low <= planted::kJoint[i] && planted::kJoint[i] <= high) ++covered[i];
      std::printf("\t%.5g\t%.5g\t%.5g", fit.parameters[i], low, high);
    }
    std::printf("\n");
  }
  for (std::size_t i = 0; i < covered.size(); ++i) {
    std::printf("%s: %d of %d\n", form.parameters[i].name.c_str(), covered[i], replicates);
    EXPECT_GE(covered[i], replicates * 3 / 4) << form.parameters[i].name;
  }
}

}  // namespace
}  // namespace rondo
