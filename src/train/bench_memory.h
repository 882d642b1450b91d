// Peak memory of one piece of work, apart from all others.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

namespace rondo {

/// Does `work` in a child process and returns the most memory that was resident there; nothing when
/// the child failed. The child is a copy of this process as it stands, so call this before anything
/// has started threads or allocated much.
std::optional<std::uint64_t> peak_in_child(const std::function<void()>& work);

}  // namespace rondo
