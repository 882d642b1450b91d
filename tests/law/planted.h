// Tables of runs that follow a known law exactly, or up to noise of a known size.
#pragma once

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "law/catalogue.h"
#include "law/fit.h"
#include "law/table.h"

namespace rondo::planted {

/// A joint law with exponents as in arXiv 2610.26030 and constants of an ordinary size.
inline const std::vector<double> kJoint = {1.7, 400, 0.312, 2000, 0.398, 3.0, 2.5, 0.237, 1.022};

/// The 15 (T, B) of the paper's grid: powers of two up to 16 with B ≤ T.
inline std::vector<std::pair<double, double>> grid() {
  std::vector<std::pair<double, double>> pairs;
  for (double loops = 1; loops <= 16; loops *= 2)
    for (double backward = 1; backward <= loops; backward *= 2) pairs.emplace_back(loops, backward);
  return pairs;
}

/// An empty table with the columns of the contract.
inline FitTable empty_table() {
  FitTable table;
  table.files = {"planted.csv"};
  for (const char* name : {"n_once", "n_rec", "loops", "backward_loops", "tokens", "flops", "loss"})
    table.columns.push_back({name, {}, {}});
  return table;
}

/// Adds a row to such a table.
inline void add_row(FitTable& table, const LawFunction::Point& point, double loss) {
  const double flops =
      (6 * point.n_once + 2 * (point.loops + 2 * point.backward_loops) * point.n_rec) *
      point.tokens;
  const double values[] = {point.n_once, point.n_rec, point.loops, point.backward_loops,
                           point.tokens, flops,       loss};
  for (std::size_t i = 0; i < 7; ++i) table.columns[i].values.push_back(values[i]);
  table.origins.push_back({0, table.origins.size() + 2});
}

/// `per_pair` runs of every (T, B): sizes of 58 to 919 million parameters, 42 % of them in the
/// loop, 1.1 to 1291 tokens a parameter, both log-uniform; losses times exp(noise · standard
/// normal).
inline FitTable runs(const LawForm& form, const std::vector<double>& parameters,
                     const std::vector<std::pair<double, double>>& pairs, int per_pair,
                     double noise, std::uint64_t seed) {
  auto table = empty_table();
  const LawFunction law(form, parameters);
  const RandomStream random(seed, "planted");
  std::uint64_t at = 0;
  for (const auto& [loops, backward] : pairs) {
    for (int i = 0; i < per_pair; ++i, at += 4) {
      const double n = 58e6 * std::pow(919.0 / 58, random.uniform(at));
      const double tokens = n * 1.1 * std::pow(1291 / 1.1, random.uniform(at + 1));
      const LawFunction::Point point{.n_once = 0.58 * n,
                                     .n_rec = 0.42 * n,
                                     .loops = loops,
                                     .backward_loops = backward,
                                     .tokens = tokens};
      add_row(table, point, law(point) * std::exp(noise * random.normal(at + 2)));
    }
  }
  return table;
}

}  // namespace rondo::planted
