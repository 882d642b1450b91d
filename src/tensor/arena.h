// Where tensors' memory comes from: one range of addresses that is cut, joined again and kept.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <set>
#include <unordered_map>
#include <utility>

namespace rondo {

/// Bytes of an arena.
struct ArenaUse {
  std::size_t live = 0;     ///< in blocks that are held
  std::size_t peak = 0;     ///< the most that were held at once
  std::size_t touched = 0;  ///< of the range, handed out at least once: the machine's memory it has
};

/// Blocks out of one contiguous range. A step asks for the same sizes as the step before; what one
/// frees the next gets again, without the system's help: no page faults after the first steps, and
/// nothing is lost between blocks, as neighbours that are free become one. Thread-safe.
class Arena {
 public:
  /// Reserves addresses for up to `capacity` bytes; memory is taken as it is used.
  explicit Arena(std::size_t capacity);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// A block of at least `bytes`, aligned for vectors; null when the range is full.
  void* allocate(std::size_t bytes);

  /// Gives a block of this arena back.
  void release(void* block);

  /// Whether an address lies in the arena's range.
  [[nodiscard]] bool holds(const void* address) const;

  [[nodiscard]] ArenaUse use() const;

  /// Counts the peak from what is held now.
  void forget_peak();

 private:
  void add_free(char* at, std::size_t size);
  void remove_free(std::map<char*, std::size_t>::iterator place);

  mutable std::mutex mutex_;
  char* base_ = nullptr;
  std::size_t capacity_ = 0;
  std::size_t touched_ = 0;  ///< the range's first part, cut into the blocks below
  std::size_t live_ = 0, peak_ = 0;
  std::unordered_map<void*, std::size_t> held_;    ///< size by address
  std::map<char*, std::size_t> free_;              ///< size by address
  std::set<std::pair<std::size_t, char*>> sizes_;  ///< the same by size
};

/// Lets tensors' large blocks come from one arena of this process from now on; small ones stay with
/// the system. Does nothing where memory is checked by a sanitizer, whose work it would hide.
void keep_freed_memory();

/// What large blocks of tensors take, once keep_freed_memory() was called.
ArenaUse tensor_memory();
void forget_tensor_peak();

}  // namespace rondo
