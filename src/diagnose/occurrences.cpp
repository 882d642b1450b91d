// Numbering the runs of blocks.
#include "diagnose/occurrences.h"

namespace rondo {

std::size_t Occurrences::place(const BlockRun& run) const {
  if (run.part == "prelude") return at(run.layer);
  if (run.part == "core") return at(prelude_ + run.loop * core_ + run.layer);
  return at(prelude_ + loops_ * core_ + run.layer);
}

Occurrence Occurrences::operator[](std::size_t place) const {
  const auto name = [](const char* part, std::int64_t layer) {
    return part + ("." + std::to_string(layer));
  };
  auto rest = static_cast<std::int64_t>(place);
  if (rest < prelude_) return {name("prelude", rest), 0};
  rest -= prelude_;
  if (rest < loops_ * core_) return {name("core", rest % core_), rest / core_ + 1};
  return {name("coda", rest - loops_ * core_), 0};
}

}  // namespace rondo
