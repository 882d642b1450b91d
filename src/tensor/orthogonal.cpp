// Newton–Schulz steps, batched and one matrix to a thread.
#include "tensor/orthogonal.h"

#include <algorithm>
#include <atomic>
#include <map>

#include "tensor/gemm.h"

namespace rondo {
namespace {

constexpr float kA = 3.4445F, kB = -4.7750F, kC = 2.0315F;
constexpr double kSmallestNorm = 1e-7;
// Rows of a symmetric product that are computed together, up to their last column.
constexpr std::int64_t kTriangleRows = 128;
// Side of the squares in which a triangle is mirrored.
constexpr std::int64_t kTile = 32;

/// From here on polynomials at the shorter size cost less than steps at the full one: 1.6 n + 10.2
/// m against 8 n + 3 m in units of 2 m², for five steps and symmetric products at 0.6.
bool is_long(std::int64_t shorter, std::int64_t longer) { return 8 * longer > 9 * shorter; }

void orthogonalise_batched(std::span<Tensor> matrices, int steps) {
  std::map<std::vector<std::int64_t>, std::vector<Tensor*>> shapes;
  for (auto& matrix : matrices) shapes[matrix.sizes().vec()].push_back(&matrix);
  for (auto& [shape, group] : shapes) {
    std::vector<Tensor> list;
    for (const auto* matrix : group) list.push_back(*matrix);
    auto x = at::stack(list);
    const bool tall = shape[0] > shape[1];
    if (tall) x = x.mT();
    x = x / x.norm(2, {1, 2}, /*keepdim=*/true).clamp_min(kSmallestNorm);
    for (int i = 0; i < steps; ++i) {
      const auto a = x.bmm(x.mT());
      x = kA * x + (kB * a + kC * a.bmm(a)).bmm(x);
    }
    if (tall) x = x.mT();
    for (std::size_t i = 0; i < group.size(); ++i) group[i]->copy_(x[static_cast<std::int64_t>(i)]);
  }
}

MatrixView square_view(const float* data, std::int64_t size) { return {data, size, size, size, 1}; }

MatrixView rows_in_view(const MatrixView& all, std::int64_t begin, std::int64_t count) {
  return {static_cast<const float*>(all.data) + begin * all.down, count, all.columns, all.down,
          all.across};
}

MatrixView first_columns(const MatrixView& all, std::int64_t count) {
  return {all.data, all.rows, count, all.down, all.across};
}

/// Copies what is below the diagonal to above it.
void mirror(float* matrix, std::int64_t size) {
  for (std::int64_t top = 0; top < size; top += kTile)
    for (std::int64_t left = 0; left <= top; left += kTile)
      for (std::int64_t i = top; i < std::min(top + kTile, size); ++i)
        for (std::int64_t j = left; j < std::min(left + kTile, i); ++j)
          matrix[j * size + i] = matrix[i * size + j];
}

/// out = a · b where that is known to be symmetric. `finish` may change a row up to the diagonal.
template <typename Finish>
void symmetric_product(const MatrixView& a, const MatrixView& b, float* out, Finish&& finish) {
  const auto size = a.rows;
  for (std::int64_t begin = 0; begin < size; begin += kTriangleRows) {
    const auto end = std::min(begin + kTriangleRows, size);
    multiply_alone(rows_in_view(a, begin, end - begin), first_columns(b, end), out + begin * size,
                   size);
    for (auto i = begin; i < end; ++i) finish(out + i * size, i);
  }
  mirror(out, size);
}

void symmetric_product(const MatrixView& a, const MatrixView& b, float* out) {
  symmetric_product(a, b, out, [](float*, std::int64_t) {});
}

/// One matrix, and room for five squares of its shorter side and a copy.
class NewtonSchulz {
 public:
  NewtonSchulz(Tensor& matrix, float* room)
      : matrix_(matrix),
        values_(matrix.data_ptr<float>()),
        rows_(matrix.size(0)),
        columns_(matrix.size(1)),
        shorter_(std::min(rows_, columns_)) {
    for (float** place : {&gram_, &polynomial_, &gathered_, &spare_, &other_, &copy_}) {
      *place = room;
      room += shorter_ * shorter_;
    }
  }

  static std::int64_t room_for(const Tensor& matrix) {
    const auto shorter = std::min(matrix.size(0), matrix.size(1));
    return 5 * shorter * shorter + matrix.numel();
  }

