// Stepping a case and counting what it costs.
#include "train/bench_subject.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>

#include "base/rng.h"
#include "base/statistics.h"
#include "cost/flops.h"
#include "nn/engine.h"
#include "tensor/arena.h"
#include "tensor/tensor.h"
#include "train/settle.h"
#include "train/step.h"

namespace rondo {
namespace {

using Clock = std::chrono::steady_clock;

/// Enough random bytes that no two steps of a benchmark need be alike.
TrainingSet random_data(const Config& config) {
  constexpr std::size_t kBytes = std::size_t{1} << 21;
  auto ids = std::make_shared<std::vector<std::uint8_t>>(kBytes);
  const RandomStream stream(config.data.seed, "bench", 0);
  for (std::size_t i = 0; i < kBytes; ++i)
    (*ids)[i] = static_cast<std::uint8_t>(stream.below(256, i));
  const TokenPart part{.name = "random",
                       .tokens = ids->data(),
                       .width = 1,
                       .count = kBytes,
                       .documents = {},
                       .owner = ids};
  auto store = std::make_shared<const TokenStore>(std::vector{part}, config.model.vocab);
  return {TokenView(store, {{0, kBytes}}), open_tokenizer("bytes"),
          Cut{config.data.sequence_length, config.data.document_mask}, config.data.seed, "random"};
}

/// What this process has used so far, and what the whole machine has.
struct Usage {
  double faults = 0, own_s = 0, machine_s = 0;
};

Usage usage_now() {
  struct rusage used {};
  ::getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  Usage usage{.faults = static_cast<double>(used.ru_minflt),
              .own_s = seconds(used.ru_utime) + seconds(used.ru_stime)};
  // user nice system idle iowait irq softirq steal, in ticks
  std::ifstream stat("/proc/stat");
  std::string word;
  stat >> word;
  for (int i = 0; i < 8; ++i) {
    double ticks = 0;
    stat >> ticks;
    if (i != 3 && i != 4) usage.machine_s += ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
  }
  return usage;
}

Config settled(const Config& config) { return settle(config, open_tokenizer("bytes")->vocab()); }

}  // namespace

BenchSubject::BenchSubject(const BenchCase& one)
    : config_(settled(one.config)),
      data_(random_data(config_)),
      model_(initial_model(config_.model, config_.seed)),
      optimizer_(named_parameters(model_), config_.train, form_of(config_.engine)) {
  set_form(model_, form_of(config_.engine));
}

void BenchSubject::activate() const {
  set_threads(static_cast<int>(config_.engine.threads));
  use_engine(config_.engine);
}

void BenchSubject::warm_up() {
  const int steps = config_.loops.sampler == Sampler::kFixed ? 2 : 8;
  for (int i = 0; i < steps; ++i) step();
}

double BenchSubject::tokens_per_step() const {
  return static_cast<double>(config_.train.batch * config_.data.sequence_length);
}

double BenchSubject::step() {
  const auto result =
      run_step(config_, window_batches(data_, config_.train), model_, optimizer_, ++step_);
  return tokens_per_step() * flops_per_token(config_, count_of(result.loops)).train;
}

BenchRound BenchSubject::round(int steps) {
  optimizer_.clear_gradients();
  forget_tensor_peak();
  const auto kept = tensor_memory().live;
  const auto before = usage_now();
  std::vector<double> times;
  double flops = 0, seconds = 0;
  for (int i = 0; i < steps; ++i) {
    const auto start = Clock::now();
    flops += step();
    times.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    seconds += times.back();
  }
  const auto after = usage_now();
  const double others = (after.machine_s - before.machine_s) - (after.own_s - before.own_s);
  return {.median_s = median(times),
          .minimum_s = *std::min_element(times.begin(), times.end()),
          .flops_per_s = flops / seconds,
          .faults = (after.faults - before.faults) / steps,
          .other_cores = std::max(0.0, others / seconds),
          .step_bytes = static_cast<double>(tensor_memory().peak - kept)};
}

}  // namespace rondo
