// Where gradients come from under truncation, and which tensors are used again.
#include "cost/horizon.h"

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
    if (!t.cut) return "all loops drawn";
    return fmt::format("at most the last {} drawn", loops_text(loops.backward));
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
    group.sentence = fmt::format("only in steps that draw at most {}, from the first state",
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

}  // namespace

GradientHorizon gradient_horizon(const Config& config) {
  const auto& model = config.model;
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
  const auto names = looped_names(config.model);
  if (config.loops.forward > 1 && !names.empty())
    for (const auto& name : split(names.text(), ','))
      shared.push_back({name.substr(name.find_first_not_of(' ')), config.loops.forward, {}});
  if (config.model.tied_head) shared.push_back({"embed.weight", 2, "head.weight"});
  return shared;
}

}  // namespace rondo
