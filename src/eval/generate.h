// Writing a text on, token by token, and the log-probability of a given continuation.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "eval/sample.h"
#include "eval/text_form.h"
#include "model/model.h"

namespace rondo {

/// What is to be written.
struct GenerateRequest {
  std::vector<std::int32_t> prompt;  ///< at least one id
  std::int64_t loops = 1;            ///< of every token; 1 for an RLT
  std::int64_t max_tokens = 1;
  Sampling sampling = {};
  std::vector<std::string> stops = {};  ///< the text ends before the first of these
};

/// What was written. The prompt is no part of it.
struct Generated {
  std::string text;                       ///< valid UTF-8; without end and stop
  std::vector<std::int32_t> tokens;       ///< all that were chosen
  std::vector<double> log_probabilities;  ///< of each, under the model's own distribution
  std::string stop_reason;  ///< "length", "end" (of a text), "stop" (a stop came), "interrupted"
  double prompt_s = 0;      ///< time of reading the prompt
  double tokens_per_s = 0;  ///< of the tokens written after the first
};

/// Takes text as it comes: whole characters.
using TextSink = std::function<void(std::string_view)>;

/// Writes `request.prompt` on. `form` says what ids stand for; the choices are a function of the
/// request alone. Stops early when an interrupt is wished.
Generated generate(const Model& model, const TextForm& form, const GenerateRequest& request,
                   const TextSink& show = {});

/// ln of the probability of each token of `continuation` given all before it, from one pass over
/// prompt and continuation. Neither may be empty.
std::vector<double> score_continuation(const Model& model, std::span<const std::int32_t> prompt,
                                       std::span<const std::int32_t> continuation,
                                       std::int64_t loops);

}  // namespace rondo
