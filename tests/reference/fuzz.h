// Parsers on damaged input: each must take it or refuse it with an error of ours, and do nothing
// else.
#pragma once

#include <string>

#include "base/error.h"
#include "base/rng.h"

namespace rondo::reference {

/// Runs `parse` on `rounds` results of mutate(good, stream); counts those that were refused.
/// Anything but a rondo::Error ends the test.
template <typename Mutate, typename Parse>
int fuzz(const std::string& good, int rounds, std::uint64_t seed, Mutate&& mutate, Parse&& parse) {
  int refused = 0;
  for (int round = 0; round < rounds; ++round) {
    const RandomStream random(seed, "fuzz", static_cast<std::uint64_t>(round));
    try {
      parse(mutate(good, random));
    } catch (const Error&) {
      ++refused;
    }
  }
  return refused;
}

}  // namespace rondo::reference
