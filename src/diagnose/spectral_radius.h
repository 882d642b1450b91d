// The spectral radius of every loop's Jacobian: below 1 small changes of a state die out, above 1
// some grow.
#pragma once

#include "diagnose/sequences.h"
#include "diagnose/spectrum.h"

namespace rondo {

/// At which positions of a sequence Jacobians are taken; a position's is ∂x_{t+1}/∂x_t [D, D] with
/// its own state alone moved.
enum class JacobianSite {
  kLast,   ///< the last one
  kWorst,  ///< all: the largest radius, which is that of the loop as a map of all positions
           ///< together
};

/// Mean over sequences.
struct MeanRadius {
  double value = 0;
  double converged = 0;   ///< share of the sequences whose iteration settled
  double iterations = 0;  ///< mean
};

/// Running sums, by loop. In the model's own type, which should be double precision.
class SpectralRadius {
 public:
  SpectralRadius(const LoopedLm& model, std::int64_t loops, JacobianSite site,
                 const SpectrumLimits& limits = {});

  void add(const ProbeSequence& sequence);
  [[nodiscard]] std::vector<MeanRadius> means() const;

 private:
  const LoopedLm& model_;
  std::int64_t loops_;
  JacobianSite site_;
  SpectrumLimits limits_;
  std::vector<MeanRadius> sums_;
  double sequences_ = 0;
};

/// A copy of the model in double precision, whose operations are the composed ones.
LoopedLm in_double(const LoopedLm& model);

}  // namespace rondo
