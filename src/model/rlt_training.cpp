// Segments of a sequence, one backward pass each where that is possible.
#include "model/rlt_training.h"

#include <algorithm>

namespace rondo {
namespace {

/// What the core reads.
struct CoreInput {
  CoreWeights weights;
  Tensor e_BTD;
  MemoryKv memory;

  [[nodiscard]] std::vector<Tensor> tensors() const {
    std::vector<Tensor> list = {e_BTD};
    if (memory.k_BHSK.defined()) list.insert(list.end(), {memory.k_BHSK, memory.v_BHSK});
    weights.append_to(list);
    return list;
  }
  [[nodiscard]] CoreInput rebuilt(const std::vector<Tensor>& list) const {
    CoreInput input = *this;
    std::size_t next = 0;
    input.e_BTD = list[next++];
    if (memory.k_BHSK.defined()) {
      input.memory.k_BHSK = list[next++];
      input.memory.v_BHSK = list[next++];
    }
    input.weights = weights.rebuilt(list, next);
    return input;
  }
};

/// The memory as a segment sees it: what came before it constant when it is cut. The core itself
/// looks no further than its token.
MemoryKv seen_from(const MemoryKv& memory, std::int64_t first, bool cut) {
  if (!memory.k_BHSK.defined() || !cut || first == 0) return memory;
  const auto part = [&](const Tensor& x_BHSK) {
    const auto rest = x_BHSK.size(2) - first;
    return at::cat({x_BHSK.narrow(2, 0, first).detach(), x_BHSK.narrow(2, first, rest)}, 2);
  };
  return {part(memory.k_BHSK), part(memory.v_BHSK), {}, {}};
}

/// Runs the segments one after the other and gives the loss of each to `use`.
void run_segments(const CoreInput& input, const CoreSetting& setting, const Truncation& truncation,
                  const StateLoss& loss, const std::function<void(Tensor)>& use) {
  DecoderState state;
  auto segment = setting;
  segment.state_is_cut = truncation.state && truncation.kv;
  const auto length = input.e_BTD.size(1);
  for (std::int64_t first = 0; first < length; first += truncation.tokens) {
    const auto count = std::min(truncation.tokens, length - first);
    state.cut(truncation.state, truncation.kv);
    const auto states = run_core(input.weights, segment, input.e_BTD.narrow(1, first, count),
                                 seen_from(input.memory, first, truncation.memory), state);
    use(loss(states, first));
  }
}

}  // namespace

Truncation truncation_of(const TrainConfig& train) {
  const auto names = [&](BpttPart part) {
    return std::find(train.bptt_detach.begin(), train.bptt_detach.end(), part) !=
           train.bptt_detach.end();
  };
  return {.tokens = train.bptt_tokens,
          .state = names(BpttPart::kState),
          .kv = names(BpttPart::kKv),
          .memory = names(BpttPart::kMemory)};
}

bool is_cut(const Truncation& truncation, std::int64_t length) {
  return truncation.tokens > 0 && truncation.tokens < length;
}

double back_propagate(const RltPass& pass, const Truncation& truncation, const StateLoss& loss) {
  const auto length = pass.e_BTD().size(1);
  const CoreInput input{pass.weights(), pass.e_BTD(), pass.memory()};
  auto parts = truncation;
  if (!pass.setting().lengths.empty() || !is_cut(truncation, length)) parts = {.tokens = length};
  if (!parts.state || !parts.kv) {
    Tensor sum;
    run_segments(input, pass.setting(), parts, loss,
                 [&](const Tensor& part) { sum = sum.defined() ? sum + part : part; });
    back_propagate(sum);
    return sum.item<double>();
  }
  // Leaves in place of what the core reads hold the gradients of all segments until they are
  // passed on; those of the memory are added up outside of autograd.
  const auto sources = input.tensors();
  std::vector<Tensor> leaves, gathered;
  for (const auto& source : sources)
    leaves.push_back(source.detach().requires_grad_(source.requires_grad()));
  auto separate = input.rebuilt(leaves);
  if (separate.memory.k_BHSK.defined() && !parts.memory) {
    separate.memory.k_gradient = at::zeros_like(separate.memory.k_BHSK);
    separate.memory.v_gradient = at::zeros_like(separate.memory.v_BHSK);
  }
  double sum = 0;
  run_segments(separate, pass.setting(), parts, loss, [&](const Tensor& part) {
    back_propagate(part);
    sum += part.item<double>();
  });
  for (const auto& leaf : leaves) gathered.push_back(leaf.grad());
  if (separate.memory.k_gradient.defined()) {
    gathered[1] = separate.memory.k_gradient;
    gathered[2] = separate.memory.v_gradient;
  }
  back_propagate(sources, gathered);
  return sum;
}

}  // namespace rondo
