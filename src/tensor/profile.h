// Where the time of a training step goes, in words. Off unless someone asks; then each part of the
// work costs two looks at the clock.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <string_view>

namespace rondo {

/// What a step does. Work in none of these scopes is the rest.
enum class Part { kProducts, kAttention, kElementwise, kHead, kOptimizer, kData };
inline constexpr std::size_t kParts = 6;

/// Name of a part as records have it ("head_and_loss") and as people read it.
struct PartName {
  std::string_view key, words;
};
const std::array<PartName, kParts>& part_names();

/// Seconds of each part, by the order of Part.
using PartSeconds = std::array<double, kParts>;

/// Starts or stops counting, in all threads.
void count_parts(bool on);
/// What has been counted so far, summed over threads.
PartSeconds counted_parts();
void clear_counted_parts();

/// Counts the time it lives for `part`. Inside another scope of the same thread it counts nothing:
/// the outer one has the time already, so the products of the head belong to the head.
class ProfileScope {
 public:
  explicit ProfileScope(Part part);
  ~ProfileScope();
  ProfileScope(const ProfileScope&) = delete;
  ProfileScope& operator=(const ProfileScope&) = delete;

 private:
  Part part_;
  bool counts_;
  std::chrono::steady_clock::time_point start_{};
};

}  // namespace rondo
