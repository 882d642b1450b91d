// Every instruction set that this processor has gives what the baseline gives.
#include "tensor/kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "base/machine.h"
#include "base/rng.h"

namespace rondo {
namespace {

std::vector<const Kernels*> available() {
  std::vector<const Kernels*> sets = {&baseline_kernels()};
  if (cpu_features().avx2) sets.push_back(&avx2_kernels());
  if (cpu_features().avx512) sets.push_back(&avx512_kernels());
  return sets;
}

std::vector<float> normals(std::size_t count, std::uint64_t index) {
  std::vector<float> numbers(count);
  RandomStream(1, "kernels", index).fill_normal(numbers);
  return numbers;
}

double distance(const std::vector<float>& a, const std::vector<float>& b) {
  double most = 0, size = 1e-30;
  for (std::size_t i = 0; i < a.size(); ++i) {
    most = std::max<double>(most, std::abs(a[i] - b[i]));
    size = std::max<double>(size, std::abs(b[i]));
  }
  return most / size;
}

TEST(Kernels, TheBestSetIsOneOfThem) { EXPECT_EQ(&kernels(), available().back()); }

TEST(Kernels, AllSetsAgree) {
  for (const std::int64_t width : {5, 8, 19, 64, 171}) {
    const auto count = static_cast<std::size_t>(3 * width);
    const auto wide = normals(2 * count, 0), slope = normals(count, 1), x = normals(count, 2),
               gains = normals(static_cast<std::size_t>(width), 3);
    std::vector<std::vector<float>> expected;
    for (const auto* set : available()) {
      std::vector<std::vector<float>> found(9);
      found[0].resize(count);
      set->swiglu(wide.data(), found[0].data(), 3, width);
      found[1].resize(2 * count);
      found[8].resize(count);
      set->swiglu_backward(wide.data(), slope.data(), found[1].data(), found[8].data(), 3, width);
      EXPECT_LE(distance(found[8], found[0]), 1e-6) << set->name << ' ' << width;
      auto in_place = wide, out = slope;
      set->swiglu_backward(in_place.data(), out.data(), in_place.data(), out.data(), 3, width);
      EXPECT_EQ(in_place, found[1]) << set->name << ' ' << width;
      EXPECT_EQ(out, found[8]) << set->name << ' ' << width;
      std::vector<std::uint16_t> rounded(count), forward(count);
      set->swiglu_bf16(wide.data(), forward.data(), 3, width);
      set->swiglu_backward_bf16(wide.data(), slope.data(), in_place.data(), rounded.data(), 3,
                                width);
      EXPECT_EQ(in_place, found[1]) << set->name << ' ' << width;
      for (std::size_t i = 0; i < count; ++i) EXPECT_NEAR(rounded[i], forward[i], 1);
      found[2].resize(count), found[3].resize(3);
      set->rms_norm(x.data(), gains.data(), 1e-5f, found[2].data(), found[3].data(), 3, width);
      found[4].resize(count), found[5].resize(static_cast<std::size_t>(width));
      set->rms_norm_backward(x.data(), gains.data(), found[3].data(), slope.data(), nullptr,
                             found[4].data(), found[5].data(), 3, width);
      found[6] = x;
      const auto row = set->softmax(found[6].data(), 0.7f, width, width);
      found[7] = x;
      set->probabilities(found[7].data(), 0.7f, row, width, width);
      EXPECT_EQ(found[6], found[7]) << set->name;
      if (expected.empty()) expected = found;
      for (std::size_t i = 0; i < found.size(); ++i)
        EXPECT_LE(distance(found[i], expected[i]), 2e-6) << set->name << ' ' << i << ' ' << width;
    }
  }
}

// Against norm and rotation one after the other, and so against the library's by fused_test.
TEST(Kernels, PlacingIsNormAndRotationInEitherOrder) {
  constexpr std::int64_t kRows = 5;
  for (const std::int64_t width : {2, 6, 32, 40}) {
    const auto stride = width + 3, half = width / 2;
    const auto count = static_cast<std::size_t>(kRows * width),
               apart = static_cast<std::size_t>(kRows * stride);
    const auto x = normals(apart, 0), cos = normals(count / 2, 1), sin = normals(count / 2, 2),
               gains = normals(static_cast<std::size_t>(width), 3), slope = normals(count, 4);
    for (const auto* set : available())
      for (const bool first : {false, true}) {
        SCOPED_TRACE(std::string(set->name) + " width " + std::to_string(width));
        const HeadPlacing by{true, first, gains.data(), 1e-5f, cos.data(), sin.data()};
        std::vector<float> expected(count), d_expected(apart), d_gains(gains.size());
        for (std::int64_t t = 0; t < kRows; ++t) {
          const float *row = x.data() + t * stride, *c = cos.data() + t * half,
                      *s = sin.data() + t * half;
          std::vector<float> turned(row, row + width),
              d(slope.begin() + t * width, slope.begin() + (t + 1) * width);
          float *out = expected.data() + t * width, *d_out = d_expected.data() + t * stride, r = 0;
          if (!first) set->rotate(row, turned.data(), c, s, 1, half, false);
          set->rms_norm(turned.data(), gains.data(), 1e-5f, out, &r, 1, width);
          if (first) set->rotate(out, out, c, s, 1, half, false);
          if (first) set->rotate(d.data(), d.data(), c, s, 1, half, true);
          set->rms_norm_backward(turned.data(), gains.data(), &r, d.data(), nullptr, d_out,
                                 d_gains.data(), 1, width);
          if (!first) set->rotate(d_out, d_out, c, s, 1, half, true);
        }
        std::vector<float> found(count), again(count), scale(kRows), found_gains(gains.size()),
            scratch(gains.size());
        set->place(x.data(), stride, by, scale.data(), false, found.data(), kRows, width);
        set->place(x.data(), stride, by, scale.data(), true, again.data(), kRows, width);
        EXPECT_LE(distance(found, expected), 1e-6);
        EXPECT_LE(distance(again, expected), 1e-6);
        auto in_place = x, used = slope;
        set->place_backward(in_place.data(), stride, by, scale.data(), used.data(), in_place.data(),
                            found_gains.data(), scratch.data(), kRows, width);
        for (std::int64_t t = 0; t < kRows; ++t)  // what lies between rows is left alone
          for (std::int64_t j = width; j < stride; ++j) {
            const auto at = static_cast<std::size_t>(t * stride + j);
            EXPECT_EQ(in_place[at], x[at]);
            in_place[at] = 0;
          }
        EXPECT_LE(distance(in_place, d_expected), 2e-6);
        EXPECT_LE(distance(found_gains, d_gains), 2e-6);
      }
  }
}

TEST(Kernels, SoftmaxSumsToOneAndHidesWhatIsAhead) {
  for (const auto* set : available()) {
    auto scores = normals(37, 4);
    scores[30] = 1e30f;
    const auto row = set->softmax(scores.data(), 1.0f, 20, 37);
    double sum = 0, exact = 0;
    const auto original = normals(37, 4);
    for (std::size_t i = 0; i < 37; ++i) sum += scores[i];
    for (std::size_t i = 0; i < 20; ++i) exact += std::exp(static_cast<double>(original[i]));
    EXPECT_NEAR(sum, 1, 1e-6) << set->name;
    EXPECT_NEAR(row.largest - std::log(row.share), std::log(exact), 1e-5) << set->name;
    for (std::size_t i = 20; i < 37; ++i) EXPECT_EQ(scores[i], 0) << set->name;
  }
}

TEST(Kernels, TheSigmoidIsExactToAFewUnits) {
  for (const auto* set : available()) {
    for (float gate = -90; gate <= 90; gate += 0.37f) {
      const float row[] = {gate, 1.0f};
      float out = 0;
      set->swiglu(row, &out, 1, 1);
      const double exact = gate / (1.0 + std::exp(-static_cast<double>(gate)));
      EXPECT_NEAR(out, exact, 4e-7 * std::abs(exact) + 1e-36) << set->name << ' ' << gate;
    }
  }
}

// Softmax attention of queries [length, width] that lie `stride` apart, causal, in double
// precision.
struct Attended {
  std::vector<double> out, d_q, d_k, d_v;
};

Attended attended(const std::vector<float>& q, const std::vector<float>& k,
                  const std::vector<float>& v, const std::vector<float>& d_out, std::size_t length,
                  std::size_t width, std::size_t stride, double factor) {
  Attended result;
  for (auto* part : {&result.out, &result.d_q, &result.d_k, &result.d_v})
    part->assign(length * stride, 0.0);
  const auto dot = [&](const std::vector<float>& a, std::size_t i, const std::vector<float>& b,
                       std::size_t j) {
    double sum = 0;
    for (std::size_t c = 0; c < width; ++c)
      sum += static_cast<double>(a[i * stride + c]) * b[j * stride + c];
    return sum;
  };
  for (std::size_t i = 0; i < length; ++i) {
    std::vector<double> p(i + 1), d_p(i + 1);
    double total = 0, mean = 0;
    for (std::size_t j = 0; j <= i; ++j) total += p[j] = std::exp(factor * dot(q, i, k, j));
    for (std::size_t j = 0; j <= i; ++j) {
      p[j] /= total, d_p[j] = dot(d_out, i, v, j);
      mean += p[j] * d_p[j];
    }
    for (std::size_t j = 0; j <= i; ++j)
      for (std::size_t c = 0; c < width; ++c) {
        const auto own = i * stride + c, other = j * stride + c;
        const auto slope = p[j] * (d_p[j] - mean) * factor;
        result.out[own] += p[j] * v[other];
        result.d_q[own] += slope * k[other];
        result.d_k[other] += slope * q[own];
        result.d_v[other] += p[j] * d_out[own];
      }
  }
  return result;
}

double distance(const std::vector<float>& a, const std::vector<double>& b) {
  double most = 0, size = 1e-30;
  for (std::size_t i = 0; i < a.size(); ++i) {
    most = std::max(most, std::abs(a[i] - b[i]));
    size = std::max(size, std::abs(b[i]));
  }
  return most / size;
}

TEST(Kernels, AttentionOfShortHeadsIsSoftmaxAttention) {
  for (const std::int64_t width : {1, 3, 8, 16, 20, 32, 64, 128, 144})
    for (const std::int64_t length : {1, 2, 7, 16, 17, 40, 64}) {
      const auto stride = width + 5;
      const auto count = static_cast<std::size_t>(length * stride),
                 rows = static_cast<std::size_t>(length);
      const auto q = normals(count, 20), k = normals(count, 21), v = normals(count, 22),
                 d_out = normals(count, 23);
      const auto factor = 1.0f / std::sqrt(static_cast<float>(width));
      auto expected = attended(q, k, v, d_out, rows, static_cast<std::size_t>(width),
                               static_cast<std::size_t>(stride), factor);
      std::vector<std::int64_t> places;
      for (std::int64_t j = 0; j < length; ++j) places.push_back(j * stride);
      for (const auto* set : available()) {
        SCOPED_TRACE(std::string(set->name) + " width " + std::to_string(width) + " length " +
                     std::to_string(length));
        const ShortHead head{q.data(), k.data(), v.data(), stride, stride,
                             stride,   stride,   length,   width,  factor};
        std::vector<float> scratch(static_cast<std::size_t>(head.scratch()), NAN);
        std::vector<float> out(count), d_q(count), d_k(count), d_v(count);
        std::vector<SoftmaxRow> kept(rows);
        set->attend_short(head, out.data(), kept.data(), scratch.data());
        set->attend_short_backward(head, kept.data(), d_out.data(), d_q.data(), d_k.data(),
                                   d_v.data(), stride, false, scratch.data());
        EXPECT_LE(distance(out, expected.out), 2e-6);
        EXPECT_LE(distance(d_q, expected.d_q), 4e-6);
        EXPECT_LE(distance(d_k, expected.d_k), 4e-6);
        EXPECT_LE(distance(d_v, expected.d_v), 4e-6);
        // Query by query, adding to gradients that are there.
        std::vector<float> p(rows + kScratchPadding), d_p(rows + kScratchPadding);
        for (std::int64_t i = 0; i < length; ++i) {
          const auto own = i * stride;
          const auto row = set->attend(q.data() + own, k.data(), v.data(), places.data(), i + 1,
                                       width, factor, p.data(), out.data() + own);
          set->attend_backward(q.data() + own, k.data(), v.data(), places.data(), i + 1, width,
                               factor, row, d_out.data() + own, p.data(), d_p.data(),
                               d_q.data() + own, d_k.data(), d_v.data());
        }
        for (auto* twice : {&expected.d_k, &expected.d_v})
          for (auto& x : *twice) x *= 2;
        EXPECT_LE(distance(out, expected.out), 2e-6);
        EXPECT_LE(distance(d_q, expected.d_q), 4e-6);
        EXPECT_LE(distance(d_k, expected.d_k), 4e-6);
        EXPECT_LE(distance(d_v, expected.d_v), 4e-6);
        // And a second head that shares them.
        set->attend_short_backward(head, kept.data(), d_out.data(), d_q.data(), d_k.data(),
                                   d_v.data(), stride, true, scratch.data());
        for (auto* twice : {&expected.d_k, &expected.d_v})
          for (auto& x : *twice) x *= 1.5;
        EXPECT_LE(distance(d_k, expected.d_k), 4e-6);
        EXPECT_LE(distance(d_v, expected.d_v), 4e-6);
        for (auto* once : {&expected.d_k, &expected.d_v})
          for (auto& x : *once) x /= 3;
      }
    }
}

}  // namespace
}  // namespace rondo
