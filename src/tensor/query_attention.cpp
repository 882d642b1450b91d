// Query by query, sequences and groups of heads in parallel.
#include "tensor/query_attention.h"

#include <algorithm>
#include <cmath>

#include "tensor/profile.h"

namespace rondo {
namespace {

// The keys of one query.
struct Seen {
  std::int64_t begin, count;
};

Seen seen_by(const QueryBlock& block, std::int64_t token) {
  const auto own = block.first + token;
  const auto begin = block.window == 0 ? 0 : std::max<std::int64_t>(0, own + 1 - block.window);
  return {begin, own + 1 - begin};
}

// One head of one query.
struct Query {
  std::int64_t token, sequence, head, group;
};

// Long and short sequences in turn, so that threads get as much to do.
std::int64_t in_turn(std::int64_t i, std::int64_t count) {
  return i % 2 == 0 ? i / 2 : count - 1 - i / 2;
}

// Asks for rows that are read, and where `written`, written, a little later.
template <bool written = false>
void fetch(const float* from, const std::int64_t* places, std::int64_t count, std::int64_t width) {
  constexpr std::int64_t kLine = 16;
  for (std::int64_t j = 0; j < count; ++j)
    for (std::int64_t i = 0; i < width; i += kLine)
      __builtin_prefetch(from + places[j] + i, written ? 1 : 0);
}

// Calls work(query, p, d_p), all heads of a group on one thread, since they add to the same
// gradients, and before that ahead(sequence, group, begin, count) with the keys of those that come
// next: every sequence's lie elsewhere, and to find them takes as long as to work on them. Each
// thread gets two rows of scratch for as many keys as a query can see.
template <typename Work, typename Ahead>
void for_queries(const QueryBlock& block, const Work& work, const Ahead& ahead) {
  const auto shared = block.heads / block.groups,
             most = block.first + block.tokens + kScratchPadding;
  const auto each = std::max<std::int64_t>(1, 4096 / (block.tokens * shared * block.width));
  const auto sequences = block.rows->at(block.token);
  at::parallel_for(0, sequences * block.groups, each, [&](std::int64_t begin, std::int64_t end) {
    thread_local std::vector<float> scratch;
    if (scratch.size() < static_cast<std::size_t>(2 * most))
      scratch.resize(static_cast<std::size_t>(2 * most));
    const auto first = seen_by(block, 0).begin, all = block.first + block.tokens - first;
    for (std::int64_t i = begin; i < end; ++i) {
      const auto sequence = in_turn(i / block.groups, sequences), group = i % block.groups;
      if (i + 1 < end)
        ahead(in_turn((i + 1) / block.groups, sequences), (i + 1) % block.groups, first, all);
      for (std::int64_t t = 0; t < block.tokens && sequence < block.rows->at(block.token + t); ++t)
        for (std::int64_t h = 0; h < shared; ++h)
          work(Query{t, sequence, group * shared + h, group}, scratch.data(),
               scratch.data() + most);
    }
  });
}

float factor_of(const QueryBlock& block) {
  return 1.0f / std::sqrt(static_cast<float>(block.width));
}

// A query's place among rows of [H].
std::int64_t query_place(const QueryBlock& block, const Query& query) {
  const auto row = block.rows->before(block.token + query.token) - block.rows->before(block.token) +
                   query.sequence;
  return row * block.heads + query.head;
}

// Where the keys of a sequence and group begin.
std::int64_t keys_place(const KeyPlaces& places, std::int64_t sequence, std::int64_t group) {
  return places.sequence[static_cast<std::size_t>(sequence)] + group * places.head;
}

// Asks for keys and values that come next, and for their gradients where there are any.
struct Fetching {
  const QueryBlock& block;
  const KeyValues& keys;
  float *d_k = nullptr, *d_v = nullptr;

  void operator()(std::int64_t sequence, std::int64_t group, std::int64_t begin,
                  std::int64_t count) const {
    const auto from = keys_place(*keys.places, sequence, group);
    const auto* places = keys.places->position.data() + begin;
    fetch(keys.k + from, places, count, block.width);
    fetch(keys.v + from, places, count, block.width);
    if (d_k == nullptr) return;
    fetch<true>(d_k + from, places, count, block.width);
    fetch<true>(d_v + from, places, count, block.width);
  }
};

}  // namespace

void attend_queries(const QueryBlock& block, const float* q, const KeyValues& keys, float* out,
                    SoftmaxRow* softmax) {
  const ProfileScope scope(Part::kAttention);
  const auto factor = factor_of(block);
  const auto attend = [&](const Query& query, float* p, float*) {
    const auto [begin, count] = seen_by(block, query.token);
    const auto place = query_place(block, query), at = place * block.width,
               from = keys_place(*keys.places, query.sequence, query.group);
    softmax[place] =
        kernels().attend(q + at, keys.k + from, keys.v + from, keys.places->position.data() + begin,
                         count, block.width, factor, p, out + at);
  };
  for_queries(block, attend, Fetching{block, keys});
}

void attend_queries_backward(const QueryBlock& block, const float* q, const KeyValues& keys,
                             const SoftmaxRow* softmax, const float* d_out, float* d_q, float* d_k,
                             float* d_v) {
  const ProfileScope scope(Part::kAttention);
  const auto factor = factor_of(block);
  const auto attend = [&](const Query& query, float* p, float* d_p) {
    const auto [begin, count] = seen_by(block, query.token);
    const auto place = query_place(block, query), at = place * block.width,
               from = keys_place(*keys.places, query.sequence, query.group);
    kernels().attend_backward(q + at, keys.k + from, keys.v + from,
                              keys.places->position.data() + begin, count, block.width, factor,
                              softmax[place], d_out + at, p, d_p, d_q + at, d_k + from, d_v + from);
  };
  for_queries(block, attend, Fetching{block, keys, d_k, d_v});
}

}  // namespace rondo
