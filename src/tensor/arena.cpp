// Best fit with neighbours joined, and the tensor library's way to it.
#include "tensor/arena.h"

#include <c10/core/CPUAllocator.h>
#include <malloc.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <new>

#include "base/machine.h"
#include "tensor/torch.h"

namespace rondo {
namespace {

/// Of vectors and cache lines.
constexpr std::size_t kAlignment = 64;

/// Left free after each block, so that blocks of round sizes do not all start in the same sets of
/// the caches.
constexpr std::size_t kStagger = 2 * kAlignment;

std::size_t round_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

}  // namespace

Arena::Arena(std::size_t capacity) : capacity_(round_up(capacity, kAlignment)) {
  // Addresses alone cost nothing, but a limit on them may be set: then fewer have to do.
  for (; capacity_ >= kAlignment; capacity_ = round_up(capacity_ / 2, kAlignment)) {
    void* range = ::mmap(nullptr, capacity_, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range != MAP_FAILED) {
      base_ = static_cast<char*>(range);
      ::madvise(range, capacity_, MADV_HUGEPAGE);
      return;
    }
  }
  capacity_ = 0;
}

Arena::~Arena() {
  if (base_ != nullptr) ::munmap(base_, capacity_);
}

void Arena::add_free(char* at, std::size_t size) {
  free_.emplace(at, size);
  sizes_.emplace(size, at);
}

void Arena::remove_free(std::map<char*, std::size_t>::iterator place) {
  sizes_.erase({place->second, place->first});
  free_.erase(place);
}

void* Arena::allocate(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  const std::size_t size = round_up(bytes, kAlignment) + kStagger;
  char* block = nullptr;
  if (const auto fit = sizes_.lower_bound({size, nullptr}); fit != sizes_.end()) {
    const auto [found, at] = *fit;
    remove_free(free_.find(at));
    if (found > size) add_free(at + size, found - size);
    block = at;
  } else {
    // What is free at the end of the touched part is the start of the new block.
    std::size_t start = touched_;
    if (!free_.empty()) {
      const auto last = std::prev(free_.end());
      if (last->first + last->second == base_ + touched_) start -= last->second;
    }
    if (size > capacity_ - start) return nullptr;
    if (start < touched_) remove_free(std::prev(free_.end()));
    block = base_ + start;
    touched_ = start + size;
  }
  held_.emplace(block, size);
  live_ += size;
  peak_ = std::max(peak_, live_);
  return block;
}

void Arena::release(void* block) {
  const std::lock_guard lock(mutex_);
  const auto place = held_.find(block);
  char* at = static_cast<char*>(block);
  std::size_t size = place->second;
  live_ -= size;
  held_.erase(place);
  const auto after = free_.lower_bound(at);
  const auto before = after == free_.begin() ? free_.end() : std::prev(after);
  if (after != free_.end() && at + size == after->first) {
    size += after->second;
    remove_free(after);
  }
  if (before != free_.end() && before->first + before->second == at) {
    at = before->first;
    size += before->second;
    remove_free(before);
  }
  add_free(at, size);
}

ArenaUse Arena::use() const {
  const std::lock_guard lock(mutex_);
  return {.live = live_, .peak = peak_, .touched = touched_};
}

void Arena::forget_peak() {
  const std::lock_guard lock(mutex_);
  peak_ = live_;
}

bool Arena::holds(const void* address) const {
  const auto* at = static_cast<const char*>(address);
  return at >= base_ && at < base_ + capacity_;
}

namespace {

/// Blocks from here on come out of the arena: below, the system's own lists are as good.
constexpr std::size_t kLarge = 64 << 10;

Arena& process_arena() {
  // Never destroyed: tensors may outlive everything else.
  static auto* arena = new Arena(total_memory_bytes());
  return *arena;
}

void release_tensor(void* block) {
  if (process_arena().holds(block))
    process_arena().release(block);
  else
    std::free(block);
}

class TensorAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    if (bytes == 0) return {nullptr, nullptr, &release_tensor, c10::Device(c10::kCPU)};
    void* block = bytes >= kLarge ? process_arena().allocate(bytes) : nullptr;
    if (block == nullptr && ::posix_memalign(&block, kAlignment, bytes) != 0)
      throw std::bad_alloc();
    return {block, block, &release_tensor, c10::Device(c10::kCPU)};
  }

  [[nodiscard]] c10::DeleterFnPtr raw_deleter() const override { return &release_tensor; }

  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }
};

}  // namespace

ArenaUse tensor_memory() { return process_arena().use(); }

void forget_tensor_peak() { process_arena().forget_peak(); }

void keep_freed_memory() {
#if !defined(__SANITIZE_ADDRESS__)
  static TensorAllocator allocator;
  constexpr std::uint8_t kPriority = 1;
  c10::SetCPUAllocator(&allocator, kPriority);
#endif
  ::mallopt(M_MMAP_MAX, 0);
  ::mallopt(M_TRIM_THRESHOLD, -1);
}

}  // namespace rondo
