// Time from counts and measured rates. The counts follow nn/block, model/looped_lm and train/step.
#include "cost/time.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "cost/flops.h"
#include "cost/memory.h"
#include "cost/parameters.h"
#include "cost/time_conditioning.h"
#include "cost/time_update.h"

namespace rondo {
namespace {

// The packed feed-forward width is a multiple of this (nn/block).
constexpr double kPad = 16.0;
// Calls for a number that is read back.
constexpr double kSmallCalls = 6.0;
// A pass of evaluation holds at most so many tokens (eval/loss).
constexpr double kEvaluationTokens = 4096.0;

/// How often something runs forward and backward.
struct Passes {
  double forward = 1, backward = 1;
};

StepSeconds& operator+=(StepSeconds& sum, const StepSeconds& more) {
  sum.matmul += more.matmul;
  sum.attention += more.attention;
  sum.elementwise += more.elementwise;
  sum.head += more.head;
  sum.optimizer += more.optimizer;
  sum.overhead += more.overhead;
  return sum;
}

StepSeconds operator*(double factor, StepSeconds seconds) {
  for (double* term : {&seconds.matmul, &seconds.attention, &seconds.elementwise, &seconds.head,
                       &seconds.optimizer, &seconds.overhead})
    *term *= factor;
  return seconds;
}

/// Adds up the parts of a pass over `rows` sequences of `length` tokens.
class Counter {
 public:
  Counter(const Config& config, const MachineSpeed& speed, double rows, double length)
      : model_(config.model),
        speed_(speed),
        fused_(config.engine.fused),
        masked_(config.data.document_mask),
        rows_(rows),
        length_(length) {}

  [[nodiscard]] const StepSeconds& sum() const { return sum_; }
  void block(Passes passes);
  void block_parts(Passes passes);
  void inject(Passes passes);
  void cross(double memory_length, Passes passes);
  void merge(Passes passes);
  /// Keys and values of an RLT's memory.
  void memory(Passes passes) {
    for (int i = 0; i < 2; ++i) product(tokens(), width(), width(), passes, sum_.matmul);
    norm(passes);
    operation(speed_.rotate, tokens() * width(), passes);
    move(tokens() * width(), 4, 2, passes.forward + passes.backward);
  }
  void once(Passes passes);
  void head(double vocab, double read_outs, Passes passes);
  void pack_weights(double layers, double backward_uses, bool gradients);
  /// The norms of the states that a step records, in its first micro-batch.
  void state_norms(double loops) { move(tokens() * width(), 1, kSmallCalls, loops); }
  void norm(Passes passes) { operation(speed_.norm, tokens() * width(), passes); }

 private:
  [[nodiscard]] double tokens() const { return rows_ * length_; }
  [[nodiscard]] double width() const { return static_cast<double>(model_.d_model); }
  [[nodiscard]] double queries() const {
    return static_cast<double>(model_.heads * model_.head_dim);
  }
  [[nodiscard]] double keys() const {
    return static_cast<double>(model_.kv_heads * model_.head_dim);
  }
  [[nodiscard]] double feed_forward() const {
    return kPad * std::ceil(static_cast<double>(model_.d_ff) / kPad);
  }

  void operation(const OperationTimes& times, double values, Passes passes) {
    sum_.elementwise += passes.forward * operation_seconds(times, values, false) +
                        passes.backward * operation_seconds(times, values, true);
    sum_.overhead +=
        passes.forward * call_seconds(times, false) + passes.backward * call_seconds(times, true);
  }
  /// A product in a pass: one forward, two backward.
  void product(double rows, double inner, double outer, Passes passes, double& term) {
    const double seconds = product_seconds(speed_, rows, inner, outer);
    term += (passes.forward + 2 * passes.backward) * seconds;
    sum_.overhead += passes.forward * call_seconds(speed_.product_call, false) +
                     passes.backward * call_seconds(speed_.product_call, true);
  }
  /// Memory traffic: `times` tensors of so many values are read or written. A sum of two tensors
  /// reads two and writes one.
  [[nodiscard]] double traffic(double values, double times) const {
    return operation_seconds(speed_.add, values, false) * times / 3.0;
  }
  void move(double values, double times, double calls, double repeats) {
    sum_.elementwise += repeats * traffic(values, times);
    sum_.overhead += repeats * calls * call_seconds(speed_.add, false);
  }
  void attention(Passes passes);
  [[nodiscard]] double block_rest(bool backward) const;

