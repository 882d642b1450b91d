// The forward pass behind `rondo forward`.
#include "eval/forward.h"

#include "base/error.h"
#include "config/recipe.h"
#include "eval/loss.h"

namespace rondo {

ForwardResult write_forward(const StoredModel& stored, std::span<const std::int64_t> tokens,
                            std::int64_t loops, const fs::path& out) {
  require(!tokens.empty(), "--tokens: no token given; expected a list like 1,2,3");
  check_loops(loops);
  const auto vocab = stored.config.model.vocab;
  for (const auto id : tokens)
    require(id >= 0 && id < vocab, "--tokens: id {} is outside the vocabulary of {} (0 … {})", id,
            vocab, vocab - 1);
  const NoGrad guard;
  const auto length = static_cast<std::int64_t>(tokens.size());
  const auto ids = at::tensor(at::ArrayRef<std::int64_t>(tokens.data(), tokens.size()), at::kLong);
  const ModelPass pass(
      stored.model,
      {.tokens_BT = ids.view({1, length}), .documents_BT = {}, .state_seed = 0, .sample_keys = {}});
  std::vector<Tensor> states;
  const auto state = pass.run(
      {.loops = loops}, [&](std::int64_t, const Tensor& s) { states.push_back(s.squeeze(0)); });
  const auto logits = pass.logits(state).squeeze(0);

  TensorFile file;
  file.tensors["logits"] = logits;
  file.tensors["states"] = at::stack(states);
  file.metadata["rondo.config"] = to_toml(stored.config);
  write_safetensors(out, file);
  ForwardResult result;
  if (length > 1)
    result.loss_nats = cross_entropy(logits.narrow(0, 0, length - 1), ids.narrow(0, 1, length - 1))
                           .to(at::kDouble)
                           .mean()
                           .item<double>();
  return result;
}

}  // namespace rondo