  void run(int steps) {
    matrix_.div_(std::max(matrix_.norm().item<double>(), kSmallestNorm));
    form_gram();
    is_long(shorter_, std::max(rows_, columns_)) ? run_long(steps) : run_short(steps);
  }

 private:
  void run_short(int steps) {
    for (int i = 0; i < steps; ++i) {
      form_polynomial();
      apply(polynomial_);
      if (i + 1 < steps) form_gram();
    }
  }

  void run_long(int steps) {
    for (int i = 0; i < steps; ++i) {
      form_polynomial();
      if (i + 1 < steps) advance();
      if (i == 0) {
        std::swap(gathered_, polynomial_);
      } else {
        symmetric_product(square_view(gathered_, shorter_), square_view(polynomial_, shorter_),
                          spare_);
        std::swap(gathered_, spare_);
      }
    }
    apply(gathered_);
  }

  /// A = X Xᵀ, of a tall X the other way round.
  void form_gram() {
    const MatrixView x{values_, rows_, columns_, columns_, 1};
    const auto wide = tall() ? x.transposed() : x;
    symmetric_product(wide, wide.transposed(), gram_);
  }

  /// P = a I + b A + c A².
  void form_polynomial() {
    const auto a = square_view(gram_, shorter_);
    symmetric_product(a, a, polynomial_, [&](float* row, std::int64_t i) {
      const float* of_gram = gram_ + i * shorter_;
      for (std::int64_t j = 0; j <= i; ++j) row[j] = kC * row[j] + kB * of_gram[j];
      row[i] += kA;
    });
  }

  /// A ← P A P = A P², what the next X will have: P and A commute.
  void advance() {
    const auto p = square_view(polynomial_, shorter_);
    symmetric_product(p, p, spare_);
    symmetric_product(square_view(gram_, shorter_), square_view(spare_, shorter_), other_);
    std::swap(gram_, other_);
  }

  /// X ← P X.
  void apply(const float* factor) {
    std::copy_n(values_, rows_ * columns_, copy_);
    const MatrixView x{copy_, rows_, columns_, columns_, 1};
    const auto p = square_view(factor, shorter_);
    multiply_alone(tall() ? x : p, tall() ? p : x, values_, columns_);
  }

  [[nodiscard]] bool tall() const { return rows_ > columns_; }

  Tensor& matrix_;
  float* values_;
  std::int64_t rows_, columns_, shorter_;
  // X Xᵀ, the polynomial of a step, the product of all so far.
  float *gram_, *polynomial_, *gathered_;
  float *spare_, *other_, *copy_;
};

void orthogonalise_fused(std::span<Tensor> matrices, int steps) {
  // Costly ones first, so that no thread is left with a large one at the end.
  std::vector<Tensor*> order;
  std::int64_t room = 0;
  for (auto& matrix : matrices) {
    order.push_back(&matrix);
    room = std::max(room, NewtonSchulz::room_for(matrix));
  }
  std::ranges::stable_sort(order, std::greater{}, [&](const Tensor* matrix) {
    return std::min(matrix->size(0), matrix->size(1)) * matrix->numel();
  });
  const auto threads = static_cast<std::int64_t>(at::get_num_threads());
  if (static_cast<std::int64_t>(order.size()) < threads) {
    // Too few to share out: all threads work on each product.
    auto place = at::empty({room});
    for (auto* matrix : order) NewtonSchulz(*matrix, place.data_ptr<float>()).run(steps);
    return;
  }
  auto places = at::empty({threads, room});
  std::atomic<std::size_t> next = 0;
  at::parallel_for(0, threads, 1, [&](std::int64_t begin, std::int64_t) {
    const OneThread alone;
    const NoGrad guard;
    float* place = places.data_ptr<float>() + begin * room;
    for (std::size_t i = next++; i < order.size(); i = next++)
      NewtonSchulz(*order[i], place).run(steps);
  });
}

}  // namespace

void orthogonalise(std::span<Tensor> matrices, int steps, Form form) {
  if (matrices.empty()) return;
  const NoGrad guard;
  const bool fused =
      form == Form::kFused && std::ranges::all_of(matrices, [](const Tensor& matrix) {
        return matrix.is_cpu() && matrix.scalar_type() == at::kFloat && matrix.is_contiguous() &&
               matrix.numel() > 0;
      });
  fused ? orthogonalise_fused(matrices, steps) : orthogonalise_batched(matrices, steps);
}

}  // namespace rondo
