// Curves that fall like losses do, with noise of a counter-based stream.
#include "tests/record/fake_runs.h"

#include <unistd.h>

#include <atomic>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/rng.h"
#include "config/recipe.h"
#include "record/run_folder.h"

namespace rondo::test {
namespace {

constexpr double kLn2 = 0.6931471805599453;
constexpr double kTokensPerStep = 16 * 256;

std::int64_t drawn_loops(const FakeRun& run, const RandomStream& noise, std::int64_t step) {
  if (run.sampler == "fixed") return run.loops;
  return 1 + static_cast<std::int64_t>(noise.below(static_cast<std::uint64_t>(2 * run.loops - 1),
                                                   static_cast<std::uint64_t>(step)));
}

double bits_at(const FakeRun& run, double share) {
  return run.final_bits_per_byte + (8.0 - run.final_bits_per_byte) * std::exp(-9 * share) +
         0.4 * (1 - share) * std::exp(-1.5 * share);
}

Json depth_sweep(const FakeRun& run) {
  Json rows = Json::array();
  for (const std::int64_t loops : {1, 2, 3, 4, 6, 8, 12, 16}) {
    if (run.injection == "none" && loops > 1) break;
    const double octaves = std::log2(static_cast<double>(loops) / static_cast<double>(run.loops));
    const double worse = run.depth_penalty * octaves * octaves * (octaves < 0 ? 3.0 : 1.0);
    const double bits = run.final_bits_per_byte + worse;
    rows.push_back(
        {{"loops", loops}, {"loss_nats", bits * kLn2}, {"bits_per_byte", bits}, {"stderr", 0.004}});
  }
  return rows;
}

Json facts(const FakeRun& run, double n_rec, double flops_per_token) {
  const double n_once = 1.6e6, embedding = 131072;
  return {
      {"parameters",
       {{"total", n_once + n_rec + embedding},
        {"embedding", embedding},
        {"once", n_once},
        {"recurrent", n_rec},
        {"non_embedding", n_once + n_rec}}},
      {"flops_per_token", {{"forward", 0.36 * flops_per_token}, {"train", 1.1 * flops_per_token}}},
      {"effective_depth", 2 + run.core_layers * run.loops},
      {"seed", run.seed},
      {"config_hash", "0123456789abcdef"},
      {"data", {{"sha256", run.data_sha256}, {"description", "textbooks, 12.3 M tokens"}}},
      {"version", "0.1.0"},
      {"libtorch", "2.15.0"},
      {"machine", run.machine},
      {"command", "rondo train recipes/looped.toml --out runs/looped"}};
}

void write_events(RunWriter& writer, const FakeRun& run, double flops_per_token) {
  const RandomStream noise(run.seed, "fake");
  for (std::int64_t step = 1; step <= run.steps; ++step) {
    const double share = static_cast<double>(step) / static_cast<double>(run.steps);
    const auto at = static_cast<std::uint64_t>(step);
    const double tokens = kTokensPerStep * static_cast<double>(step);
    const std::int64_t loops = drawn_loops(run, noise, step);
    const double jitter = 0.03 * (noise.uniform(at) - 0.5);
    Json norms = Json::array();
    for (std::int64_t loop = 0; loop < loops; ++loop)
      norms.push_back(1.0 + 0.3 * share * std::log1p(static_cast<double>(loop)));
    writer.append({{"step", step},
                   {"tokens", tokens},
                   {"flops", tokens * flops_per_token},
                   {"loops", loops},
                   {"backward_loops", std::min(run.backward, loops)},
                   {"train_loss_nats", bits_at(run, share) * kLn2 + jitter},
                   {"learning_rate", 1e-3 * (1 - share)},
                   {"gradient_norm", 0.5 + jitter},
                   {"step_time_s", 0.1 + 0.01 * static_cast<double>(loops)},
                   {"state_norms", norms}});
    if (step % std::max<std::int64_t>(1, run.steps / 10) != 0) continue;
    const double bits = bits_at(run, share);
    Json event = {{"step", step},
                  {"tokens", tokens},
                  {"flops", tokens * flops_per_token},
                  {"validation_loss_nats", bits * kLn2},
                  {"bits_per_byte", bits}};
    if (step == run.steps) event["by_loops"] = depth_sweep(run);
    writer.append(event);
  }
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  static std::atomic<int> count = 0;
  path_ = fs::temp_directory_path() / fmt::format("rondo-test-{}-{}", ::getpid(), count++);
  fs::create_directories(path_);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void write_fake_run(const fs::path& dir, const FakeRun& run) {
  const Config config = parse_recipe(
      "", "fake",
      {fmt::format("seed={}", run.seed), fmt::format("loops.forward={}", run.loops),
       fmt::format("loops.backward={}", run.backward), "loops.sampler=" + run.sampler,
       "model.injection=" + run.injection, fmt::format("model.core_layers={}", run.core_layers),
       fmt::format("train.steps={}", run.steps)});
  const double n_rec = 0.8e6 * static_cast<double>(run.core_layers);
  const double flops_per_token =
      6 * 1.6e6 + 2 * n_rec * static_cast<double>(run.loops + 2 * run.backward);
  RunWriter writer = RunWriter::create(dir, config);
  Json started = facts(run, n_rec, flops_per_token);
  started["event"] = "started";
  started["step"] = 0;
  writer.append(started);
  write_events(writer, run, flops_per_token);
  if (!run.with_end) return;
  writer.append({{"event", "stopped"}, {"step", run.steps}, {"stop_reason", run.stop_reason}});
  const double tokens = kTokensPerStep * static_cast<double>(run.steps);
  Json summary = facts(run, n_rec, flops_per_token);
  summary.update({{"steps", run.steps},
                  {"tokens", tokens},
                  {"flops", tokens * flops_per_token},
                  {"train_loss_nats", bits_at(run, 1) * kLn2},
                  {"validation_loss_nats", bits_at(run, 1) * kLn2},
                  {"bits_per_byte", bits_at(run, 1)},
                  {"tokens_per_s", 34000.0},
                  {"wall_s", 0.15 * static_cast<double>(run.steps)},
                  {"peak_bytes", 9.1e8},
                  {"stop_reason", run.stop_reason},
                  {"depth_sweep", depth_sweep(run)}});
  writer.write_summary(summary);
}

void write_fake_comparison(const fs::path& root, std::int64_t steps) {
  for (const std::uint64_t seed : {42, 43}) {
    const double shift = seed == 42 ? 0.0 : 0.012;
    const auto name = [&](const char* group) { return root / fmt::format("{}-{}", group, seed); };
    write_fake_run(name("looped-4"),
                   {.seed = seed, .steps = steps, .final_bits_per_byte = 2.18 + shift});
    write_fake_run(name("sampled-4"), {.sampler = "uniform",
                                       .seed = seed,
                                       .steps = steps,
                                       .final_bits_per_byte = 2.21 - shift,
                                       .depth_penalty = 0.01});
    write_fake_run(name("truncated-8"), {.loops = 8,
                                         .backward = 4,
                                         .seed = seed,
                                         .steps = steps,
                                         .final_bits_per_byte = 2.16 + shift,
                                         .depth_penalty = 0.08});
    write_fake_run(name("plain"), {.loops = 1,
                                   .backward = 1,
                                   .injection = "none",
                                   .seed = seed,
                                   .steps = steps,
                                   .core_layers = 8,
                                   .final_bits_per_byte = 2.25 + 0.5 * shift});
  }
}

Json fake_step(std::int64_t step, double loss) {
  return {{"step", step},
          {"tokens", 4096 * step},
          {"flops", 1e9 * static_cast<double>(step)},
          {"loops", 4},
          {"backward_loops", 4},
          {"train_loss_nats", loss},
          {"learning_rate", 1e-3},
          {"gradient_norm", 1.0},
          {"step_time_s", 0.25},
          {"state_norms", {1.0, 1.1, 1.2, 1.3}}};
}

}  // namespace rondo::test
