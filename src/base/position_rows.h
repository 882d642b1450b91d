// Where the positions of several sequences lie when they are stored position by position.
#pragma once

#include <cstdint>
#include <vector>

namespace rondo {

/// Position t of sequence b is row first[t] + b. Sequences are sorted by falling length and those
/// that have ended have no row, so rows lie close and one position is one block of them.
struct PositionRows {
  std::vector<std::int64_t> first = {0};  ///< [positions + 1]; the last is the number of rows

  [[nodiscard]] std::int64_t positions() const {
    return static_cast<std::int64_t>(first.size()) - 1;
  }
  [[nodiscard]] std::int64_t rows() const { return first.back(); }
  /// Rows before position t.
  [[nodiscard]] std::int64_t before(std::int64_t t) const {
    return first[static_cast<std::size_t>(t)];
  }
  /// Sequences that reach position t.
  [[nodiscard]] std::int64_t at(std::int64_t t) const { return before(t + 1) - before(t); }

  /// The position of every row.
  [[nodiscard]] std::vector<std::int64_t> positions_of_rows() const {
    std::vector<std::int64_t> list;
    list.reserve(static_cast<std::size_t>(rows()));
    for (std::int64_t t = 0; t < positions(); ++t)
      list.insert(list.end(), static_cast<std::size_t>(at(t)), t);
    return list;
  }

  /// Of sequences of these lengths, which fall.
  static PositionRows of(const std::vector<std::int64_t>& lengths) {
    PositionRows rows;
    auto reach = static_cast<std::int64_t>(lengths.size());
    for (std::int64_t t = 0; t < lengths.front(); ++t) {
      while (lengths[static_cast<std::size_t>(reach - 1)] <= t) --reach;
      rows.first.push_back(rows.first.back() + reach);
    }
    return rows;
  }

  /// Sequences that all have `positions` positions.
  static PositionRows even(std::int64_t positions, std::int64_t sequences) {
    PositionRows rows;
    for (std::int64_t t = 1; t <= positions; ++t) rows.first.push_back(t * sequences);
    return rows;
  }
};

}  // namespace rondo
