// The recurrent looped transformer (arXiv 2610.07591): embed → encoder → e; memory of e; a decoder
// that reads the register, its own last positions and the memory, and whose state at the end of a
// chunk of tokens becomes the register for the next; head. Feedback at every token is RLT-1, every
// B tokens RLT-2, none at all RLT-0.
#pragma once

#include "model/rlt_core.h"

namespace rondo {

/// Weights of the model. Shapes as in the contract's table of tensor names.
struct Rlt {
  ModelConfig config;
  Linear embed;
  std::vector<Block> encoder;
  std::optional<Memory> memory;  ///< absent without decoder layers
  std::optional<Merge> merge;    ///< absent without feedback
  std::vector<DecoderBlock> decoder;
  RmsNorm final_norm;
  std::optional<Linear> head;  ///< absent when tied: then the embedding's weight is used
  Form form = Form::kFused;

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("embed", self.embed);
    visit("encoder", self.encoder);
    visit("memory", self.memory);
    visit("merge", self.merge);
    visit("decoder", self.decoder);
    visit("final_norm", self.final_norm);
    visit("head", self.head);
  }
};

/// A model with shapes and roles but without values. `config.vocab` must be set.
Rlt make_rlt(const ModelConfig& config);

/// The core's weights as the products want them; gradients flow back to the model's own.
CoreWeights pack_core(const Rlt& model);

/// Logits of states with scale and soft cap, [B, T, V].
Tensor logits_of(const Rlt& model, const Tensor& state_BTD);

/// Σ of the cross-entropies of the logits of states, in nats; logits are never whole.
Tensor summed_loss_of(const Rlt& model, const Tensor& state_BTD, const Tensor& targets_N);

/// A forward pass over whole sequences: the constructor runs what is parallel, encoder and memory;
/// `run` the recurrent core. The model must outlive it.
class RltPass {
 public:
  /// `interval`: tokens between two feedbacks; that of the model unless told otherwise.
  ///
  /// With `lengths`, which fall, tokens [1, N] are those of sequences one after the other, in the
  /// fused form; what is [B, T, D] else is [1, N, D] then.
  RltPass(const Rlt& model, const Tensor& tokens_BT, std::optional<std::int64_t> interval = {},
          std::vector<std::int64_t> lengths = {});

  /// s_t of every position, [B, T, D].
  [[nodiscard]] Tensor run() const;

  [[nodiscard]] const Rlt& model() const { return model_; }
  [[nodiscard]] const CoreWeights& weights() const { return weights_; }
  [[nodiscard]] const CoreSetting& setting() const { return setting_; }
  [[nodiscard]] const Tensor& e_BTD() const { return e_BTD_; }
  [[nodiscard]] const MemoryKv& memory() const { return memory_; }

 private:
  const Rlt& model_;
  CoreSetting setting_;
  CoreWeights weights_;
  Tensor e_BTD_;
  MemoryKv memory_;
};

}  // namespace rondo
