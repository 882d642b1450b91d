// Inner loops in single precision, some with results in bf16, compiled for several instruction sets
// and chosen at run time. They work on rows that lie side by side and know nothing of tensors or
// threads.
#pragma once

#include <cstdint>

namespace rondo {

/// Largest score of a row, and one over the sum of the exponentials of what is below it.
struct SoftmaxRow {
  float largest, share;
};

/// One head of a short sequence: rows of queries and of keys and values lie their stride apart.
struct ShortHead {
  const float *q, *k, *v;
  std::int64_t query_stride, key_stride, value_stride, out_stride, length, width;
  float factor;  ///< of scores

  /// Numbers of scratch that attention needs, forward and back.
  [[nodiscard]] std::int64_t scratch() const { return 2 * (width + length) * (length + 15); }
};

/// How a head's rows become comparable: QK-norm, if any, and RoPE.
struct HeadPlacing {
  bool norm, norm_first;
  const float* gains;  ///< of the norm; may be null
  float eps;
  const float *cos, *sin;  ///< [rows, width / 2]
};

/// Numbers of scratch beyond those in use, so that loops over it run in whole registers.
inline constexpr std::int64_t kScratchPadding = 16;

/// One set of loops. Rows are contiguous unless a distance between rows (`…_stride`, in numbers) is
/// given. No pointer may overlap another except where it says so.
struct Kernels {
  const char* name;  ///< "AVX-512"

  /// out_j = silu(gate_j) · up_j for a row of gate and up side by side, F each.
  void (*swiglu)(const float* gate_up, float* out, std::int64_t rows, std::int64_t width);
  /// The same with results rounded to bf16.
  void (*swiglu_bf16)(const float* gate_up, std::uint16_t* out, std::int64_t rows,
                      std::int64_t width);
  /// d gate_up from d out, and out again, for the gradients of what it was multiplied by. They may
  /// take the places of gate_up and d out.
  void (*swiglu_backward)(const float* gate_up, const float* d_out, float* d_gate_up, float* out,
                          std::int64_t rows, std::int64_t width);
  /// The same with `out` rounded to bf16, in a place of its own.
  void (*swiglu_backward_bf16)(const float* gate_up, const float* d_out, float* d_gate_up,
                               std::uint16_t* out, std::int64_t rows, std::int64_t width);

  /// out = x · r ⊙ gains with r = 1/√(mean x² + eps), kept in `scale`, one a row. `gains` may be
  /// null.
  void (*rms_norm)(const float* x, const float* gains, float eps, float* out, float* scale,
                   std::int64_t rows, std::int64_t width);
  /// The same with results rounded to bf16.
  void (*rms_norm_bf16)(const float* x, const float* gains, float eps, std::uint16_t* out,
                        float* scale, std::int64_t rows, std::int64_t width);
  /// d x added to `base` (null = 0; may be d_x); d gains added to `d_gains` (null with null gains).
  void (*rms_norm_backward)(const float* x, const float* gains, const float* scale,
                            const float* d_out, const float* base, float* d_x, float* d_gains,
                            std::int64_t rows, std::int64_t width);

  /// Rotates the two halves of each of `heads` heads of one position by its angles, or back when
  /// `back`; `in` may be `out`.
  void (*rotate)(const float* in, float* out, const float* cos, const float* sin,
                 std::int64_t heads, std::int64_t half, bool back);

  /// Softmax of scores · factor over the first `seen` numbers of a row, in place; the others up to
  /// `width` become 0. Returns what it takes to do it again.
  SoftmaxRow (*softmax)(float* scores, float factor, std::int64_t seen, std::int64_t width);
  /// The same again, number for number.
  void (*probabilities)(float* scores, float factor, SoftmaxRow row, std::int64_t seen,
                        std::int64_t width);
  /// d scores = p ⊙ (d p − Σ p ⊙ d p) · factor, into d_p, in the first `seen`; 0 beyond.
  void (*softmax_backward)(const float* probabilities, float* d_p, float factor, std::int64_t seen,
                           std::int64_t width);

