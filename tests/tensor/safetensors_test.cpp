// Safetensors: round trip, and every way in which a file can be damaged.
#include "tensor/safetensors.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "base/rng.h"

namespace rondo {
namespace {

class Safetensors : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("rondo-safetensors-" + std::to_string(::getpid()));
    fs::create_directories(folder_);
    path_ = folder_ / "x.safetensors";
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write_raw(const std::string& header, const std::string& data) {
    std::ofstream out(path_, std::ios::binary);
    std::uint64_t length = header.size();
    out.write(reinterpret_cast<const char*>(&length), 8);
    out << header << data;
  }
  std::string error() {
    try {
      read_safetensors(path_);
    } catch (const Error& e) {
      return std::string(e.what()).substr(path_.string().size());
    }
    return "no error";
  }

  fs::path folder_, path_;
};

TEST_F(Safetensors, RoundTrip) {
  TensorFile file;
  file.tensors["a"] = at::arange(6, at::kFloat).view({2, 3}).t();  // not contiguous
  file.tensors["b.c"] = at::arange(5, at::kLong);
  file.tensors["empty"] = at::empty({0, 4}, at::kDouble);
  file.tensors["scalar"] = at::scalar_tensor(2.5, at::kBFloat16);
  file.metadata = {{"rondo.config", "seed = 1\n\"quoted\""}, {"x", ""}};
  write_safetensors(path_, file);
  const auto back = read_safetensors(path_);
  EXPECT_EQ(back.metadata, file.metadata);
  ASSERT_EQ(back.tensors.size(), file.tensors.size());
  for (const auto& [name, tensor] : file.tensors) {
    EXPECT_TRUE(back.tensors.at(name).equal(tensor)) << name;
    EXPECT_EQ(back.tensors.at(name).scalar_type(), tensor.scalar_type());
  }
  EXPECT_EQ(read_safetensors_metadata(path_), file.metadata);
}

TEST_F(Safetensors, SaysWhatIsWrong) {
  EXPECT_EQ(error(), ": no such file");
  std::ofstream(path_) << "abc";
  EXPECT_NE(error().find("not a safetensors file, or truncated"), std::string::npos);
  write_raw("{oops", "");
  EXPECT_EQ(error(), ": the safetensors header is not JSON");
  write_raw(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", "1234");
  EXPECT_EQ(error(), ": tensor a: its data lie outside the file; the file is damaged");
  write_raw(R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", "12345678");
  EXPECT_EQ(error(), ": tensor a: its shape and its data differ in size; the file is damaged");
  write_raw(R"({"a":{"dtype":"C64","shape":[1],"data_offsets":[0,8]}})", "12345678");
  EXPECT_EQ(error(), ": tensor a: unknown dtype \"C64\"; the file is damaged");
  write_raw(R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,8]}})", "12345678");
  EXPECT_NE(error().find("not a list of whole numbers"), std::string::npos);
  write_raw(
      R"({"a":{"dtype":"F32","shape":[4294967296,4294967296,4294967296],"data_offsets":[0,8]}})",
      "12345678");
  EXPECT_NE(error().find("larger than the file"), std::string::npos);
}

TEST_F(Safetensors, AnyDamageIsAnErrorOrReads) {
  TensorFile file;
  file.tensors["weights"] = at::arange(8, at::kFloat);
  file.tensors["ids"] = at::arange(3, at::kLong);
  file.metadata = {{"k", "v"}};
  write_safetensors(path_, file);
  const std::string good = read_file(path_);
  const RandomStream random(7, "fuzz");
  for (std::uint64_t trial = 0; trial < 2000; ++trial) {
    std::string bad = good;
    for (std::uint64_t i = 0; i <= trial % 3; ++i)
      bad[random.below(bad.size(), 8 * trial + i)] =
          static_cast<char>(random.below(256, 8 * trial + 4 + i));
    if (trial % 4 == 0) bad.resize(random.below(bad.size(), 8 * trial + 7));
    std::ofstream(path_, std::ios::binary) << bad;
    try {
      read_safetensors(path_);
    } catch (const Error&) {
      // An error that names the damage is as good as a reading of bytes that are still valid.
    }
  }
}

TEST_F(Safetensors, AFullDiskLeavesNothingBehind) {
  TensorFile file;
  file.tensors["a"] = at::zeros({4});
  EXPECT_THROW(write_safetensors("/dev/full/x", file), Error);
  EXPECT_THROW(write_safetensors(folder_ / "missing" / "x", file), Error);
  EXPECT_TRUE(fs::is_empty(folder_));
}

}  // namespace
}  // namespace rondo
