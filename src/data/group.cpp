// Groups by name.
#include "data/group.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>

#include "base/text.h"

namespace rondo {
namespace {

constexpr int kLargestGroup = 256;

bool is_even(const std::vector<int>& p) {
  int inversions = 0;
  for (std::size_t i = 0; i < p.size(); ++i)
    for (std::size_t j = i + 1; j < p.size(); ++j) inversions += p[i] > p[j] ? 1 : 0;
  return inversions % 2 == 0;
}

template <typename Product>
Group tabulate(int order, const Product& product) {
  Group group{.order = order, .table = {}};
  for (int a = 0; a < order; ++a)
    for (int b = 0; b < order; ++b) group.table.push_back(static_cast<std::uint8_t>(product(a, b)));
  return group;
}

Group permutation_group(int points, bool even_only) {
  const auto elements = permutations(points, even_only);
  std::map<std::vector<int>, int> number;
  for (const auto& p : elements) number.emplace(p, static_cast<int>(number.size()));
  return tabulate(static_cast<int>(elements.size()), [&](int a, int b) {
    const auto& p = elements[static_cast<std::size_t>(a)];
    std::vector<int> image = elements[static_cast<std::size_t>(b)];
    for (int& i : image) i = p[static_cast<std::size_t>(i)];
    return number.at(image);
  });
}

std::optional<Group> open_factor(std::string_view name) {
  if (name.size() < 2 || name.size() > 4 || name[1] == '0') return std::nullopt;
  int n = 0;
  for (const char c : name.substr(1)) {
    if (c < '0' || c > '9') return std::nullopt;
    n = n * 10 + (c - '0');
  }
  if (name[0] == 'z' && n <= kLargestGroup)
    return tabulate(n, [n](int a, int b) { return (a + b) % n; });
  if ((name[0] == 's' || name[0] == 'a') && n <= 5) return permutation_group(n, name[0] == 'a');
  return std::nullopt;
}

}  // namespace

std::vector<std::vector<int>> permutations(int points, bool even_only) {
  std::vector<int> p(static_cast<std::size_t>(points));
  std::iota(p.begin(), p.end(), 0);
  std::vector<std::vector<int>> all;
  do {
    if (!even_only || is_even(p)) all.push_back(p);
  } while (std::next_permutation(p.begin(), p.end()));
  return all;
}

std::optional<Group> open_group(std::string_view name) {
  std::optional<Group> whole;
  for (const auto& word : split(name, 'x')) {
    auto factor = open_factor(word);
    if (!factor) return std::nullopt;
    if (!whole) {
      whole = std::move(factor);
      continue;
    }
    const int m = factor->order;
    if (whole->order * m > kLargestGroup) return std::nullopt;
    whole = tabulate(whole->order * m, [&](int a, int b) {
      return whole->product(a / m, b / m) * m + factor->product(a % m, b % m);
    });
  }
  if (!whole || whole->order < 2) return std::nullopt;
  return whole;
}

std::vector<int> swaps(int points) {
  std::vector<int> chosen;
  const auto all = permutations(points, false);
  for (std::size_t n = 0; n < all.size(); ++n) {
    int moved = 0;
    for (int i = 0; i < points; ++i) moved += all[n][static_cast<std::size_t>(i)] != i ? 1 : 0;
    if (moved <= 2) chosen.push_back(static_cast<int>(n));
  }
  return chosen;
}

}  // namespace rondo
