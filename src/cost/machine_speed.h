// How fast this machine runs what a training step is made of: plain numbers that src/tensor
// measures and that pass through JSON, so that planners read them without a tensor. docs/cost.md
// explains them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/json.h"

namespace rondo {

/// A matrix product [rows, inner] × [inner, outer] and the rate at which a layer's three products
/// of that shape (forward, gradients of input and of weight) ran together.
struct ProductRate {
  double rows, inner, outer;
  double gflops;  ///< 1e9 FLOPs per second, 2 · rows · inner · outer FLOPs a product
};

/// Causal attention: seconds per pair of a query and a key that it may see, per head.
struct AttentionRate {
  double length, head_dim;
  double forward_s, backward_s;
};

/// Seconds of one call of an operation on so many values, forward and backward. The first point is
/// so small that all its time is the call.
struct OperationTimes {
  std::vector<double> values;  ///< rising
  std::vector<double> forward_s, backward_s;
};

/// A whole block of plain attention with heads of width 64 on so many tokens, in one call.
struct BlockTime {
  double tokens, length, d_model, d_ff;
  double forward_s, backward_s;
};

/// One machine with one number of threads.
struct MachineSpeed {
  std::string machine, version;  ///< as machine_name() and kVersion say
  std::int64_t threads = 0;
  /// Share of the processors that the measurement got; below 1 when other processes ran.
  double processor_share = 1;
  std::vector<ProductRate> products;
  std::vector<AttentionRate> attention;
  OperationTimes norm;            ///< RMSNorm with gains; values of its input
  OperationTimes rotate;          ///< rotary embedding
  OperationTimes swiglu;          ///< values of its output
  OperationTimes loss;            ///< cross-entropy; values of the logits
  OperationTimes add;             ///< sum of two tensors: what memory traffic is counted in
  OperationTimes product_call;    ///< a product too small to take time, one point
  OperationTimes attention_call;  ///< attention of one token, one point
  std::vector<BlockTime> blocks;  ///< by rising tokens × d_model
  OperationTimes vector_product;  ///< one row times a matrix of so many values; forward only

  /// The fastest of the measured products, 1e9 FLOPs per second.
  [[nodiscard]] double roof_gflops() const;
  /// Whether nothing else ran meanwhile, so that the numbers are the machine's own.
  [[nodiscard]] bool undisturbed() const { return processor_share > 0.92; }
  /// Bytes per second of a sum too large for the caches, 1e9.
  [[nodiscard]] double bandwidth_gbps() const;
};

/// Seconds of one product. Between measured shapes, seconds per FLOP are interpolated over bytes
/// per FLOP, 2 (1/rows + 1/inner + 1/outer): what a product costs beyond its FLOPs is the reading
/// and writing of its matrices.
double product_seconds(const MachineSpeed& speed, double rows, double inner, double outer);

/// Forward (or backward) seconds of attention for one pair of tokens in one head. Interpolated over
/// the logarithm of the length; affine in the head's width.
double attention_pair_seconds(const MachineSpeed& speed, double length, double head_dim,
                              bool backward);

/// Seconds of one call, without what the call costs at any size; linear between measured points, in
/// proportion to the values beyond the last.
double operation_seconds(const OperationTimes& times, double values, bool backward);

/// Seconds that a call takes whatever its size.
double call_seconds(const OperationTimes& times, bool backward);

/// To and from the JSON that is measured and cached. Reading throws an input error that names
/// `source` when a number is missing, not positive, or out of order.
Json to_json(const MachineSpeed& speed);
MachineSpeed machine_speed_from(const Json& json, const std::string& source);

/// The file of measurements: $RONDO_CACHE/machine.json, else $XDG_CACHE_HOME/rondo/machine.json,
/// else ~/.cache/rondo/machine.json; empty when none of the three is set.
fs::path machine_speed_file();

/// The cached measurement of this machine, this version and so many threads. Nothing when there is
/// none or the file is damaged: a cache is measured again, never a reason to stop.
std::optional<MachineSpeed> cached_machine_speed(std::int64_t threads);

/// Adds a measurement to the file in place of an older one of the same machine, version and
/// threads. Throws an error of the work when the file cannot be written.
void cache_machine_speed(const MachineSpeed& speed);

}  // namespace rondo
