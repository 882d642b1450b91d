// The loop over tokens, and the pass that scores.
#include "eval/generate.h"

#include <algorithm>
#include <chrono>

#include "base/interrupt.h"
#include "eval/text_stream.h"
#include "model/session.h"

namespace rondo {
namespace {

/// Positions of a prompt that are read at a time: enough for quick products, and attention's mask
/// stays small.
constexpr std::int64_t kPiece = 512;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// What logits() takes of the last position of the prompt.
Tensor read_prompt(ModelSession& session, std::span<const std::int32_t> prompt) {
  Tensor last;
  for (std::size_t first = 0; first < prompt.size(); first += kPiece) {
    const auto piece = prompt.subspan(first, std::min<std::size_t>(kPiece, prompt.size() - first));
    const auto read_BTD = session.extend(token_tensor(piece, 1));
    last = read_BTD.narrow(1, read_BTD.size(1) - 1, 1);
    if (interrupt_signal() != 0) break;
  }
  return last;
}

std::vector<float> row_of(const Tensor& logits_BTV) {
  const auto flat = logits_BTV.flatten().to(at::kFloat).contiguous();
  return {flat.data_ptr<float>(), flat.data_ptr<float>() + flat.numel()};
}

}  // namespace

Generated generate(const Model& model, const TextForm& form, const GenerateRequest& request,
                   const TextSink& show) {
  const NoGrad guard;
  ModelSession session(model, request.loops);
  Generated result;
  TextStream stream(request.stops);
  const auto say = [&](const std::string& text) {
    result.text += text;
    if (show && !text.empty()) show(text);
  };
  auto start = std::chrono::steady_clock::now();
  auto read_BTD = read_prompt(session, request.prompt);
  result.prompt_s = seconds_since(start);
  const auto wanted = static_cast<std::size_t>(request.max_tokens);
  while (result.stop_reason.empty()) {
    const auto index = result.tokens.size();
    if (interrupt_signal() != 0) {
      result.stop_reason = "interrupted";
      break;
    }
    if (index == 1) start = std::chrono::steady_clock::now();
    if (index > 0) read_BTD = session.extend(token_tensor(std::span(&result.tokens.back(), 1), 1));
    const auto chosen =
        choose_token(row_of(session.logits(read_BTD)), form.vocab(), request.sampling, index);
    result.tokens.push_back(chosen.id);
    result.log_probabilities.push_back(chosen.log_probability);
    say(stream.add(form.piece(chosen.id, index)));
    if (chosen.id == form.end())
      result.stop_reason = "end";
    else if (stream.stopped())
      result.stop_reason = "stop";
    else if (result.tokens.size() == wanted)
      result.stop_reason = "length";
  }
  if (result.tokens.size() > 1)
    result.tokens_per_s = static_cast<double>(result.tokens.size() - 1) / seconds_since(start);
  say(stream.finish());
  return result;
}

std::vector<double> score_continuation(const Model& model, std::span<const std::int32_t> prompt,
                                       std::span<const std::int32_t> continuation,
                                       std::int64_t loops) {
  const NoGrad guard;
  std::vector<std::int32_t> all(prompt.begin(), prompt.end());
  all.insert(all.end(), continuation.begin(), continuation.end());
  const ModelPass pass(model,
                       {.tokens_BT = token_tensor(all, 1), .documents_BT = {}, .sample_keys = {}});
  const auto count = static_cast<std::int64_t>(continuation.size());
  const auto logits_NV = pass.logits(pass.run({.loops = loops}))
                             .squeeze(0)
                             .narrow(0, static_cast<std::int64_t>(prompt.size()) - 1, count);
  const auto losses =
      cross_entropy(logits_NV.to(at::kDouble), token_tensor(continuation, 1).flatten()).neg();
  const auto flat = losses.contiguous();
  return {flat.data_ptr<double>(), flat.data_ptr<double>() + count};
}

}  // namespace rondo
