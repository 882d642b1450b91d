// Minima and roots of functions of one variable.
#pragma once

#include <functional>
#include <optional>

#include "plan/loop_space.h"

namespace rondo {

/// A function of one variable. NaN counts as +infinity.
using Curve = std::function<double(double)>;

/// A point of a curve.
struct CurvePoint {
  double x, y;
};

/// The lowest point of `curve` over `range`, ends included. Looks at `points` evenly spaced places
/// and follows every valley that they show with Brent's method, so that the lower of two valleys is
/// found when they are further apart than the points. An inner minimum of a smooth curve is known
/// to about 1e-8 of the unit of x. y is infinite when the curve is finite nowhere.
CurvePoint lowest_point(const Curve& curve, Span range, int points);

/// Where `curve` crosses 0 between `inside`, where it is ≤ 0, and `outside`, where it is > 0: the
/// last place on the side of `inside`, to 1e-12.
double crossing(const Curve& curve, double inside, double outside);

/// Walks from `inside`, where `curve` ≤ 0, in steps towards `end` and returns where the curve first
/// rises above 0; nothing when it does not before `end`.
std::optional<double> first_crossing(const Curve& curve, double inside, double end, double step);

}  // namespace rondo
