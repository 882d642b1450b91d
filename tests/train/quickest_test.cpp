// Choices by measurement: they are allowed ones, they are kept, and kept ones are used.
#include "train/quickest.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "base/files.h"
#include "config/recipe.h"
#include "tensor/gemm.h"
#include "train/choices.h"

namespace rondo {
namespace {

class Quickest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("rondo-quickest-" + std::to_string(::getpid()));
    fs::create_directories(folder_);
    ::setenv("RONDO_CACHE", folder_.c_str(), 1);
  }
  void TearDown() override {
    ::unsetenv("RONDO_CACHE");
    fs::remove_all(folder_);
    use_gemm(Gemm::kLibtorch);
  }

  static Config config() {
    return parse_recipe(
        "", "small",
        {"model.d_model=32", "model.heads=2", "train.batch=24", "data.sequence_length=128",
         "engine.threads=1", "engine.gemm=onednn", "train.precision=fp32"});
  }

  fs::path file() const { return folder_ / "choices.json"; }

  void replace_in_file(const std::string& what, const std::string& by) const {
    auto text = read_file(file());
    const auto at = text.rfind(what);
    ASSERT_NE(at, std::string::npos) << text;
    std::ofstream(file()) << text.replace(at, what.size(), by);
  }

  fs::path folder_;
};

TEST_F(Quickest, TheMicroBatchDividesTheBatchAndFits) {
  for (const std::int64_t fits : {1, 5, 24, 1000}) {
    const auto micro = quickest_micro_batch(config(), fits);
    EXPECT_EQ(24 % micro, 0);
    EXPECT_LE(micro, fits);
    EXPECT_GE(micro, 1);
  }
}

TEST_F(Quickest, AChoiceIsKeptAndUsedAgain) {
  const auto first = quickest_micro_batch(config(), 24);
  EXPECT_EQ(quickest_micro_batch(config(), 24), first);
  // What the file says counts, if it is one of the candidates: 4, 8, 12 or 24 of 128 tokens.
  const std::int64_t other = first == 8 ? 12 : 8;
  replace_in_file('"' + std::to_string(first) + '"', '"' + std::to_string(other) + '"');
  EXPECT_EQ(quickest_micro_batch(config(), 24), other);
  replace_in_file('"' + std::to_string(other) + '"', "\"7\"");
  EXPECT_NE(quickest_micro_batch(config(), 24), 7);
}

TEST_F(Quickest, ADamagedFileIsMeasuredAgain) {
  std::ofstream(file()) << "{\"half";
  EXPECT_FALSE(kept_choice("question").has_value());
  keep_choice("question", "answer");
  EXPECT_EQ(kept_choice("question"), "answer");
  EXPECT_FALSE(kept_choice("another").has_value());
}

TEST_F(Quickest, AFileThatCannotBeWrittenIsNoError) {
  ::setenv("RONDO_CACHE", "/proc/nowhere", 1);
  keep_choice("question", "answer");
  EXPECT_FALSE(kept_choice("question").has_value());
  EXPECT_GE(quickest_micro_batch(config(), 24), 1);
}

TEST_F(Quickest, TheLibraryOfProductsIsKeptToo) {
  auto recipe = config();
  recipe.engine.gemm = GemmChoice::kAuto;
  const auto first = quickest_gemm_for(recipe);
  const bool onednn = first == GemmChoice::kOnednn;
  replace_in_file(onednn ? "\"onednn\"" : "\"libtorch\"", onednn ? "\"libtorch\"" : "\"onednn\"");
  EXPECT_NE(quickest_gemm_for(recipe), first);
  recipe.engine.fused = false;
  EXPECT_EQ(quickest_gemm_for(recipe), GemmChoice::kLibtorch);
}

}  // namespace
}  // namespace rondo
