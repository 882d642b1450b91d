// The looped language model: embed → prelude → e; a state runs through the shared core several
// times, each time after e has been injected; coda; head. One loop without injection and loop norm
// is the plain transformer.
#pragma once

#include <span>

#include "model/history.h"
#include "model/injection.h"
#include "model/timestep.h"
#include "model/unroll.h"
#include "nn/block.h"

namespace rondo {

/// Weights of the model. Shapes as in the contract's table of tensor names.
struct LoopedLm {
  ModelConfig config;
  Linear embed;
  std::vector<Block> prelude, core, coda;
  Inject inject;
  History history;
  Timestep timestep;
  std::optional<RmsNorm> loop_norm;
  RmsNorm final_norm;
  std::optional<Linear> head;  ///< absent when tied: then the embedding's weight is used
  Form form = Form::kFused;

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("embed", self.embed);
    visit("prelude", self.prelude);
    visit("core", self.core);
    visit("coda", self.coda);
    visit("inject", self.inject);
    visit("history", self.history);
    visit("timestep", self.timestep);
    visit("loop_norm", self.loop_norm);
    visit("final_norm", self.final_norm);
    visit("head", self.head);
  }
};

/// A model with shapes and roles but without values. `config.vocab` must be set.
LoopedLm make_looped_lm(const ModelConfig& config);

/// The same with initial values from `seed` (nn/init.h), ready to train.
LoopedLm initial_looped_lm(const ModelConfig& config, std::uint64_t seed);

/// Whether a pass goes through the same states as a longer one: all do but those whose loops go by
/// a time on the rescaled grid.
bool passes_nest(const ModelConfig& config);

/// What a forward pass reads.
struct LoopedInput {
  Tensor tokens_BT;     ///< int64
  Tensor documents_BT;  ///< number of the document of each token; undefined = no document mask
  /// Streams of a random initial state: row b uses stream (seed, sample_keys[b]). Needed only with
  /// state_init "normal"; rows without a key use their number.
  std::uint64_t state_seed = 0;
  std::vector<std::uint64_t> sample_keys;
};

/// One run of a block in a pass.
struct BlockRun {
  std::string_view part;   ///< "prelude", "core" or "coda"
  std::int64_t layer = 0;  ///< within its part
  std::int64_t loop = 0;   ///< l of a core block, from 0
  const Tensor& before;    ///< [B, T, D]
  const Tensor& after;
};

/// Called after every block of the prelude, of the core, and of the coda in coda().
using BlockObserver = std::function<void(const BlockRun& run)>;

/// A forward pass in two halves, so that evaluation can read out after any loop and training after
/// the last. Holds the packed weights and the rotary table of the pass; the model must outlive it.
class LoopedPass {
 public:
  LoopedPass(const LoopedLm& model, const LoopedInput& input, BlockObserver observe_blocks = {});
  /// With `e_BTD` in place of what the prelude would give.
  LoopedPass(const LoopedLm& model, const LoopedInput& input, const Tensor& e_BTD,
             BlockObserver observe_blocks = {});

  /// Runs the loops; returns the state after the last, [B, T, D].
  Tensor run(const LoopPlan& plan, const LoopObserver& observe = {}) const;

  /// Goes on from a point instead of h_0. On the rescaled grid the pass counts as one of
  /// `point.loop + plan.loops` loops, or of `plan.of`.
  Tensor run_from(LoopPoint point, const LoopPlan& plan, const LoopObserver& observe = {}) const;

  /// The state after the loop that begins at `point` in a pass of `of` loops, when its core layer
  /// `first` is given x_BTD; the layers before it do not run.
  [[nodiscard]] Tensor finish_loop(const LoopPoint& point, std::int64_t first, Tensor x_BTD,
                                   std::int64_t of) const;
  /// Moves `point` on to the state after its loop, as the loops do.
  void advance(LoopPoint& point, Tensor state_BTD) const;

  /// Shows the state after each number of loops in `loops` (ascending) of a pass of that many. One
  /// pass shows them all, unless a loop's time depends on how many will follow.
  void run_each(std::span<const std::int64_t> loops, const LoopObserver& observe) const;

  /// What the layers of the prelude from `first` on make of x_BTD.
  [[nodiscard]] Tensor prelude(Tensor x_BTD, std::int64_t first) const;
  /// What the layers of the coda from `first` on make of x_BTD.
  [[nodiscard]] Tensor coda(Tensor x_BTD, std::int64_t first = 0) const;
  /// What the head reads of x_BTD.
  [[nodiscard]] Tensor final_norm(const Tensor& x_BTD) const;
  /// Logits, with scale and soft cap, of what the head reads.
  [[nodiscard]] Tensor head(const Tensor& normed_BTD) const;

  /// Coda and final norm of a state: what the head reads, [B, T, D]. Not observed.
  [[nodiscard]] Tensor read_out(const Tensor& state_BTD) const;

  /// Logits of a state, [B, T, V].
  [[nodiscard]] Tensor logits(const Tensor& state_BTD) const;
  /// Σ of the cross-entropies of the logits read out from a state, in nats; logits are never whole.
  [[nodiscard]] Tensor summed_loss(const Tensor& state_BTD, const Tensor& targets_N) const;

  /// e, what the prelude gave, [B, T, D].
  [[nodiscard]] const Tensor& e_BTD() const { return e_BTD_; }
  /// h_0, the state before the first loop.
  [[nodiscard]] const Tensor& initial_state() const { return initial_; }

 private:
  const LoopedLm& model_;
  BlockContext context_;
  std::vector<PackedBlock> core_, coda_;
  InjectContext inject_;
  HistoryContext history_;
  Tensor e_BTD_, initial_;
  BlockObserver observe_blocks_;
};

}  // namespace rondo
