// One pass over memory for each sum.
#include "diagnose/rows.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace rondo {
namespace {

constexpr double kSmallNorm = 1e-12;
/// Rows that a thread takes at a time.
constexpr std::int64_t kGrain = 16;

/// Σ of of_row(n) over all rows. Parts are added in order, so that two runs agree bit for bit.
template <typename OfRow>
double sum_over(std::int64_t rows, const OfRow& of_row) {
  std::vector<double> parts(static_cast<std::size_t>(rows));
  at::parallel_for(0, rows, kGrain, [&](std::int64_t begin, std::int64_t end) {
    for (auto n = begin; n < end; ++n) parts[static_cast<std::size_t>(n)] = of_row(n);
  });
  double sum = 0;
  for (const double part : parts) sum += part;
  return sum;
}

/// Calls visit(first number) with x as contiguous rows of its own type.
template <typename Visit>
auto with_type(const Tensor& x, const Visit& visit) {
  return x.scalar_type() == at::kDouble ? visit(double{}) : visit(float{});
}

template <typename Number>
struct Rows {
  Tensor held;
  std::int64_t width, count;
  const Number* data;

  explicit Rows(const Tensor& x)
      : held(x.detach().contiguous()),
        width(x.size(-1)),
        count(x.numel() / x.size(-1)),
        data(held.data_ptr<Number>()) {}
  const Number* operator[](std::int64_t n) const { return data + n * width; }
};

}  // namespace

StepSums compare_rows(const Tensor& u, const Tensor& v) {
  return with_type(u, [&](auto number) {
    using Number = decltype(number);
    const Rows<Number> before(u), after(v);
    StepSums sums;
    sums.update = sum_over(before.count, [&](std::int64_t n) {
      double norm = 0, moved = 0;
      for (std::int64_t d = 0; d < before.width; ++d) {
        const double from = before[n][d], to = after[n][d];
        norm += from * from;
        moved += (to - from) * (to - from);
      }
      return std::sqrt(moved) / std::max(std::sqrt(norm), kSmallNorm);
    });
    double uu = 0, vv = 0, uv = 0;
    for (std::int64_t d = 0; d < before.width; ++d) {
      const double from = before[before.count - 1][d], to = after[before.count - 1][d];
      uu += from * from;
      vv += to * to;
      uv += from * to;
    }
    // One root of the product: of a vector with itself it gives exactly its square.
    const double cosine = uv / std::max(std::sqrt(uu * vv), kSmallNorm);
    sums.last_angle = std::acos(std::clamp(cosine, -1.0, 1.0)) / std::numbers::pi;
    return sums;
  });
}

double summed_variance(const Tensor& x) {
  return with_type(x, [&](auto number) {
    const Rows<decltype(number)> rows(x);
    const auto width = static_cast<double>(rows.width);
    return sum_over(rows.count, [&](std::int64_t n) {
      double sum = 0, squares = 0;
      for (std::int64_t d = 0; d < rows.width; ++d) sum += rows[n][d];
      const double mean = sum / width;
      for (std::int64_t d = 0; d < rows.width; ++d)
        squares += (rows[n][d] - mean) * (rows[n][d] - mean);
      return squares / (width - 1);
    });
  });
}

double summed_update(const Tensor& u, const Tensor& v) {
  return with_type(u, [&](auto number) {
    const Rows<decltype(number)> before(u), after(v);
    return sum_over(before.count, [&](std::int64_t n) {
      double squares = 0;
      for (std::int64_t d = 0; d < before.width; ++d) {
        const double moved = static_cast<double>(after[n][d]) - before[n][d];
        squares += moved * moved;
      }
      return std::sqrt(squares);
    });
  });
}

double summed_change(const Tensor& u0, const Tensor& v0, const Tensor& u1, const Tensor& v1) {
  return with_type(u0, [&](auto number) {
    using Number = decltype(number);
    const Rows<Number> before(u0), after(v0), other_before(u1), other_after(v1);
    return sum_over(before.count, [&](std::int64_t n) {
      double squares = 0;
      for (std::int64_t d = 0; d < before.width; ++d) {
        const double update = static_cast<double>(after[n][d]) - before[n][d];
        const double other = static_cast<double>(other_after[n][d]) - other_before[n][d];
        squares += (other - update) * (other - update);
      }
      return std::sqrt(squares);
    });
  });
}

double summed_squares(const Tensor& x) {
  return with_type(x, [&](auto number) {
    const Rows<decltype(number)> rows(x);
    return sum_over(rows.count, [&](std::int64_t n) {
      double squares = 0;
      for (std::int64_t d = 0; d < rows.width; ++d)
        squares += static_cast<double>(rows[n][d]) * rows[n][d];
      return squares;
    });
  });
}

}  // namespace rondo
