// Taking the Jacobians of a pass, loop by loop.
#include "diagnose/spectral_radius.h"

#include <algorithm>

#include "diagnose/own_position.h"

namespace rondo {

SpectralRadius::SpectralRadius(const LoopedLm& model, std::int64_t loops, JacobianSite site,
                               const SpectrumLimits& limits)
    : model_(model),
      loops_(loops),
      site_(site),
      limits_(limits),
      sums_(static_cast<std::size_t>(loops)) {}

void SpectralRadius::add(const ProbeSequence& sequence) {
  const NoGrad guard;
  std::vector<Tensor> before;
  const LoopedPass pass(model_, sequence.input, [&](const BlockRun& run) {
    if (run.part == "core") before.push_back(run.before);
  });
  const auto last = sequence.positions() - 1;
  const auto positions_P = site_ == JacobianSite::kLast ? at::full({1}, last, at::kLong)
                                                        : at::arange(last + 1, at::kLong);
  const OwnPosition own(model_, sequence.input, pass.e_BTD(), loops_, positions_P);
  LoopPoint point{pass.initial_state(), 0, {}};
  while (point.loop < loops_) {
    before.clear();
    auto next = pass.run_from(point, {.loops = 1, .of = loops_});
    const LoopInside inside{point, before};
    const auto radii = spectral_radii([&](const Tensor& h_PD) { return own.run(inside, h_PD); },
                                      point.state.squeeze(0).index_select(0, positions_P), limits_);
    const auto worst = *std::max_element(
        radii.begin(), radii.end(), [](const auto& a, const auto& b) { return a.value < b.value; });
    auto& sum = sums_[static_cast<std::size_t>(point.loop)];
    sum.value += worst.value;
    sum.iterations += static_cast<double>(worst.iterations);
    const bool settled =
        std::all_of(radii.begin(), radii.end(), [](const auto& r) { return r.converged; });
    sum.converged += settled ? 1 : 0;
    pass.advance(point, std::move(next));
  }
  ++sequences_;
}

std::vector<MeanRadius> SpectralRadius::means() const {
  auto means = sums_;
  for (auto& mean : means) {
    mean.value /= sequences_;
    mean.converged /= sequences_;
    mean.iterations /= sequences_;
  }
  return means;
}

LoopedLm in_double(const LoopedLm& model) {
  auto copy = model;
  copy.form = Form::kComposed;
  visit_parameters(copy, [](const std::string&, Parameter& parameter) {
    parameter.value = parameter.value.detach().to(at::kDouble);
  });
  return copy;
}

}  // namespace rondo
