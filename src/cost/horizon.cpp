// Where gradients come from under truncation, and which tensors are used again.
#include "cost/horizon.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "cost/loops.h"

namespace rondo {
namespace {

/// "prelude.*" where there are such layers; joined with commas.
class Names {
 public:
  Names& add(bool present, const char* name) {
    if (present) words_.emplace_back(name);
    return *this;
  }
  [[nodiscard]] bool empty() const { return words_.empty(); }
  [[nodiscard]] std::string text() const { return join(words_, ", "); }

 private:
  std::vector<std::string> words_;
};

Names looped_names(const ModelConfig& model) {
  return Names()
      .add(model.injection != Injection::kNone, "inject.*")
      .add(model.history != HistoryForm::kNone, "history.*")
      .add(model.timestep != TimestepForm::kNone, "timestep.*")
      .add(model.core_layers > 0, "core.*")
      .add(model.loop_norm, "loop_norm.weight");
}

std::string loops_text(std::int64_t loops) {
  return loops == 1 ? "1 loop" : fmt::format("{} loops", loops);
}

/// Whether injected e has no weight before the first update, so that no gradient reaches it yet.
bool injection_starts_closed(const ModelConfig& model) {
  return model.injection != Injection::kNone &&
         !(model.injection == Injection::kDense && model.injection_init == InjectionInit::kInput);
}

/// How the loops of a step end up: T, B, and whether some step leaves loops without gradient.
struct Truncation {
  std::int64_t total, kept;
  bool sampled, cut;
};

Truncation truncation(const LoopsConfig& loops) {
  const auto most = largest_loops(loops);
  return {.total = loops.forward,
          .kept = backward_loops(loops.forward, loops.backward),
          .sampled = loops.sampler != Sampler::kFixed,
          .cut = most.backward < most.forward};
}

/// "the last 2 of 4 loops", "all 4 loops", "at most the last 2 loops drawn".
std::string kept_text(const Truncation& t, const LoopsConfig& loops) {
  if (t.sampled) {
    const char* done = is_drawn(loops.sampler) ? "drawn" : "run";
    if (!t.cut) return fmt::format("all loops {}", done);
    return fmt::format("at most the last {} {}", loops_text(loops.backward), done);
  }
  if (t.cut && t.kept == 1) return fmt::format("the last of {}", loops_text(t.total));
  return t.cut ? fmt::format("the last {} of {}", t.kept, loops_text(t.total))
               : fmt::format("all {}", loops_text(t.total));
}

/// Without injection the only way to the input leads through every loop of the step.
GroupHorizon through_every_loop(const Config& config, const Truncation& t) {
  GroupHorizon group;
  group.trained = !t.cut || t.sampled;
  group.loops = group.trained ? t.kept : 0;
  if (!t.cut) {
    group.sentence = "through " + kept_text(t, config.loops) + ", from the first state";
  } else if (t.sampled) {
    group.sentence = fmt::format("only in steps that {} at most {}, from the first state",
                                 is_drawn(config.loops.sampler) ? "draw" : "run",
                                 loops_text(config.loops.backward));
  } else {
    const std::int64_t cut = t.total - t.kept;
    group.sentence = fmt::format("no gradient: nothing is injected and the first {} not trained",
                                 cut == 1 ? "loop is" : fmt::format("{} loops are", cut));
    if (config.model.tied_head) group.sentence += "; embed.weight learns only as the head";
  }
  return group;
}

/// The part before the loop: its gradient arrives through the injections of the last B loops and,
/// when nothing is cut, through the initial state.
GroupHorizon before_the_loop(const Config& config, const Truncation& t) {
  const auto& model = config.model;
  const auto names =
      Names().add(true, "embed.weight").add(model.prelude_layers > 0, "prelude.*").text();
  if (model.injection == Injection::kNone) {
    auto group = through_every_loop(config, t);
    group.tensors = names;
    return group;
  }
  GroupHorizon group{names, t.kept, true, "through the injection of " + kept_text(t, config.loops)};
  const bool from_first_state = model.state_init == StateInit::kPrelude && !t.cut;
  if (from_first_state) group.sentence += " and the first state";
  if (!from_first_state && injection_starts_closed(model))
    group.sentence += "; starts once the injection has left its initial value";
  return group;
}

/// Tokens that one gradient of an RLT goes back through the decoder: when register and keys and
/// values are not both cut, one of them leads back to the first token.
std::int64_t rlt_tokens(const Config& config) {
  const auto& train = config.train;
  const auto cut = [&](BpttPart part) {
    return std::find(train.bptt_detach.begin(), train.bptt_detach.end(), part) !=
           train.bptt_detach.end();
  };
  const auto length = config.data.sequence_length;
  if (train.bptt_tokens == 0 || !cut(BpttPart::kState) || !cut(BpttPart::kKv)) return length;
  return std::min(length, train.bptt_tokens);
}

GradientHorizon rlt_horizon(const Config& config) {
  const auto& model = config.model;
  const auto tokens = rlt_tokens(config), length = config.data.sequence_length;
  const auto names = [](const std::vector<std::pair<bool, const char*>>& parts) {
    Names list;
    for (const auto& [present, name] : parts) list.add(present, name);
    return list.text();
  };
  const bool memory = model.decoder_layers > 0, merge = model.feedback_interval != 0;
  const auto& detach = config.train.bptt_detach;
  const bool memory_cut =
      tokens < length && std::find(detach.begin(), detach.end(), BpttPart::kMemory) != detach.end();
  const std::string span =
      tokens < length ? fmt::format("up to {} tokens", tokens) : "the whole sequence";
  GradientHorizon horizon{1, tokens, {}};
  horizon.groups.push_back(
      {names(
           {{true, "embed.weight"}, {model.encoder_layers > 0, "encoder.*"}, {memory, "memory.*"}}),
       1, true,
       memory ? fmt::format("through the decoder's input and the memory of {}",
                            memory_cut ? span : "all tokens before")
              : "through the decoder's input"});
  if (memory || merge)
    horizon.groups.push_back({names({{merge, "merge.*"}, {memory, "decoder.*"}}), 1, true,
                              "sum over the tokens, back through time over " + span});
  horizon.groups.push_back({names({{true, "final_norm.weight"}, {!model.tied_head, "head.weight"}}),
                            0, true, "directly from the loss, through no loop"});
  return horizon;
}

/// Chunks of a stretch of tokens.
std::int64_t chunks_of(std::int64_t tokens, std::int64_t interval) {
  return interval == 0 ? 1 : (tokens + interval - 1) / interval;
}

}  // namespace

SequentialStages sequential_stages(const Config& config) {
  const auto& model = config.model;
  const auto layers = model.decoder_layers, interval = model.feedback_interval;
  const auto chunks = chunks_of(config.data.sequence_length, interval);
  const auto back = chunks_of(rlt_tokens(config), interval);
  return {.stages = chunks * layers,
          .at_every_token = config.data.sequence_length * layers,
          .parallel = layers,
          .back_propagated = back * layers,
          .merges = interval == 0 ? 0 : chunks,
          .merges_back = interval == 0 ? 0 : back};
}

GradientHorizon gradient_horizon(const Config& config) {
  const auto& model = config.model;
  if (model.kind == ModelKind::kRlt) return rlt_horizon(config);
  const auto t = truncation(config.loops);
  GradientHorizon horizon{t.kept, config.data.sequence_length, {}};
  horizon.groups.push_back(before_the_loop(config, t));
  if (const auto looped = looped_names(model); !looped.empty())
    horizon.groups.push_back(
        {looped.text(), t.kept, true, "sum over " + kept_text(t, config.loops)});
  horizon.groups.push_back({Names()
                                .add(model.coda_layers > 0, "coda.*")
                                .add(true, "final_norm.weight")
                                .add(!model.tied_head, "head.weight")
                                .text(),
                            0, true, "directly from the loss, through no loop"});
  return horizon;
}

std::vector<Sharing> sharing(const Config& config) {
  std::vector<Sharing> shared;
  if (config.model.kind == ModelKind::kRlt) {
    if (config.model.share_blocks)
      for (const char* part :
           {"attn.q", "attn.k", "attn.v", "attn.o", "mlp.gate", "mlp.up", "mlp.down"})
        shared.push_back({fmt::format("encoder.*.{}.weight", part), 2,
                          fmt::format("decoder.*.{}.weight", part)});
    if (config.model.tied_head) shared.push_back({"embed.weight", 2, "head.weight"});
    return shared;
  }
  const auto names = looped_names(config.model);
  if (config.loops.forward > 1 && !names.empty())
    for (const auto& name : split(names.text(), ','))
      shared.push_back({name.substr(name.find_first_not_of(' ')), config.loops.forward, {}});
  if (config.model.tied_head) shared.push_back({"embed.weight", 2, "head.weight"});
  return shared;
}

}  // namespace rondo
