// Brent's minimiser (Algorithms for Minimization without Derivatives, 1973, ch. 5) on a grid's
// valleys.
#include "plan/curve.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace rondo {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kGolden = 0.3819660112501051;  // (3 − √5) / 2
// Near a minimum a curve is flat: differences of x below √ε do not show in y.
constexpr double kCloseness = 1e-8;
constexpr double kPolish = 1e-3;
constexpr std::size_t kMostValleys = 4;

double height(const Curve& curve, double x) {
  const double y = curve(x);
  return std::isnan(y) ? kInfinity : y;
}

/// The step of Brent's method: through the parabola of the three best points where that stays
/// inside and shrinks, else golden.
struct Brent {
  double low, high, best, second, third, best_y, second_y, third_y;
  double step = 0, before = 0;

  [[nodiscard]] double proposal() {
    const double middle = 0.5 * (low + high);
    double p = 0, q = 0;
    if (std::abs(before) > kCloseness && std::isfinite(second_y) && std::isfinite(third_y)) {
      const double r = (best - second) * (best_y - third_y);
      q = (best - third) * (best_y - second_y);
      p = (best - third) * q - (best - second) * r;
      q = 2 * (q - r);
      if (q > 0) p = -p;
      q = std::abs(q);
    }
    const bool parabola = q > 0 && std::abs(p) < std::abs(0.5 * q * before) &&
                          p > q * (low - best) && p < q * (high - best);
    if (parabola) {
      before = step;
      step = p / q;
      if (best + step - low < 2 * kCloseness || high - best - step < 2 * kCloseness)
        step = best < middle ? kCloseness : -kCloseness;
    } else {
      before = best < middle ? high - best : low - best;
      step = kGolden * before;
    }
    return best + (std::abs(step) >= kCloseness ? step : std::copysign(kCloseness, step));
  }

  void accept(double x, double y) {
    if (y <= best_y) {
      (x < best ? high : low) = best;
      third = second, third_y = second_y;
      second = best, second_y = best_y;
      best = x, best_y = y;
      return;
    }
    (x < best ? low : high) = x;
    if (y <= second_y || second == best) {
      third = second, third_y = second_y;
      second = x, second_y = y;
    } else if (y <= third_y || third == best || third == second) {
      third = x, third_y = y;
    }
  }
};

CurvePoint brent(const Curve& curve, double low, double high) {
  const double start = low + kGolden * (high - low), y = height(curve, start);
  Brent state{low, high, start, start, start, y, y, y};
  for (int i = 0; i < 100; ++i) {
    const double middle = 0.5 * (state.low + state.high);
    if (std::abs(state.best - middle) <= 2 * kCloseness - 0.5 * (state.high - state.low)) break;
    const double x = state.proposal();
    state.accept(x, height(curve, x));
  }
  return {state.best, state.best_y};
}

/// Two Newton steps on differences over 1e-3, where rounding does not matter yet: on a smooth curve
/// they move x by less than 1e-5 and make it a smooth function of whatever the curve depends on.
CurvePoint polish(const Curve& curve, CurvePoint point, Span range) {
  for (int i = 0; i < 2; ++i) {
    if (point.x - kPolish < range.low || point.x + kPolish > range.high) return point;
    const double below = height(curve, point.x - kPolish), above = height(curve, point.x + kPolish);
    const double bend = below - 2 * point.y + above;
    if (!(bend > 0) || !std::isfinite(bend)) return point;
    const double shift = 0.5 * kPolish * (below - above) / bend;
    if (std::abs(shift) > 1e-2 * kPolish) return point;
    const double y = height(curve, point.x + shift);
    if (y > point.y + 1e-14 * std::abs(point.y)) return point;
    point = {point.x + shift, y};
  }
  return point;
}

/// The lowest places of the grid that are below the one before and not above the one after. Only a
/// few: where a curve is flat but for rounding, nearly every place is one.
std::vector<std::size_t> valleys(const std::vector<CurvePoint>& grid) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < grid.size(); ++i) {
    const bool falls = i == 0 || grid[i].y < grid[i - 1].y;
    const bool rises = i + 1 == grid.size() || grid[i].y <= grid[i + 1].y;
    if (falls && rises && std::isfinite(grid[i].y)) places.push_back(i);
  }
  std::sort(places.begin(), places.end(),
            [&](std::size_t a, std::size_t b) { return grid[a].y < grid[b].y; });
  if (places.size() > kMostValleys) places.resize(kMostValleys);
  return places;
}

}  // namespace

CurvePoint lowest_point(const Curve& curve, Span range, int points) {
  const double width = range.high - range.low;
  if (width <= 0) return {range.low, height(curve, range.low)};
  const int last = std::max(points, 3) - 1;
  std::vector<CurvePoint> grid;
  for (int i = 0; i <= last; ++i) {
    const double x = i == last ? range.high : range.low + width * i / last;
    grid.push_back({x, height(curve, x)});
  }
  CurvePoint best = grid.front();
  for (const auto& point : grid)
    if (point.y < best.y) best = point;
  for (const std::size_t i : valleys(grid)) {
    const double low = grid[i == 0 ? 0 : i - 1].x;
    const double high = grid[std::min(i + 1, grid.size() - 1)].x;
    const auto found = brent(curve, low, high);
    if (found.y < best.y) best = found;
  }
  if (best.x == range.low || best.x == range.high) return best;
  return polish(curve, best, range);
}

double crossing(const Curve& curve, double inside, double outside) {
  while (std::abs(outside - inside) > 1e-12 * (1 + std::abs(inside))) {
    const double middle = 0.5 * (inside + outside);
    if (middle == inside || middle == outside) break;
    (height(curve, middle) <= 0 ? inside : outside) = middle;
  }
  return inside;
}

std::optional<double> first_crossing(const Curve& curve, double inside, double end, double step) {
  const double direction = end < inside ? -1 : 1;
  while (inside != end) {
    const double next =
        direction * std::min(direction * (inside + direction * step), direction * end);
    if (height(curve, next) > 0) return crossing(curve, inside, next);
    inside = next;
  }
  return std::nullopt;
}

}  // namespace rondo
