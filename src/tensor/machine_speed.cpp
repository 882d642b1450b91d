// The measurements: every operation as the models call it, with gradients, over several tensors in
// turn, so that they are no warmer in the caches than in a step.
#include "tensor/machine_speed.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/machine.h"
#include "base/statistics.h"
#include "base/version.h"
#include "tensor/gemm.h"
#include "tensor/ops.h"

namespace rondo {
namespace {

using Clock = std::chrono::steady_clock;
using Operation = std::function<Tensor(const Tensor&)>;

constexpr std::int64_t kHeadDim = 64;
// Everything is measured in turn, so often and once before that to warm up: what slows the machine
// for a second spoils one round and not one number.
constexpr int kRounds = 4;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double seconds_of(const std::function<void()>& work) {
  const auto start = Clock::now();
  work();
  return seconds_since(start);
}

/// A tensor of numbers that are none in particular.
Tensor numbers(at::IntArrayRef shape) { return at::full(shape, 0.25, at::kFloat); }

struct Times {
  double forward_s, backward_s;
};

/// Seconds of one call, forward and backward, over `copies` tensors like `like`. Gradients of
/// `weights` are asked for too. All results live until the end, as a step's activations do.
Times time_operation(const Operation& operation, const Tensor& like, int copies,
                     const std::vector<Tensor>& weights = {}) {
  std::vector<Tensor> inputs;
  for (int i = 0; i < copies; ++i) inputs.push_back(like.clone().requires_grad_(true));
  std::vector<Tensor> wanted = inputs;
  wanted.insert(wanted.end(), weights.begin(), weights.end());
  const auto ones = at::ones_like(operation(like));
  const std::vector<Tensor> output_gradients(inputs.size(), ones);
  std::vector<Tensor> outputs;
  const double forward_s = seconds_of([&] {
    for (const auto& input : inputs) outputs.push_back(operation(input));
  });
  const double backward_s = seconds_of([&] { gradients(outputs, wanted, output_gradients); });
  return {forward_s / copies, backward_s / copies};
}

/// Sizes at which operations are measured: a call, and what a step of a small, middle and large
/// model has in one tensor. Fewer copies of the large ones keep time and memory small.
struct Size {
  std::int64_t rows, width;
  int copies;
};
constexpr std::array<Size, 4> kSizes = {
    {{1, 64, 64}, {1024, 128, 16}, {4096, 256, 6}, {8192, 512, 2}}};

Json operation_json(const std::function<Times(const Size&)>& measure) {
  Json list = Json::array();
  for (const auto& size : kSizes) {
    const auto times = measure(size);
    list.push_back({{"values", size.rows * size.width},
                    {"forward_s", times.forward_s},
                    {"backward_s", times.backward_s}});
  }
  return list;
}

/// Time that passed while products ran, and processor time that this process got meanwhile.
struct Share {
  double wall_s = 0, processor_s = 0;
};

/// The three products of a layer: x Wᵀ, g W, gᵀ x.
double product_gflops(std::int64_t rows, std::int64_t inner, std::int64_t outer, Share& share) {
  const NoGrad guard;
  const auto x = numbers({rows, inner}), weight = numbers({outer, inner}),
             g = numbers({rows, outer});
  auto out = at::empty({rows, outer}), d_x = at::empty({rows, inner}),
       d_weight = at::empty({outer, inner});
  const double flops = 6.0 * static_cast<double>(rows * inner) * static_cast<double>(outer);
  const auto calls = std::clamp(static_cast<int>(1e9 / flops), 1, 500);
  const auto start = Clock::now();
  const auto processor_start = std::clock();
  const double seconds = seconds_of([&] {
    for (int i = 0; i < calls; ++i) {
      multiply(x, weight.t(), out);
      multiply(g, weight, d_x);
      multiply(g.t(), x, d_weight);
    }
  });
  if (inner >= 128) {  // smaller ones do not keep all threads busy
    share.wall_s += seconds_since(start);
    share.processor_s += static_cast<double>(std::clock() - processor_start) / CLOCKS_PER_SEC;
  }
  return flops * calls / seconds / 1e9;
}

Json products_json(Share& share) {
  Json list = Json::array();
  // From products that are all arithmetic to those that mostly move their matrices.
  constexpr std::array<std::array<std::int64_t, 3>, 7> kShapes = {{{2048, 1024, 1024},
                                                                   {4096, 256, 1376},
                                                                   {4096, 256, 256},
                                                                   {1024, 128, 384},
                                                                   {1024, 64, 192},
                                                                   {1024, 32, 96},
                                                                   {128, 16, 48}}};
  for (const auto& [rows, inner, outer] : kShapes)
    list.push_back({{"rows", rows},
                    {"inner", inner},
                    {"outer", outer},
                    {"gflops", product_gflops(rows, inner, outer, share)}});
  return list;
}

RotaryTable any_rotary(std::int64_t length, std::int64_t width) {
  const auto angles = numbers({length, width / 2});
  return {.cos = angles.cos(), .sin = angles.sin()};
}

Operation attention_of(std::int64_t heads, const RotaryTable& table) {
  return [how = JointHeads{.heads = heads, .groups = heads, .rotary = table}](const Tensor& qkv) {
    return joint_attention(qkv, {}, {}, how, {}, Form::kFused);
  };
}

Json attention_json(std::int64_t length, std::int64_t head_dim) {
  constexpr std::int64_t kHeads = 2;
  // About the same work at every length.
  const std::int64_t rows = std::clamp<std::int64_t>((1 << 20) / (length * length), 1, 32);
  const auto times = time_operation(attention_of(kHeads, any_rotary(length, head_dim)),
                                    numbers({rows, length, 3 * kHeads * head_dim}), 1);
  const auto n = static_cast<double>(length);
  const double pairs = static_cast<double>(rows * kHeads) * n * (n + 1) / 2;
  return {{"length", length},
          {"head_dim", head_dim},
          {"forward_s", times.forward_s / pairs},
          {"backward_s", times.backward_s / pairs}};
}

void add_operations(Json& json) {
  json["norm"] = operation_json([](const Size& size) {
    const auto gains = at::ones({size.width}).requires_grad_(true);
    return time_operation([&](const Tensor& x) { return rms_norm(x, gains, 1e-5, Form::kFused); },
                          numbers({size.rows, size.width}), size.copies, {gains});
  });
  json["rotate"] = operation_json([](const Size& size) {
    const auto length = std::min<std::int64_t>(size.rows, 128);
    const auto table = any_rotary(length, kHeadDim);
    return time_operation([&](const Tensor& x) { return rotate(x, table, Form::kFused); },
                          numbers({size.rows / length, length, size.width / kHeadDim, kHeadDim}),
                          size.copies);
  });
  json["swiglu"] = operation_json([](const Size& size) {
    return time_operation([](const Tensor& x) { return swiglu(x, Form::kFused); },
                          numbers({size.rows, 2 * size.width}), size.copies);
  });
  json["loss"] = operation_json([](const Size& size) {
    // With so narrow a hidden state the product is a small part.
    constexpr std::int64_t kNarrow = 16;
    const auto targets = at::zeros({size.rows}, at::kLong);
    const auto weight = numbers({size.width, kNarrow}).requires_grad_(true);
    return time_operation(
        [&](const Tensor& x) { return head_loss(x, weight, targets, 1.0, 0.0, Form::kFused); },
        numbers({size.rows, kNarrow}), size.copies, {weight});
  });
  json["add"] = operation_json([](const Size& size) {
    const auto other = numbers({size.rows, size.width});
    return time_operation([&](const Tensor& x) { return x + other; }, other, size.copies);
  });
}

Json call_json(const Operation& operation, const Tensor& like, const std::vector<Tensor>& weights) {
  const auto times = time_operation(operation, like, 64, weights);
  return Json::array({{{"values", like.numel()},
                       {"forward_s", times.forward_s},
                       {"backward_s", times.backward_s}}});
}

Json product_call_json() {
  const auto weight = numbers({16, 16}).requires_grad_(true);
  return call_json([&](const Tensor& x) { return project(x, weight); }, numbers({4, 16}), {weight});
}

Json attention_call_json() {
  return call_json(attention_of(1, any_rotary(1, 16)), numbers({1, 1, 48}), {});
}

/// A whole block as nn/block runs it, of the usual proportions: in it threads wake up and tensors
/// come from memory that single operations, repeated, find in the caches.
Json block_json(std::int64_t tokens, std::int64_t length, std::int64_t width) {
  const std::int64_t heads = width / kHeadDim, inner = (width * 8 / 3 + 15) / 16 * 16;
  const auto weight = [](at::IntArrayRef shape) {
    return numbers(shape).mul_(0.1).requires_grad_(true);
  };
  const auto qkv = weight({3 * width, width}), o = weight({width, width}),
             gate_up = weight({2 * inner, width}), down = weight({width, inner});
  const auto gains = at::ones({width}).requires_grad_(true);
  const auto attend = attention_of(heads, any_rotary(length, kHeadDim));
  const auto block = [&](const Tensor& x) {
    constexpr Form kForm = Form::kFused;
    const auto joint = norm_project(x, gains, 1e-5, qkv, kForm);
    const auto y = x + project(attend(joint), o);
    return y + swiglu_project(norm_project(y, gains, 1e-5, gate_up, kForm), down, kForm);
  };
  const auto times = time_operation(block, numbers({tokens / length, length, width}), 1,
                                    {qkv, o, gate_up, down, gains});
  return {{"tokens", tokens},
          {"length", length},
          {"d_model", width},
          {"d_ff", inner},
          {"forward_s", times.forward_s},
          {"backward_s", times.backward_s}};
}

/// Products of one row with a matrix: what generating a token does; the matrix is read once.
Json vector_products_json() {
  const NoGrad guard;
  Json list = Json::array();
  for (const std::int64_t rows : {1, 1024, 4096, 32768}) {
    const auto x = at::ones({1, 512}), weight = at::ones({rows, 512});
    const double seconds = seconds_of([&] { project(x, weight); });
    list.push_back({{"values", rows * 512}, {"forward_s", seconds}, {"backward_s", seconds}});
  }
  return list;
}

/// Everything once, without what names the machine.
Json measure_once() {
  Json json;
  Share share;
  json["products"] = products_json(share);
  // Products keep every thread busy: what is missing went to other processes.
  json["processor_share"] = share.processor_s / share.wall_s / at::get_num_threads();
  for (const std::int64_t length : {64, 128, 256, 512, 1024})
    json["attention"].push_back(attention_json(length, kHeadDim));
  json["attention"].push_back(attention_json(256, kHeadDim / 2));
  add_operations(json);
  json["product_call"] = product_call_json();
  json["attention_call"] = attention_call_json();
  json["blocks"] = Json::array(
      {block_json(1024, 128, 64), block_json(1024, 128, 128), block_json(2048, 256, 256)});
  json["vector_product"] = vector_products_json();
  return json;
}

/// Rounds of equal form as one: the median of each number.
Json median_of(const std::vector<Json>& rounds) {
  if (rounds.front().is_number()) {
    std::vector<double> values;
    for (const auto& round : rounds) values.push_back(round.get<double>());
    return median(values);
  }
  Json result = rounds.front();
  for (auto item = result.begin(); item != result.end(); ++item) {
    std::vector<Json> parts;
    for (const auto& round : rounds)
      parts.push_back(result.is_object() ? round[item.key()]
                                         : round[static_cast<std::size_t>(item - result.begin())]);
    *item = median_of(parts);
  }
  return result;
}

}  // namespace

Json measure_machine_speed() {
  // With the library that training chooses.
  const auto before = gemm_in_use();
  constexpr ProductShape kUsual[] = {{4096, 256, 1376}, {1024, 128, 384}};
  use_gemm(quickest_gemm(kUsual));
  measure_once();
  std::vector<Json> rounds;
  for (int i = 0; i < kRounds; ++i) rounds.push_back(measure_once());
  Json json = {
      {"machine", machine_name()}, {"version", kVersion}, {"threads", at::get_num_threads()}};
  json.update(median_of(rounds));
  use_gemm(before);
  return json;
}

}  // namespace rondo
