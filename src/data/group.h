// Small finite groups by multiplication table, elements numbered as in arXiv 2404.08819's data.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace rondo {

/// A group of at most 256 elements; element 0 is the identity.
struct Group {
  int order = 0;
  std::vector<std::uint8_t> table;  ///< [order, order]: row a, column b holds a ∘ b

  [[nodiscard]] int product(int a, int b) const {
    return table[static_cast<std::size_t>(a) * static_cast<std::size_t>(order) +
                 static_cast<std::size_t>(b)];
  }
};

/// Permutations of 0 … points − 1 in lexicographic order, all or only the even ones.
std::vector<std::vector<int>> permutations(int points, bool even_only);

/// Opens "s5" (symmetric, at most 5 points), "a5" (alternating), "z60" (cyclic) or a direct product
/// of these, "a4xz5", whose element (a, b) has the number a · |second| + b. For permutations
/// (p ∘ q)[i] = p[q[i]]. Nothing for other names, and for groups of one or of more than 256
/// elements.
std::optional<Group> open_group(std::string_view name);

/// Elements of "s<points>" that move at most two points: the identity and the transpositions.
std::vector<int> swaps(int points);

}  // namespace rondo
