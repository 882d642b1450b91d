// `rondo generate`: a text written on, or scored.
#include "eval/generate.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/machine.h"
#include "cli/command.h"
#include "cli/model_options.h"
#include "config/range.h"
#include "cost/memory.h"
#include "law/raw_table.h"

namespace rondo {
namespace {

/// Longer than any text that fits into memory.
constexpr std::int64_t kMostNewTokens = std::int64_t{1} << 40;
constexpr std::int64_t kMostChoiceSeed = std::numeric_limits<std::int64_t>::max();

struct GenerateArguments {
  ModelOptions model;
  std::optional<std::string> prompt, tokens, score, score_tokens, exit;
  std::optional<std::string> temperature, top_p;
  std::vector<std::string> stops;
  std::int64_t loops = 0;       ///< 0 = not given
  std::int64_t max_tokens = 0;  ///< 0 = not given
  std::int64_t top_k = 0, seed = 0;
  std::int64_t threads = 0;
  bool json = false;
};

constexpr std::int64_t kUsualTokens = 128;

double real_of(const std::string& name, const std::optional<std::string>& text, double otherwise) {
  if (!text) return otherwise;
  const auto number = parse_number(*text);
  require(number.has_value(), "{} {}: expected a number, such as 0.8", name, one_line(*text));
  return *number;
}

/// What can be refused before anything is read.
void check(const GenerateArguments& arguments) {
  require(!arguments.exit,
          "--exit {}: this version has no exit rules, every token goes through the same loops; "
          "leave it out (--loops says how many)",
          one_line(arguments.exit.value_or("")));
  require(arguments.prompt.has_value() != arguments.tokens.has_value(),
          "{}: expected --prompt TEXT or --tokens 1,2,3, one of them",
          arguments.prompt ? "--prompt with --tokens" : "nothing to begin with");
  require(!arguments.score || !arguments.score_tokens,
          "--score with --score-tokens: expected one of them");
  if (!arguments.score && !arguments.score_tokens) return;
  require(!arguments.temperature && !arguments.top_p && arguments.top_k == 0 &&
              arguments.max_tokens == 0 && arguments.seed == 0 && arguments.stops.empty(),
          "--score and --score-tokens choose no tokens; leave out --max-tokens, --temperature, "
          "--top-k, --top-p, --seed and --stop");
}

std::vector<std::int32_t> listed_ids(const std::string& list, const char* name,
                                     std::int64_t vocab) {
  std::vector<std::int32_t> ids;
  for (const auto id : parse_integers(list, name)) {
    require(id >= 0 && id < vocab, "{}: id {} is outside the vocabulary of {} (0 … {})", name, id,
            vocab, vocab - 1);
    ids.push_back(static_cast<std::int32_t>(id));
  }
  return ids;
}

/// Ids of the prompt, or of the text to be scored.
std::vector<std::int32_t> ids_of(const TextForm& form, const std::optional<std::string>& text,
                                 const std::optional<std::string>& list, const char* text_name,
                                 const char* list_name, std::int64_t vocab) {
  if (list) return listed_ids(*list, list_name, vocab);
  return form.ids(*text, text_name);
}

/// Keys and values of a text, and of a pass its logits.
void check_memory(const Config& config, std::int64_t loops, std::size_t read, std::int64_t more,
                  bool whole_pass) {
  const double tokens = static_cast<double>(read) + static_cast<double>(more);
  // Twice: room for keys and values is doubled when it runs out.
  double each = 2.0 * kv_cache_bytes_per_token(config.model, static_cast<double>(loops));
  if (whole_pass) each += 2.0 * 8.0 * static_cast<double>(config.model.vocab);
  const auto free = static_cast<double>(free_memory_bytes());
  require(tokens * each <= free,
          "{} {}: {:.0f} tokens at {} loops take {} of memory and {} are free; expected fewer "
          "tokens{}",
          whole_pass ? "--score of" : "--max-tokens", more, tokens, loops, bytes(tokens * each),
          bytes(free), loops > 1 ? " or loops" : "");
}

void print_scores(const GenerateArguments& arguments, const TextForm& form,
                  std::span<const std::int32_t> ids, const std::vector<double>& scores,
                  std::int64_t loops) {
  const double sum = std::accumulate(scores.begin(), scores.end(), 0.0);
  std::string text;
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (ids[i] < form.vocab()) text += form.piece(ids[i], i);
  if (arguments.json)
    return print_json({{"text", text},
                       {"tokens", std::vector(ids.begin(), ids.end())},
                       {"log_probabilities", scores},
                       {"log_probability", sum},
                       {"loops_used", std::vector(ids.size(), loops)}});
  TextTable table({"token", "log_probability"});
  for (std::size_t i = 0; i < ids.size(); ++i)
    table.add({std::to_string(ids[i]), fmt::format("{:.6f}", scores[i])});
  table.add({"sum", fmt::format("{:.6f}", sum)});
  print_table(table);
}

void print_generated(const GenerateArguments& arguments, const Generated& result,
                     std::int64_t loops) {
  if (!arguments.json) {
    std::fputc('\n', stdout);
    log("{} tokens, {} loops each, {:.1f} tokens/s after a prompt of {}; stopped by {}",
        result.tokens.size(), loops, result.tokens_per_s, duration(result.prompt_s),
        result.stop_reason);
    return;
  }
  print_json({{"text", result.text},
              {"tokens", result.tokens},
              {"log_probabilities", result.log_probabilities},
              {"loops_used", std::vector(result.tokens.size(), loops)},
              {"tokens_per_s", result.tokens_per_s},
              {"prompt_s", result.prompt_s},
              {"stop_reason", result.stop_reason}});
}

void show_text(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

void run_generate(const GenerateArguments& arguments, int& status) {
  check(arguments);
  const Sampling sampling{.temperature = real_of("--temperature", arguments.temperature, 1.0),
                          .top_k = arguments.top_k,
                          .top_p = real_of("--top-p", arguments.top_p, 1.0),
                          .seed = static_cast<std::uint64_t>(arguments.seed)};
  check(sampling);
  const auto opened = open_model(arguments.model, arguments.loops > 0);
  const auto& config = opened.stored.config;
  use_threads(arguments.threads);
  const TextForm form(config.data);
  const auto vocab = config.model.vocab;
  require(form.vocab() <= vocab, "{}: its vocabulary of {} is smaller than the {} ids of its text",
          opened.file.string(), vocab, form.vocab());
  auto prompt = arguments.prompt ? form.beginning() : std::vector<std::int32_t>{};
  const auto given =
      ids_of(form, arguments.prompt, arguments.tokens, "--prompt", "--tokens", vocab);
  require(!given.empty(), "--prompt: holds no token; expected text to go on from");
  prompt.insert(prompt.end(), given.begin(), given.end());
  const auto loops = arguments.loops > 0 ? arguments.loops : config.loops.forward;

  if (arguments.score || arguments.score_tokens) {
    const auto ids =
        ids_of(form, arguments.score, arguments.score_tokens, "--score", "--score-tokens", vocab);
    require(!ids.empty(), "--score: holds no token; expected text to score");
    check_memory(config, loops, prompt.size(), static_cast<std::int64_t>(ids.size()), true);
    return print_scores(arguments, form, ids,
                        score_continuation(opened.stored.model, prompt, ids, loops), loops);
  }
  const auto most = arguments.max_tokens > 0 ? arguments.max_tokens : kUsualTokens;
  check_memory(config, loops, prompt.size(), most, false);
  const auto result = generate(opened.stored.model, form,
                               {.prompt = prompt,
                                .loops = loops,
                                .max_tokens = most,
                                .sampling = sampling,
                                .stops = arguments.stops},
                               arguments.json ? TextSink() : TextSink(show_text));
  print_generated(arguments, result, loops);
  if (result.stop_reason == "interrupted") status = interrupt_exit_status();
}

void add_choice(CLI::App& command, GenerateArguments& arguments) {
  add_whole_number(command, "--max-tokens", arguments.max_tokens, 1, kMostNewTokens,
                   "tokens to write at most; default 128");
  command.add_option("--temperature", arguments.temperature,
                     "divides the logits; default 1, 0 = always the most probable token");
  add_whole_number(command, "--top-k", arguments.top_k, 0, kMostNewTokens,
                   "choose among the so many most probable tokens only; default 0 = all");
  command.add_option("--top-p", arguments.top_p,
                     "of these the fewest whose probabilities sum to so much; default 1 = all");
  add_whole_number(command, "--seed", arguments.seed, 0, kMostChoiceSeed,
                   "of the choices; the same gives the same text; default 0");
  command
      .add_option("--stop", arguments.stops,
                  "end before this text comes; may be given several times")
      ->allow_extra_args(false);
}

}  // namespace

void declare_generate(CLI::App& app, int& status) {
  auto arguments = std::make_shared<GenerateArguments>();
  auto* command = app.add_subcommand("generate", "Write a text on, or score a continuation");
  add_model(*command, arguments->model);
  command->add_option("--prompt", arguments->prompt, "text to go on from");
  command->add_option("--tokens", arguments->tokens, "the same as token ids: 1,2,3");
  add_whole_number(*command, "--loops", arguments->loops, static_cast<std::int64_t>(kLoops.low),
                   static_cast<std::int64_t>(kLoops.high),
                   "loops of every token; default: loops.forward of the model");
  command->add_option("--exit", arguments->exit, "exit rules are not in this version");
  add_choice(*command, *arguments);
  command->add_option("--score", arguments->score,
                      "write nothing; the log-probability of this text after the prompt");
  command->add_option("--score-tokens", arguments->score_tokens, "the same as token ids: 1,2,3");
  add_feedback_interval(*command, arguments->model);
  add_threads(*command, arguments->threads);
  add_model_choice(*command, arguments->model);
  command->add_flag("--json", arguments->json, "print one JSON object");
  command->footer(
      "Prints what comes after the prompt, as it comes. docs/generation.md has the details.\n"
      "Example: rondo generate runs/a --prompt 'The cell is' --loops 8 --temperature 0.8\n"
      "         rondo generate runs/parity --prompt 0110= --max-tokens 1 --temperature 0\n"
      "         rondo generate runs/a --prompt 'The cell is' --score ' small'");
  command->callback([arguments, &status] { run_generate(*arguments, status); });
}

}  // namespace rondo
