// Room for keys and values that grow.
#include "nn/kv_cache.h"

#include <algorithm>

namespace rondo {
namespace {

constexpr std::int64_t kFirstRoom = 64;

/// `old` with room for `room` positions; of the shape of `like_BGTK` when there is none.
Tensor with_room(const Tensor& old, const Tensor& like_BGTK, std::int64_t length,
                 std::int64_t room) {
  auto grown = at::empty({like_BGTK.size(0), like_BGTK.size(1), room, like_BGTK.size(3)},
                         like_BGTK.options());
  if (length > 0) grown.narrow(2, 0, length).copy_(old.narrow(2, 0, length));
  return grown;
}

}  // namespace

void KvCache::append(const Tensor& k_BTGK, const Tensor& v_BTGK) {
  const auto k = k_BTGK.transpose(1, 2), v = v_BTGK.transpose(1, 2);
  const auto needed = length_ + k.size(2);
  if (!k_BGSK_.defined() || k_BGSK_.size(2) < needed) {
    const auto room = std::max({kFirstRoom, needed, 2 * length_});
    k_BGSK_ = with_room(k_BGSK_, k, length_, room);
    v_BGSK_ = with_room(v_BGSK_, v, length_, room);
  }
  k_BGSK_.narrow(2, length_, k.size(2)).copy_(k);
  v_BGSK_.narrow(2, length_, k.size(2)).copy_(v);
  length_ = needed;
}

}  // namespace rondo
