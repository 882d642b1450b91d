// The cases as recipes.
#include "train/bench_cases.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace rondo {
namespace {

// A vocabulary far beyond bytes, dense injection, loop norm, head of its own.
constexpr const char* kCommon = R"(
[model]
d_model = {d_model}
heads = {heads}
d_ff = {d_ff}
vocab = {vocab}
prelude_layers = {outer}
core_layers = 2
coda_layers = {outer}
[loops]
forward = {forward}
backward = {backward}
sampler = "{sampler}"
[data]
sequence_length = {length}
[train]
batch = {batch}
learning_rate = 3e-4
)";

struct Shape {
  int d_model, heads, d_ff, vocab, outer, length, batch;
};
constexpr Shape kA{256, 4, 683, 4096, 1, 256, 16};
constexpr Shape kB{512, 8, 1365, 8192, 1, 512, 8};
constexpr Shape kC{128, 2, 341, 256, 0, 128, 64};

std::string looped(const Shape& shape, int forward, int backward, const char* sampler) {
  return fmt::format(kCommon, fmt::arg("d_model", shape.d_model), fmt::arg("heads", shape.heads),
                     fmt::arg("d_ff", shape.d_ff), fmt::arg("vocab", shape.vocab),
                     fmt::arg("outer", shape.outer), fmt::arg("forward", forward),
                     fmt::arg("backward", backward), fmt::arg("sampler", sampler),
                     fmt::arg("length", shape.length), fmt::arg("batch", shape.batch));
}

// The sizes of the RLT paper (arXiv 2610.07591): 512 sequences of 24 tokens.
constexpr const char* kRecurrent = R"(
[model]
d_model = 512
heads = 4
d_ff = 1365
qk_norm = "gain"
tied_head = true
logit_scale = 2.0
vocab = 277
{wiring}
[data]
sequence_length = 24
[train]
batch = 512
learning_rate = 1e-4
)";

std::string recurrent(int interval) {
  return fmt::format(kRecurrent,
                     fmt::arg("wiring", fmt::format("kind = \"rlt\"\nencoder_layers = 4\n"
                                                    "decoder_layers = 4\nwindow = 8\n"
                                                    "feedback_interval = {}",
                                                    interval)));
}

std::string transformer() {
  return fmt::format(kRecurrent, fmt::arg("wiring",
                                          "prelude_layers = 0\ncore_layers = 8\ncoda_layers = 0\n"
                                          "injection = \"none\"\nloop_norm = false\n"
                                          "[loops]\nforward = 1\nbackward = 1"));
}

struct Known {
  std::string name, recipe;
};

const std::vector<Known>& known(Benchmark benchmark) {
  static const std::vector<Known> kLm = {
      {"a11", looped(kA, 1, 1, "fixed")},       {"a22", looped(kA, 2, 2, "fixed")},
      {"a44", looped(kA, 4, 4, "fixed")},       {"a82", looped(kA, 8, 2, "fixed")},
      {"sampled", looped(kA, 4, 4, "uniform")}, {"b44", looped(kB, 4, 4, "fixed")},
      {"c44", looped(kC, 4, 4, "fixed")}};
  static const std::vector<Known> kRlt = {{"RLT-1", recurrent(1)},
                                          {"chunk 4", recurrent(4)},
                                          {"chunk 8", recurrent(8)},
                                          {"RLT-0", recurrent(0)},
                                          {"transformer", transformer()}};
  return benchmark == Benchmark::kLm ? kLm : kRlt;
}

}  // namespace

std::vector<std::string> bench_case_names(Benchmark benchmark) {
  std::vector<std::string> names;
  for (const auto& one : known(benchmark)) names.push_back(one.name);
  return names;
}

BenchCase find_bench_case(Benchmark benchmark, const std::string& name, const Overrides& set) {
  const auto words = split(name, ':');
  const auto& all = known(benchmark);
  const auto found = std::ranges::find(all, words[0], &Known::name);
  if (found == all.end()) {
    const auto names = bench_case_names(benchmark);
    const auto close = nearest(words[0], names);
    fail("--cases {}: no such case{}; the cases are {}", one_line(words[0]),
         close ? fmt::format("; did you mean {}?", *close) : "", join(names, ", "));
  }
  auto changes = set;
  changes.insert(changes.end(), words.begin() + 1, words.end());
  return {name, parse_recipe(found->recipe, "case " + words[0], changes)};
}

}  // namespace rondo