  /// Softmax attention of one query [width] to `count` ≥ 1 keys and values, the j-th of which
  /// begins `places[j]` numbers after k and v. Returns what it takes to do it again. `p`: scratch
  /// for count + kScratchPadding numbers.
  SoftmaxRow (*attend)(const float* q, const float* k, const float* v, const std::int64_t* places,
                       std::int64_t count, std::int64_t width, float factor, float* p, float* out);
  /// Its gradients: into d_q, added to d_k and d_v, whose rows lie as k's and v's. `p` and `d_p`
  /// are scratch as there.
  void (*attend_backward)(const float* q, const float* k, const float* v,
                          const std::int64_t* places, std::int64_t count, std::int64_t width,
                          float factor, SoftmaxRow row, const float* d_out, float* p, float* d_p,
                          float* d_q, float* d_k, float* d_v);

  /// Norm and rotation of the rows of one head, `stride` apart, into rows side by side. The norm's
  /// scales of the rows are kept in `scale`, or with `again` read there.
  void (*place)(const float* from, std::int64_t stride, const HeadPlacing& by, float* scale,
                bool again, float* to, std::int64_t rows, std::int64_t width);
  /// d from, laid out as `from` and perhaps in its place, from d to, which is used up, and as above
  /// d gains. `scratch`: a row.
  void (*place_backward)(const float* from, std::int64_t stride, const HeadPlacing& by,
                         const float* scale, float* d_to, float* d_from, float* d_gains,
                         float* scratch, std::int64_t rows, std::int64_t width);

  /// Causal softmax attention of a short head. `rows` gets what it takes to do it again.
  void (*attend_short)(const ShortHead& head, float* out, SoftmaxRow* rows, float* scratch);
  /// Its gradients: into d_q, and into d_k and d_v or, with `add`, added to them; all lie as what
  /// they belong to, but rows of d_v `d_v_stride` apart.
  void (*attend_short_backward)(const ShortHead& head, const SoftmaxRow* rows, const float* d_out,
                                float* d_q, float* d_k, float* d_v, std::int64_t d_v_stride,
                                bool add, float* scratch);

  /// out = e + scale · σ(gate_e + gate_r) ⊙ value_r.
  void (*merge)(const float* e, const float* gate_e, const float* gate_r, const float* value_r,
                float scale, float* out, std::int64_t width);
  /// From d_out: into d_gate_e, added to d_gate_r and d_value_r. (d e is d_out.)
  void (*merge_backward)(const float* gate_e, const float* gate_r, const float* value_r,
                         const float* d_out, float scale, float* d_gate_e, float* d_gate_r,
                         float* d_value_r, std::int64_t width);

  /// out = base + Σ_j factors_j ⊙ (past_j − x) over `lags` ≥ 1 of j; factors [width].
  void (*lean)(const float* base, const float* x, const float* const* past,
               const float* const* factors, std::int64_t lags, float* out, std::int64_t rows,
               std::int64_t width);
  /// From d_out: into d_x and d_past_j (each null where nobody asks), added to d_factors_j [width].
  /// (d base is d_out.)
  void (*lean_backward)(const float* x, const float* const* past, const float* const* factors,
                        std::int64_t lags, const float* d_out, float* d_x, float* const* d_past,
                        float* const* d_factors, std::int64_t rows, std::int64_t width);

  /// out = x + gate ⊙ branch; gate [width].
  void (*gated_add)(const float* x, const float* branch, const float* gate, float* out,
                    std::int64_t rows, std::int64_t width);
  /// From d_out: into d_branch, added to d_gate [width]. (d x is d_out.)
  void (*gated_add_backward)(const float* branch, const float* gate, const float* d_out,
                             float* d_branch, float* d_gate, std::int64_t rows, std::int64_t width);

  /// Cross-entropy of one row: logits z, shaped as c tanh(scale · z / c) or scale · z when
  /// `softcap` c is 0. Returns nats; z becomes d nats / d z.
  float (*cross_entropy)(float* logits, std::int64_t width, std::int64_t target, float scale,
                         float softcap);
};

/// The best set for this processor.
const Kernels& kernels();

/// The sets this processor can run, for tests; the last is the best.
const Kernels& baseline_kernels();
const Kernels& avx2_kernels();
const Kernels& avx512_kernels();

}  // namespace rondo
