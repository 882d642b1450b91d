// The arena: blocks never overlap, free neighbours become one, and nothing is lost.
#include "tensor/arena.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <thread>
#include <vector>

#include "base/rng.h"

namespace rondo {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

TEST(Arena, NeighboursBecomeOneBlock) {
  Arena arena(64 * kMiB);
  void* first = arena.allocate(kMiB);
  void* second = arena.allocate(kMiB);
  void* third = arena.allocate(kMiB);
  const auto touched = arena.use().touched;
  arena.release(first);
  arena.release(third);
  arena.release(second);
  EXPECT_EQ(arena.use().live, 0);
  EXPECT_EQ(arena.allocate(3 * kMiB), first);
  EXPECT_EQ(arena.use().touched, touched);
}

TEST(Arena, TakesTheSmallestThatFits) {
  Arena arena(64 * kMiB);
  void* wide = arena.allocate(4 * kMiB);
  void* wall = arena.allocate(kMiB);
  void* tight = arena.allocate(2 * kMiB);
  void* end = arena.allocate(kMiB);
  arena.release(wide);
  arena.release(tight);
  EXPECT_EQ(arena.allocate(2 * kMiB), tight);
  EXPECT_EQ(arena.allocate(3 * kMiB), wide);
  arena.release(wall);
  arena.release(end);
}

TEST(Arena, GrowsIntoWhatIsFreeAtItsEnd) {
  Arena arena(64 * kMiB);
  void* first = arena.allocate(kMiB);
  void* last = arena.allocate(kMiB);
  arena.release(last);
  EXPECT_EQ(arena.allocate(8 * kMiB), last);
  EXPECT_LT(arena.use().touched, 10 * kMiB);
  arena.release(first);
}

TEST(Arena, SaysWhenItIsFull) {
  Arena arena(4 * kMiB);
  EXPECT_EQ(arena.allocate(5 * kMiB), nullptr);
  void* most = arena.allocate(3 * kMiB);
  EXPECT_NE(most, nullptr);
  EXPECT_EQ(arena.allocate(2 * kMiB), nullptr);
  arena.release(most);
  EXPECT_NE(arena.allocate(3 * kMiB), nullptr);
}

TEST(Arena, PeakCountsWhatWasHeldAtOnce) {
  Arena arena(64 * kMiB);
  void* first = arena.allocate(8 * kMiB);
  arena.release(first);
  EXPECT_GE(arena.use().peak, 8 * kMiB);
  arena.forget_peak();
  EXPECT_EQ(arena.use().peak, 0);
}

// Random demands on four threads, each of which marks its blocks and looks whether the marks hold.
TEST(Arena, BlocksStayApartUnderThreads) {
  Arena arena(256 * kMiB);
  std::vector<int> broken(4, 0);
  std::vector<std::thread> threads;
  for (std::size_t id = 0; id < broken.size(); ++id)
    threads.emplace_back([&, id] {
      const RandomStream stream(7, "arena", id);
      std::map<std::size_t, std::pair<unsigned char*, std::size_t>> held;
      const auto mark = static_cast<int>(id + 1);
      for (std::size_t i = 0; i < 4000; ++i) {
        const auto slot = static_cast<std::size_t>(stream.below(24, 2 * i));
        if (const auto at = held.find(slot); at != held.end()) {
          const auto [block, size] = at->second;
          for (const std::size_t place : {std::size_t{0}, size / 2, size - 1})
            if (block[place] != mark) ++broken[id];
          arena.release(block);
          held.erase(at);
        } else {
          const auto size = 1 + static_cast<std::size_t>(stream.below(1 << 18, 2 * i + 1));
          auto* block = static_cast<unsigned char*>(arena.allocate(size));
          if (block == nullptr || reinterpret_cast<std::uintptr_t>(block) % 64 != 0) {
            ++broken[id];
            continue;
          }
          std::memset(block, mark, size);
          held.emplace(slot, std::pair{block, size});
        }
      }
      for (const auto& [slot, block] : held) arena.release(block.first);
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(broken, std::vector<int>(4, 0));
  EXPECT_EQ(arena.use().live, 0);
  // All of it is one free block again.
  const auto touched = arena.use().touched;
  EXPECT_NE(arena.allocate(touched - kMiB), nullptr);
  EXPECT_EQ(arena.use().touched, touched);
}

}  // namespace
}  // namespace rondo