  const ModelConfig& model_;
  const MachineSpeed& speed_;
  bool fused_, masked_;
  double rows_, length_;
  StepSeconds sum_;
};

void Counter::attention(Passes passes) {
  const auto heads = static_cast<double>(model_.heads);
  const auto head_dim = static_cast<double>(model_.head_dim);
  sum_.overhead += passes.forward * call_seconds(speed_.attention_call, false) +
                   passes.backward * call_seconds(speed_.attention_call, true);
  // A mask of its own is not known to be causal: then every pair is computed.
  const double pairs = masked_ || !fused_ ? length_ * length_ : length_ * (length_ + 1) / 2;
  if (fused_) {
    sum_.attention += rows_ * heads * pairs *
                      (passes.forward * attention_pair_seconds(speed_, length_, head_dim, false) +
                       passes.backward * attention_pair_seconds(speed_, length_, head_dim, true));
    return;
  }
  // Scores and weighted values, and the passes over the scores between them: scale, mask, softmax
  // forward; their gradients backward.
  const double products = rows_ * heads *
                          (product_seconds(speed_, length_, head_dim, length_) +
                           product_seconds(speed_, length_, length_, head_dim));
  const double scores = rows_ * heads * pairs;
  sum_.attention += (passes.forward + 2 * passes.backward) * products +
                    traffic(scores, 7) * passes.forward + traffic(scores, 8) * passes.backward;
}

/// A recipe with the shape of a measured block.
Config config_of(const BlockTime& block) {
  constexpr double kHeadDim = 64;
  Config config;
  config.model.d_model = std::llround(block.d_model);
  config.model.heads = config.model.kv_heads = std::llround(block.d_model / kHeadDim);
  config.model.head_dim = std::llround(kHeadDim);
  config.model.d_ff = std::llround(block.d_ff);
  return config;
}

/// What a block takes beyond the sum of its parts: the difference in the measured blocks, by values
/// of the stream; in proportion to them outside of the measured range.
double Counter::block_rest(bool backward) const {
  double below = 0, below_rest = 0;
  const double values = tokens() * width();
  for (const auto& block : speed_.blocks) {
    const auto config = config_of(block);
    Counter parts(config, speed_, block.tokens / block.length, block.length);
    parts.block_parts(backward ? Passes{0, 1} : Passes{1, 0});
    const double rest = (backward ? block.backward_s : block.forward_s) - parts.sum().total();
    const double at = block.tokens * block.d_model;
    if (values <= at) return below_rest + (rest - below_rest) * (values - below) / (at - below);
    below = at;
    below_rest = rest;
  }
  return below > 0 ? below_rest * values / below : 0.0;
}

void Counter::block(Passes passes) {
  block_parts(passes);
  sum_.overhead += passes.forward * block_rest(false) + passes.backward * block_rest(true);
}

/// x + attn(norm x), then + mlp(norm x).
void Counter::block_parts(Passes passes) {
  const double n = tokens(), d = width(), joint = queries() + 2 * keys(), f = feed_forward();
  for (int i = 0; i < 2; ++i) {
    norm(passes);
    norm({passes.backward, 0});          // again on the way back, instead of being kept
    move(n * d, 3, 1, passes.forward);   // the residual sum
    move(n * d, 3, 1, passes.backward);  // gradients of stream and branch meet
  }
  product(n, d, joint, passes, sum_.matmul);
  // Fused, attention is measured from the joint product on.
  if (!fused_) {
    operation(speed_.rotate, n * queries(), passes);
    operation(speed_.rotate, n * keys(), passes);
    move(n * keys(), 2, 0, passes.forward + passes.backward);
  }
  if (model_.qk_norm != QkNorm::kNone) {
    operation(speed_.norm, n * queries(), passes);
    operation(speed_.norm, n * keys(), passes);
  }
  if (!fused_ &&
      model_.kv_heads != model_.heads) {  // keys and values are repeated for each query head
    move(n * queries(), 4, 2, passes.forward);
    move(n * queries(), 4, 2, passes.backward);
  }
  attention(passes);
  product(n, queries(), d, passes, sum_.matmul);
  product(n, d, 2 * f, passes, sum_.matmul);
  operation(speed_.swiglu, n * f, passes);
  product(n, f, d, passes, sum_.matmul);
}

/// The loop's part of the injection.
void Counter::inject(Passes passes) {
  const double values = tokens() * width();
  switch (model_.injection) {
    case Injection::kNone:
      return;
    case Injection::kDense:
      product(tokens(), width(), width(), passes, sum_.matmul);
      [[fallthrough]];
    case Injection::kScalar:
      move(values, 3, 1, passes.forward);
      break;
    case Injection::kChannel:
    case Injection::kResidualChannel:
      move(values, 3, 1, passes.forward);
      move(values, 2 + 3 + 1, 3, passes.backward);  // for the state; for a: product and sum
      break;
  }
  move(values, 3, 1, passes.backward);  // e's gradients of all loops are summed
}

/// An RLT's attention to its memory, by as many tokens as this counter has.
void Counter::cross(double memory_length, Passes passes) {
  const double n = tokens(), d = width();
  norm(passes);
  for (int i = 0; i < 2; ++i) product(n, d, d, passes, sum_.matmul);
  operation(speed_.rotate, n * d, passes);
  if (model_.qk_norm != QkNorm::kNone) operation(speed_.norm, n * d, passes);
  const auto heads = static_cast<double>(model_.heads);
  const auto head_dim = static_cast<double>(model_.head_dim);
  const double pairs = n * heads * (memory_length + 1) / 2;
  sum_.attention +=
      pairs * (passes.forward * attention_pair_seconds(speed_, memory_length, head_dim, false) +
               passes.backward * attention_pair_seconds(speed_, memory_length, head_dim, true));
  sum_.overhead += passes.forward * call_seconds(speed_.attention_call, false) +
                   passes.backward * call_seconds(speed_.attention_call, true);
  move(n * d, 3, 1, passes.forward + passes.backward);
  // The gradient of the memory is as long as the memory, for every chunk.
  move(rows_ * memory_length * d, 10, 4, passes.backward);
}

/// The merge of an RLT's register into a chunk.
void Counter::merge(Passes passes) {
  product(rows_, width(), 2 * width(), passes, sum_.matmul);
  norm(passes);
  move(tokens() * width(), 6, 4, passes.forward);
  move(tokens() * width(), 9, 6, passes.backward);
}

/// What runs once a pass besides blocks and head: embedding, e's part of the injection, final norm.
void Counter::once(Passes passes) {
  const double values = tokens() * width();
  move(values, 2, 1, passes.forward);
  move(values, 3, 1, passes.backward);
  if (model_.kind == ModelKind::kLooped && model_.injection == Injection::kDense)
    product(tokens(), width(), width(), passes, sum_.matmul);
  norm(passes);
}

void Counter::head(double vocab, double read_outs, Passes passes) {
  const double logits = read_outs * vocab;
  product(read_outs, width(), vocab, passes, sum_.head);
  sum_.head += passes.forward * operation_seconds(speed_.loss, logits, false) +
               passes.backward * operation_seconds(speed_.loss, logits, true);
  sum_.overhead += passes.forward * call_seconds(speed_.loss, false) +
                   passes.backward * call_seconds(speed_.loss, true);
  if (model_.logit_scale != 1.0)
    sum_.head += traffic(logits, 2) * (passes.forward + passes.backward);
  if (model_.logit_softcap != 0.0)
    sum_.head += traffic(logits, 6) * passes.forward + traffic(logits, 9) * passes.backward;
}

/// Joins and pads the weights of `layers` layers, and takes their gradients apart again after
/// summing those of all `backward_uses` uses.
void Counter::pack_weights(double layers, double backward_uses, bool gradients) {
  const double joint = width() * (queries() + 2 * keys()), f = width() * feed_forward();
  for (const double values : {joint, 2 * f, f}) {
    move(values, values == joint ? 2 : 4, 3, layers);
    if (!gradients) continue;
    move(values, 2, 3, layers);
    move(values, 3, 1, layers * std::max(0.0, backward_uses - 1));
  }
}

double largest_evaluation_rows(const Config& config) {
  const double most =
      config.model.kind == ModelKind::kRlt ? 8 * kEvaluationTokens : kEvaluationTokens;
  return std::max(1.0, std::floor(most / static_cast<double>(config.data.sequence_length)));
}

/// Loop counts that the sweep at the end of a run reads out: every one up to 4 T, or 34 of them.
double sweep_read_outs(double last) { return std::min(last, 34.0); }

}  // namespace

namespace {

/// A pass of an RLT over `rows` sequences without the head: encoder and memory at once, the decoder
/// chunk by chunk.
StepSeconds rlt_pass(const Config& config, const MachineSpeed& speed, double rows, double length,
                     Passes passes) {
  const auto& model = config.model;
  const auto encoder = static_cast<double>(model.encoder_layers);
  const auto decoder = static_cast<double>(model.decoder_layers);
  const double chunk = model.feedback_interval == 0
                           ? length
                           : std::min(length, static_cast<double>(model.feedback_interval));
  const double chunks = std::ceil(length / chunk);
  Counter whole(config, speed, rows, length), part(config, speed, rows, chunk);
  const auto times = [&](double n) { return Passes{n * passes.forward, n * passes.backward}; };
  whole.block(times(encoder));
  whole.once(passes);
  if (decoder > 0) whole.memory(passes);
  if (model.feedback_interval != 0) part.merge(times(chunks));
  part.block(times(chunks * decoder));
  part.cross(length, times(chunks * decoder));
  whole.pack_weights(encoder + decoder, 1, passes.backward > 0);
  auto seconds = whole.sum();
  return seconds += part.sum();
}

}  // namespace

StepSeconds step_seconds(const Config& config, std::int64_t vocab, std::int64_t micro_batch,
                         const MachineSpeed& speed, LoopCount loops) {
  const auto& model = config.model;
  if (model.kind == ModelKind::kRlt) {
    const auto rows = static_cast<double>(micro_batch);
    const auto length = static_cast<double>(config.data.sequence_length);
    auto seconds = rlt_pass(config, speed, rows, length, {});
    Counter head(config, speed, rows, length);
    head.head(static_cast<double>(vocab), rows * length, {});
    seconds += head.sum();
    seconds = static_cast<double>(config.train.batch) / rows * seconds;
    return seconds += update_seconds(config, vocab, speed);
  }
  const auto length = static_cast<double>(config.data.sequence_length);
  const auto rows = static_cast<double>(micro_batch);
  const auto outside = static_cast<double>(model.prelude_layers + model.coda_layers);
  const auto core = static_cast<double>(model.core_layers);
  const double again = config.loops.recompute ? loops.backward : 0.0;
  const Passes each{loops.forward + again, loops.backward};

  Counter counter(config, speed, rows, length);
  // Every read-out has its own pass through the coda and the head.
  const double read = read_outs(config.train, loops);
  const double again_read = (read - 1) * static_cast<double>(model.coda_layers);
  counter.block({outside + again_read, outside + again_read});
  counter.block({core * each.forward, core * each.backward});
  counter.inject(each);
  if (model.loop_norm) counter.norm(each);
  counter.once({});
  if (read > 1) counter.norm({read - 1, read - 1});
  counter.head(static_cast<double>(vocab), read * rows * length, {});
  counter.pack_weights(outside, 1, true);
  counter.pack_weights(core, loops.backward, true);
  auto seconds = counter.sum();
  seconds += conditioning_seconds(
      model, {rows * length, loops.forward, each.forward, each.backward}, speed);
  seconds = static_cast<double>(config.train.batch) / rows * seconds;
  Counter records(config, speed, rows, length);
  records.state_norms(loops.forward);
  seconds += records.sum();
  return seconds += update_seconds(config, vocab, speed);
}

StepSeconds step_seconds(const Config& config, std::int64_t vocab, std::int64_t micro_batch,
                         const MachineSpeed& speed) {
  return step_seconds(config, vocab, micro_batch, speed,
                      expected_loops(config.loops, config.train.steps));
}

RunSeconds run_seconds(const Config& config, std::int64_t vocab, std::int64_t micro_batch,
                       const MachineSpeed& speed) {
  const auto& train = config.train;
  const auto length = config.data.sequence_length;
  const auto steps = static_cast<double>(train.steps);
  RunSeconds run;
  run.steps = steps * step_seconds(config, vocab, micro_batch, speed).total();

  const double rows = largest_evaluation_rows(config);
  const double passes =
      static_cast<double>(config.data.validation_tokens) / (rows * static_cast<double>(length));
  const auto pass = [&](double loops) {
    return forward_seconds(config, vocab, static_cast<std::int64_t>(rows), length, loops, length,
                           speed)
        .total();
  };
  const auto trained = static_cast<double>(config.loops.forward);
  const double validations =
      train.validate_every > 0 ? std::floor((steps - 1) / static_cast<double>(train.validate_every))
                               : 0.0;
  run.validation = validations * passes * pass(trained);
  // The sweep runs 4 T loops once and reads out after many of them; a read-out is what a pass costs
  // beyond its loops.
  const double loop = pass(2) - pass(1), last = trained > 1 ? 4 * trained : 1;
  run.validation += passes * (pass(last) + (sweep_read_outs(last) - 1) * (pass(1) - loop));
  return run;
}

double sustained_gflops(const Config& config, std::int64_t vocab, std::int64_t micro_batch,
                        const MachineSpeed& speed) {
  const auto counts = count_parameters(config.model, vocab);
  const auto loops = expected_loops(config.loops, config.train.steps);
  const double flops = train_matmul_flops(counts, loops, read_outs(config.train, loops));
  const double tokens =
      static_cast<double>(config.train.batch) * static_cast<double>(config.data.sequence_length);
  return flops * tokens / step_seconds(config, vocab, micro_batch, speed).total() / 1e9;
}

StepSeconds forward_seconds(const Config& config, std::int64_t vocab, std::int64_t rows,
                            std::int64_t length, double loops, std::int64_t read_outs,
                            const MachineSpeed& speed) {
  const auto& model = config.model;
  const auto outside = static_cast<double>(model.prelude_layers + model.coda_layers);
  const auto core = static_cast<double>(model.core_layers);
  Counter counter(config, speed, static_cast<double>(rows), static_cast<double>(length));
  if (model.kind == ModelKind::kRlt) {
    counter.head(static_cast<double>(vocab), static_cast<double>(rows * read_outs), {1, 0});
    auto seconds =
        rlt_pass(config, speed, static_cast<double>(rows), static_cast<double>(length), {1, 0});
    return seconds += counter.sum();
  }
  counter.block({outside, 0});
  counter.block({core * loops, 0});
  counter.inject({loops, 0});
  if (model.loop_norm) counter.norm({loops, 0});
  counter.once({1, 0});
  counter.head(static_cast<double>(vocab), static_cast<double>(rows * read_outs), {1, 0});
  counter.pack_weights(outside + core, 0, false);
  auto seconds = counter.sum();
  const auto tokens = static_cast<double>(rows * length);
  return seconds += conditioning_seconds(model, {tokens, loops, loops, 0}, speed);
}

StepSeconds decode_seconds(const Config& config, std::int64_t vocab, double context, double loops,
                           const MachineSpeed& speed) {
  const auto& model = config.model;
  const auto counts = count_parameters(model, vocab);
  const auto once = static_cast<double>(counts.n_once_matrices);
  const auto core = static_cast<double>(counts.n_rec_matrices);
  const bool rlt = model.kind == ModelKind::kRlt;
  const auto outside_layers =
      static_cast<double>(rlt ? model.encoder_layers : model.prelude_layers + model.coda_layers);
  const double layers =
      outside_layers + static_cast<double>(rlt ? model.decoder_layers : model.core_layers) * loops;
  const double head = static_cast<double>(vocab) * static_cast<double>(model.d_model);
  // All distinct weights compete for the caches, so all are read at the speed of their sum.
  const double distinct = once + core + head;
  const double per_value = operation_seconds(speed.vector_product, distinct, false) / distinct;
  const double cached = kv_cache_bytes_per_token(model, loops) / 4.0;

  StepSeconds seconds;
  seconds.matmul = (once + loops * core) * per_value;
  seconds.head = head * per_value;
  seconds.attention = operation_seconds(speed.add, cached * context, false) / 3.0;
  seconds.overhead =
      layers * (4 * call_seconds(speed.product_call, false) + 2 * call_seconds(speed.norm, false) +
                2 * call_seconds(speed.rotate, false) + call_seconds(speed.swiglu, false) +
                4 * call_seconds(speed.add, false));
  return seconds;
}

double seconds_for(double flops, const Speed& speed) {
  require(speed.roof_gflops > 0, "roof = {} GFLOP/s: expected a number above 0", speed.roof_gflops);
  require(speed.efficiency > 0 && speed.efficiency <= 1,
          "efficiency = {}: expected a share of the roof above 0 and up to 1", speed.efficiency);
  return flops / (speed.roof_gflops * 1e9 * speed.efficiency);
}

double roof_share(double flops, double seconds, double roof_gflops) {
  return flops / seconds / (roof_gflops * 1e9);
}

}  // namespace rondo
