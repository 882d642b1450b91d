// Where shipped files are looked for.
#include "base/shipped.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "base/error.h"

namespace rondo {
namespace {

/// A home with one recipe, named by RONDO_HOME for the length of a test.
class Shipped : public testing::Test {
 public:
  Shipped() : home_(fs::temp_directory_path() / fmt::format("rondo-home-{}", ::getpid())) {
    create_folder(home_ / "recipes");
    write_file_atomically(home_ / "recipes" / "only-shipped.toml", "seed = 1\n");
    if (const char* before = std::getenv("RONDO_HOME")) before_ = before;
    ::setenv("RONDO_HOME", home_.c_str(), 1);
  }
  ~Shipped() override {
    if (before_.empty()) {
      ::unsetenv("RONDO_HOME");
    } else {
      ::setenv("RONDO_HOME", before_.c_str(), 1);
    }
    std::error_code ignored;
    fs::remove_all(home_, ignored);
  }

 protected:
  const fs::path home_;
  std::string before_;
};

TEST_F(Shipped, HomeIsTheOnlyRootWhenSet) {
  EXPECT_EQ(shipped_roots(), std::vector<fs::path>{home_});
  ::unsetenv("RONDO_HOME");
  EXPECT_EQ(shipped_roots().size(), 3U);
}

TEST_F(Shipped, ARelativeShippedPathIsFound) {
  EXPECT_EQ(find_shipped("recipes/only-shipped.toml"), home_ / "recipes" / "only-shipped.toml");
}

TEST_F(Shipped, EverythingElseStaysAsWritten) {
  for (const char* path : {"", "recipes/nowhere.toml", "only-shipped.toml", "src", "../recipes/x"})
    EXPECT_EQ(find_shipped(path), path);
  EXPECT_EQ(find_shipped(home_ / "absent"), home_ / "absent");
}

}  // namespace
}  // namespace rondo
