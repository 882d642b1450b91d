// Recipes' [data] sections as data, from text and from shards, and the text that ships.
#include "data/dataset.h"

#include <chrono>
#include <cstdlib>

#include "base/shipped.h"
#include "data/pack.h"
#include "tests/data/support.h"

namespace rondo {
namespace {

using testing::contains;
using testing::error_of;
using testing::numbered_documents;
using testing::TempFolder;

DataConfig config_for(const fs::path& path, std::int64_t length = 16) {
  DataConfig config;
  config.path = path.string();
  config.sequence_length = length;
  return config;
}

std::vector<std::int32_t> first_inputs(const Dataset& dataset) {
  std::vector<std::int32_t> inputs = dataset.training.batch(0, 20).inputs;
  const auto held_out = dataset.validation.batch(0, dataset.validation.windows()).inputs;
  inputs.insert(inputs.end(), held_out.begin(), held_out.end());
  return inputs;
}

TEST(Dataset, TextAndItsShardsTrainAlike) {
  for (const int documents : {5, 60}) {
    const TempFolder folder;
    const fs::path text = folder.write("a.txt", numbered_documents(documents));
    PackOptions options;
    options.inputs = {text};
    options.out = folder.path() / "shards";
    options.shard_tokens = 400;
    pack(options, *open_tokenizer("bytes"));
    const Dataset from_text = open_dataset(config_for(text));
    DataConfig config = config_for(options.out);
    config.source = DataSource::kTokens;
    const Dataset from_shards = open_dataset(config);
    EXPECT_EQ(first_inputs(from_text), first_inputs(from_shards));
    EXPECT_EQ(from_text.documents, from_shards.documents);
    EXPECT_EQ(from_text.text_bytes, from_shards.text_bytes);
  }
}

TEST(Dataset, ValidationOfItsOwn) {
  const TempFolder folder;
  const fs::path text = folder.write("a.txt", numbered_documents(30));
  const fs::path held_out = folder.write("v.txt", "held out\n");
  DataConfig config = config_for(text);
  config.validation = held_out.string();
  const Dataset dataset = open_dataset(config);
  EXPECT_EQ(dataset.documents, 30u);
  EXPECT_EQ(dataset.validation_documents, 1u);
  EXPECT_EQ(dataset.validation.tokens(), 9u);
  config.validation = text.string();
  EXPECT_TRUE(contains(error_of([&] { open_dataset(config); }), "is also training data"));
  config.validation = (folder.path() / "none").string();
  EXPECT_TRUE(contains(error_of([&] { open_dataset(config); }), "no such file or folder"));
}

TEST(Dataset, TheSplitDoesNotFollowTheSeed) {
  const TempFolder folder;
  DataConfig config = config_for(folder.write("a.txt", numbered_documents(60)));
  const Dataset one = open_dataset(config);
  config.seed = 7;
  const Dataset two = open_dataset(config);
  EXPECT_EQ(one.validation.batch(0, 2).inputs, two.validation.batch(0, 2).inputs);
  EXPECT_NE(one.training.batch(0, 2).inputs, two.training.batch(0, 2).inputs);
  EXPECT_EQ(one.sha256, two.sha256);
}

TEST(Dataset, HashFollowsTheContent) {
  const TempFolder folder;
  const std::string text = numbered_documents(3);
  const fs::path file = folder.write("a.txt", text);
  EXPECT_EQ(open_dataset(config_for(file)).sha256, sha256(text));
  folder.write("b.txt", text);
  EXPECT_EQ(open_dataset(config_for(folder.path())).sha256,
            sha256(sha256(text) + "\n" + sha256(text) + "\n"));
  folder.write("b.txt", text + "x");
  EXPECT_NE(open_dataset(config_for(folder.path())).sha256,
            sha256(sha256(text) + "\n" + sha256(text) + "\n"));
}

TEST(Dataset, BadSettingsAreErrors) {
  const TempFolder folder;
  const fs::path file = folder.write("a.txt", numbered_documents(3));
  DataConfig config = config_for(file);
  for (const char* share : {"0", "1", "5", "-0.1", "nan", "inf"}) {
    config.validation = share;
    EXPECT_TRUE(contains(error_of([&] { open_dataset(config); }), "above 0 and below 1")) << share;
  }
  EXPECT_TRUE(contains(error_of([&] { open_dataset(config_for(file, 4096)); }),
                       "fewer than one sequence of 4097"));
  EXPECT_TRUE(contains(error_of([&] { open_dataset(config_for(folder.write("e.txt", "\n"))); }),
                       "there is no text in it"));
  config = config_for(file);
  config.source = DataSource::kTokens;
  EXPECT_TRUE(contains(error_of([&] { open_dataset(config); }), "is not a token shard"));
}

TEST(Dataset, ShippedTextIsFoundFromAnywhere) {
  const TempFolder folder;
  const fs::path file = folder.write("data/some/a.txt", numbered_documents(3));
  ::setenv("RONDO_HOME", folder.path().c_str(), 1);
  EXPECT_EQ(find_shipped("data/some/a.txt"), file);
  EXPECT_EQ(find_shipped("data/none"), "data/none");
  EXPECT_EQ(find_shipped("some/a.txt"), "some/a.txt");
  EXPECT_EQ(open_dataset(config_for("data/some/a.txt")).documents, 3u);
  ::unsetenv("RONDO_HOME");
}

TEST(Dataset, ShippedTextbooksOpenQuickly) {
  if (!fs::exists("data/textbooks")) GTEST_SKIP() << "not in the repository's root";
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  const Dataset dataset = open_dataset(config_for("data/textbooks", 256));
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  RecordProperty("seconds", std::to_string(seconds));
  std::printf("opened in %.1f ms\n%s\n", 1e3 * seconds, dataset.description.c_str());
  EXPECT_GE(dataset.documents + dataset.validation_documents, 200u);
  EXPECT_GT(dataset.validation_documents, 5u);
  EXPECT_LT(seconds, 2.0) << "0.1 s is the aim; this only guards against a slip in kind";
}

}  // namespace
}  // namespace rondo
