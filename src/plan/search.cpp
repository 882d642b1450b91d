// Nested searches in one variable each: size inside B inside T, all on a logarithmic scale.
#include "plan/search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "plan/curve.h"

namespace rondo {
namespace {

constexpr int kSizePoints = 65;
constexpr int kNearPoints = 9;
constexpr int kForwardPoints = 17;
constexpr int kBackwardPoints = 9;
constexpr std::size_t kManyPairs = 1000;
const double kNear = std::log(8.0);

/// The lowest of the curve's points over `range`, which is split where the curve has a corner.
CurvePoint lowest_with_corner(const Curve& curve, Span range, double corner, int points) {
  if (!(corner > range.low && corner < range.high)) return lowest_point(curve, range, points);
  const auto below = lowest_point(curve, {range.low, corner}, points);
  const auto above = lowest_point(curve, {corner, range.high}, points);
  return below.y < above.y ? below : above;
}

bool cheaper(const Setting& a, const Setting& b) {
  const auto key = [](const Setting& s) {
    return std::tuple(s.loss_nats, s.flops + s.inference_flops, s.loops.forward, s.loops.backward);
  };
  return key(a) < key(b);
}

bool cheaper_loops(const LoopCount& a, const LoopCount& b) {
  const auto key = [](const LoopCount& loops) {
    return std::pair(loops.forward + 2 * loops.backward, loops.backward);
  };
  return key(a) < key(b);
}

/// Turns a place on a logarithmic scale back into a number of the range. Its ends come out exactly.
double place(double logarithm, Span range) {
  return std::clamp(std::exp(logarithm), range.low, range.high);
}

Span logarithm(Span range) { return {std::log(range.low), std::log(range.high)}; }

/// The search over real T and B. Each starts its sizes where the one before ended.
class RealSearch {
 public:
  RealSearch(const Problem& problem, const LawFunction& law, const LoopSpace& space)
      : problem_(problem), law_(law), space_(space) {}

  std::optional<Setting> best() {
    const Span range = space_.forward();
    if (range.empty()) return std::nullopt;
    const auto curve = [&](double log_forward) {
      return loss(best_backward(place(log_forward, range)));
    };
    return best_backward(place(lowest_point(curve, logarithm(range), kForwardPoints).x, range));
  }

 private:
  static double loss(const std::optional<Setting>& setting) {
    return setting ? setting->loss_nats : std::numeric_limits<double>::infinity();
  }

  std::optional<Setting> best_backward(double forward) {
    const Span range = space_.backward(forward);
    if (range.empty()) return std::nullopt;
    const auto at = [&](double log_backward) {
      const auto near = last_ ? std::optional(last_->n_total) : std::nullopt;
      const auto found = best_size(problem_, law_, {forward, place(log_backward, range)}, near);
      if (found) last_ = found;
      return found;
    };
    const auto curve = [&](double log_backward) { return loss(at(log_backward)); };
    return at(lowest_point(curve, logarithm(range), kBackwardPoints).x);
  }

  const Problem& problem_;
  const LawFunction& law_;
  const LoopSpace& space_;
  std::optional<Setting> last_;
};

}  // namespace

std::optional<Setting> best_size(const Problem& problem, const LawFunction& law, LoopCount loops,
                                 std::optional<double> near) {
  const Span sizes = problem.sizes(loops);
  if (sizes.empty()) return std::nullopt;
  const auto setting_at = [&](double log_n) { return problem.at(loops, place(log_n, sizes), law); };
  const Curve curve = [&](double log_n) { return setting_at(log_n).loss_nats; };
  const Span range = logarithm(sizes);
  const double bind = problem.tokens_bind_below(loops);
  const double corner = bind > 0 ? std::log(bind) : -1;
  if (near) {
    const double middle = std::clamp(std::log(*near), range.low, range.high);
    const Span window{std::max(range.low, middle - kNear), std::min(range.high, middle + kNear)};
    const auto found = lowest_with_corner(curve, window, corner, kNearPoints);
    const bool cut = (found.x == window.low && window.low > range.low) ||
                     (found.x == window.high && window.high < range.high);
    if (std::isfinite(found.y) && !cut) return setting_at(found.x);
  }
  const auto found = lowest_with_corner(curve, range, corner, kSizePoints);
  if (!std::isfinite(found.y)) return std::nullopt;
  return setting_at(found.x);
}

std::vector<Setting> search_whole(const Problem& problem, const LawFunction& law,
                                  const LoopSpace& space) {
  std::vector<Setting> settings;
  // Beyond hundreds of pairs, neighbours show where to look.
  const bool many = space.whole().size() > kManyPairs;
  std::optional<double> near;
  for (const auto& loops : space.whole()) {
    const auto found = best_size(problem, law, loops, near);
    if (!found) continue;
    if (many) near = found->n_total;
    settings.push_back(*found);
  }
  if (settings.empty())
    refuse_infeasible(problem,
                      *std::min_element(space.whole().begin(), space.whole().end(), cheaper_loops));
  std::sort(settings.begin(), settings.end(), cheaper);
  return settings;
}

std::optional<Setting> best_real(const Problem& problem, const LawFunction& law,
                                 const LoopSpace& space) {
  return RealSearch(problem, law, space).best();
}

}  // namespace rondo
