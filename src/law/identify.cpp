// Directions in which the parameters can move without changing a prediction.
#include "law/identify.h"

#include <fmt/format.h>

#include <Eigen/SVD>
#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace rondo {
namespace {

// A direction counts as unseen when it moves the predictions this much less than the strongest.
constexpr double kUnseen = 1e-8;
// Log loss that a parameter must be able to move when it changes by one (or by a factor of e).
constexpr double kNoEffect = 1e-10;
// Part that a parameter must have in an unseen direction to be one of those not identified.
constexpr double kTakesPart = 1e-3;

bool all_equal(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(),
                     [&](double value) { return value == values.front(); });
}

// Why the data are silent, as far as a look at the columns tells.
std::string reason(const LawForm& form, const FitTable& table) {
  std::vector<std::string> reasons;
  for (const auto& name : form.columns()) {
    const auto* column = table.find(name);
    if (column == nullptr || !all_equal(column->values)) continue;
    reasons.push_back(fmt::format("{} is {:g} in every row", name, column->values.front()));
  }
  if (form.uses("loops") && form.uses("backward_loops") &&
      table.numbers("loops") == table.numbers("backward_loops") &&
      !all_equal(table.numbers("loops")))
    reasons.emplace_back("no run is truncated: backward_loops equals loops in every row");
  return reasons.empty() ? "" : " (" + join(reasons, "; ") + ")";
}

}  // namespace

Identification identify(const LawForm& form, const FitTable& table, Objective objective,
                        const std::vector<double>& free) {
  Identification result{.identified = std::vector<bool>(form.parameters.size(), true),
                        .statements = {}};
  const auto rows = objective.jacobian(free);
  const auto& places = objective.free_parameters();
  Eigen::MatrixXd jacobian(rows.size(), places.size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t j = 0; j < places.size(); ++j)
      jacobian(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) = rows[i][j];

  // Columns to the same length, so that a weak parameter is not taken for an unseen one.
  std::vector<std::string> unseen;
  for (Eigen::Index j = 0; j < jacobian.cols(); ++j) {
    const double strongest = jacobian.col(j).cwiseAbs().maxCoeff();
    if (strongest > kNoEffect) {
      jacobian.col(j) /= jacobian.col(j).norm();
    } else {
      jacobian.col(j).setZero();
    }
  }
  const Eigen::JacobiSVD<Eigen::MatrixXd> svd(jacobian, Eigen::ComputeFullV);
  for (Eigen::Index k = 0; k < svd.singularValues().size(); ++k) {
    if (svd.singularValues()(k) > kUnseen * svd.singularValues()(0)) continue;
    for (Eigen::Index j = 0; j < jacobian.cols(); ++j) {
      if (std::abs(svd.matrixV()(j, k)) < kTakesPart) continue;
      result.identified[places[static_cast<std::size_t>(j)]] = false;
    }
  }
  for (const auto place : places)
    if (!result.identified[place]) unseen.push_back(form.parameters[place].name);
  if (!unseen.empty())
    result.statements.push_back(fmt::format(
        "these data do not determine {}: other values of {} predict every run equally well{}",
        join(unseen, ", "), unseen.size() == 1 ? "it" : "them", reason(form, table)));
  return result;
}

}  // namespace rondo
