// Descents with Ceres, and threads to do many of them.
#include "law/minimise.h"

#include <ceres/gradient_problem.h>
#include <ceres/gradient_problem_solver.h>
#include <glog/logging.h>

#include <atomic>
#include <cmath>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/rng.h"

namespace rondo {
namespace {

// The objective as Ceres wants it. Huber's delta of 1e-3 makes it as small as 1e-3 in all, so it is
// brought to the order of one for tolerances that are absolute.
class ScaledObjective final : public ceres::FirstOrderFunction {
 public:
  ScaledObjective(Objective& objective, double scale) : objective_(objective), scale_(scale) {}

  bool Evaluate(const double* free, double* value, double* gradient) const override {
    const bool finite = objective_.evaluate(free, value, gradient);
    *value *= scale_;
    if (gradient != nullptr)
      for (int i = 0; i < NumParameters(); ++i) gradient[i] *= scale_;
    return finite;
  }
  [[nodiscard]] int NumParameters() const override { return static_cast<int>(objective_.size()); }

 private:
  Objective& objective_;
  double scale_;
};

// Ceres tells of failed line searches on stderr; the stop reason of a fit says it in its place.
void quieten_ceres() {
  static const bool kOnce = [] {
    FLAGS_minloglevel = google::GLOG_FATAL;
    return true;
  }();
  (void)kOnce;
}

double largest(const std::vector<double>& values) {
  double size = 0;
  for (const double value : values) size = std::max(size, std::abs(value));
  return size;
}

}  // namespace

Minimum minimise(Objective& objective, std::vector<double> start, int iterations) {
  quieten_ceres();
  double value = 0;
  std::vector<double> gradient(start.size());
  if (!objective.evaluate(start.data(), &value, gradient.data()))
    return {.free = {}, .value = std::numeric_limits<double>::infinity(), .stop_reason = ""};
  if (start.empty()) return {.free = {}, .value = value, .stop_reason = "nothing to fit"};

  const double scale = value > 0 ? 1 / value : 1;
  const ceres::GradientProblem problem(new ScaledObjective(objective, scale));
  ceres::GradientProblemSolver::Options options;
  options.line_search_direction_type = ceres::BFGS;
  options.max_num_iterations = iterations;
  options.function_tolerance = 1e-15;
  options.gradient_tolerance = 1e-12;
  options.parameter_tolerance = 1e-14;
  options.logging_type = ceres::SILENT;
  ceres::GradientProblemSolver::Summary summary;
  ceres::Solve(options, problem, start.data(), &summary);

  Minimum found;
  objective.evaluate(start.data(), &found.value, gradient.data());
  found.free = std::move(start);
  found.gradient_norm = largest(gradient);
  found.stop_reason = summary.termination_type == ceres::CONVERGENCE      ? "converged"
                      : summary.termination_type == ceres::NO_CONVERGENCE ? "iteration limit"
                                                                          : "no further descent";
  return found;
}

std::vector<double> random_start(const LawForm& form, const Objective& objective,
                                 std::uint64_t seed, std::uint64_t index) {
  const RandomStream random(seed, "fit/start", index);
  std::vector<double> start;
  for (const auto place : objective.free_parameters()) {
    const auto& parameter = form.parameters[place];
    const double low = parameter.positive ? std::log(parameter.low) : parameter.low;
    const double high = parameter.positive ? std::log(parameter.high) : parameter.high;
    start.push_back(low + (high - low) * random.uniform(start.size()));
  }
  return start;
}

void in_parallel(const Objective& objective, int count, int threads,
                 const std::function<void(int, Objective&)>& work,
                 const std::function<void(int)>& done) {
  std::atomic<int> next = 0, finished = 0;
  std::exception_ptr problem;
  std::mutex mutex;
  const auto run = [&](bool reports) {
    try {
      Objective own = objective;
      for (int i = next++; i < count && interrupt_signal() == 0; i = next++) {
        work(i, own);
        ++finished;
        if (reports) done(finished);
      }
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!problem) problem = std::current_exception();
      next = count;
    }
  };
  std::vector<std::jthread> others;
  for (int i = 1; i < std::min(threads, count); ++i) others.emplace_back(run, false);
  run(true);
  others.clear();
  if (problem) std::rethrow_exception(problem);
  if (interrupt_signal() != 0) fail_work("the fit was interrupted; nothing was written");
}

}  // namespace rondo
