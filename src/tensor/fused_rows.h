// The row operations behind the fused ones, without gradients of their own: what a backward pass
// calls when it computes something again. Single precision, contiguous, on the CPU.
#pragma once

#include <functional>

#include "tensor/tensor.h"

namespace rondo::fused {

/// RMSNorm of rows and 1/√(mean x² + eps) of each, [N].
struct NormedRows {
  Tensor out, scale;
};

/// `gains` may be undefined; `out` is fp32 or bf16.
NormedRows norm_rows(const Tensor& x, const Tensor& gains, double eps,
                     at::ScalarType out = at::kFloat);

/// The same into given memory; `out` fp32 or bf16, `scale` [N].
void norm_rows_into(const Tensor& x, const Tensor& gains, double eps, const Tensor& out,
                    const Tensor& scale);

/// Space for the sums of d gains, one row a thread: zeros [threads, width].
Tensor gain_sums(std::int64_t width);
/// d x + base into d_x (base undefined = 0; it may be d_x); d gains added to `sums`.
void norm_rows_backward_into(const Tensor& x, const Tensor& gains, const Tensor& scale,
                             const Tensor& d_out, const Tensor& base, const Tensor& d_x,
                             const Tensor& sums);

/// d x, and d gains (undefined without gains).
struct NormSlopes {
  Tensor x, gains;
};
NormSlopes norm_rows_backward(const Tensor& x, const Tensor& gains, const Tensor& scale,
                              const Tensor& d_out);

/// silu(gate) ⊙ up, fp32 or bf16.
Tensor swiglu_rows(const Tensor& gate_up, at::ScalarType out = at::kFloat);
/// d gate_up, and silu(gate) ⊙ up again, into given memory: theirs may be that of gate_up and, of
/// what is computed again in fp32, that of d_out.
void swiglu_rows_backward_into(const Tensor& gate_up, const Tensor& d_out, const Tensor& d_gate_up,
                               const Tensor& out);
/// d gate_up.
Tensor swiglu_rows_backward(const Tensor& gate_up, const Tensor& d_out);

/// Whether nothing but the graph, which keeps it, and the variable at hand can read what is kept.
bool read_no_more(const Tensor& kept);

/// Runs work(first row, rows, part) on shares of the rows, one a part of gain_sums(), so that each
/// adds to sums of its own and the result does not depend on which thread came first.
void share_rows(std::int64_t rows,
                const std::function<void(std::int64_t, std::int64_t, std::int64_t)>& work);

/// Rows that are worth a thread of their own.
std::int64_t rows_per_thread(std::int64_t width);

}  // namespace rondo::fused
