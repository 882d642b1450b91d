// What the machine says about itself is sane.
#include "base/machine.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace rondo {
namespace {

TEST(Machine, FiguresAreInOrder) {
  EXPECT_GE(available_cores(), 1);
  EXPECT_GT(total_memory_bytes(), 0U);
  EXPECT_LE(free_memory_bytes(), total_memory_bytes());
  EXPECT_GT(resident_bytes(), 0U);
  EXPECT_GE(peak_resident_bytes(), resident_bytes());
  EXPECT_NE(machine_name().find(" cores, "), std::string::npos) << machine_name();
}

TEST(Machine, ResidentMemoryFollowsUse) {
  const auto before = resident_bytes();
  const std::vector<char> block(64 << 20, 1);
  EXPECT_GE(resident_bytes(), before + (60 << 20));
  EXPECT_EQ(block.back(), 1);
}

TEST(Machine, Bf16NeedsOneOfTheUnits) {
  EXPECT_FALSE(CpuFeatures{}.bf16());
  EXPECT_TRUE(CpuFeatures{.amx_bf16 = true}.bf16());
  EXPECT_TRUE(CpuFeatures{.avx512_bf16 = true}.bf16());
}

}  // namespace
}  // namespace rondo
