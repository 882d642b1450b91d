// Standard units, and the sum of Huber losses with its exact gradient.
#include "law/objective.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace rondo {
namespace {

double geometric_mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += std::log(value);
  return std::exp(sum / static_cast<double>(values.size()));
}

double column_unit(const std::string& name, const Standard& standard) {
  if (name == "n_once" || name == "n_rec") return standard.n;
  if (name == "tokens" || name == "unique_tokens") return standard.tokens;
  if (name == "flops") return standard.n * standard.tokens;
  return 1;
}

std::vector<std::vector<double>> standard_columns(const LawForm& form, const FitTable& table,
                                                  const Standard& standard) {
  std::vector<std::vector<double>> columns;
  for (const auto& name : form.columns()) {
    auto column = table.numbers(name);
    const double unit = column_unit(name, standard);
    for (auto& value : column) value /= unit;
    columns.push_back(std::move(column));
  }
  return columns;
}

}  // namespace

double Standard::unit(const LawForm& form, std::size_t place,
                      std::span<const double> parameters) const {
  const auto& parameter = form.parameters[place];
  if (parameter.scale.empty()) return 1;
  std::vector<std::string> names = {"n", "tokens", "loss"};
  std::vector<double> values = {n, tokens, loss};
  for (std::size_t i = 0; i < form.parameters.size(); ++i) {
    names.push_back(form.parameters[i].name);
    values.push_back(parameters[i]);
  }
  return evaluate_formula(parameter.scale, names, values,
                          "law " + form.name + ", scale of " + parameter.name);
}

std::vector<double> Standard::standardised(const LawForm& form,
                                           std::span<const double> parameters) const {
  std::vector<double> result(parameters.begin(), parameters.end());
  for (std::size_t i = 0; i < result.size(); ++i) result[i] /= unit(form, i, parameters);
  return result;
}

std::vector<double> Standard::in_table_units(const LawForm& form,
                                             std::span<const double> parameters) const {
  std::vector<double> result(parameters.begin(), parameters.end());
  for (std::size_t i = 0; i < result.size(); ++i) result[i] *= unit(form, i, parameters);
  return result;
}

Standard standard_of(const LawForm& form, const FitTable& table) {
  for (const auto& parameter : form.parameters) {
    if (!parameter.fixed || parameter.scale.empty()) continue;
    for (const auto& name : names_in(parameter.scale, "scale of " + parameter.name)) {
      require(!form.has_parameter(name) || form.parameters[form.parameter(name)].fixed,
              "law {}: the unit of {} depends on {}; to fix {}, fix {} too", form.name,
              parameter.name, name, parameter.name, name);
    }
  }
  const bool has_units =
      std::any_of(form.parameters.begin(), form.parameters.end(),
                  [](const auto& parameter) { return !parameter.scale.empty(); });
  if (!has_units) return {};
  auto sizes = table.numbers("n_once");
  const auto& recurrent = table.numbers("n_rec");
  for (std::size_t i = 0; i < sizes.size(); ++i) sizes[i] += recurrent[i];
  return {.n = geometric_mean(sizes),
          .tokens = geometric_mean(table.numbers("tokens")),
          .loss = geometric_mean(table.numbers("loss"))};
}

Objective::Objective(const LawForm& form, const FitTable& table, const Standard& standard,
                     double delta, double overestimate_weight)
    : bound_(form, standard_columns(form, table, standard)),
      delta_(delta),
      overestimate_weight_(overestimate_weight) {
  for (std::size_t i = 0; i < form.parameters.size(); ++i) {
    if (form.parameters[i].fixed) continue;
    free_.push_back(i);
    positive_.push_back(form.parameters[i].positive);
  }
  parameters_.assign(form.parameters.size(), 0);
  for (std::size_t i = 0; i < form.parameters.size(); ++i)
    if (form.parameters[i].fixed) parameters_[i] = *form.parameters[i].fixed;
  parameters_ = standard.standardised(form, parameters_);
  for (const double loss : table.numbers("loss"))
    log_observed_.push_back(std::log(loss / standard.loss));
  row_weights_.assign(log_observed_.size(), 1);
  slopes_.resize(log_observed_.size());
  parameter_gradient_.resize(form.parameters.size());
}

std::vector<double> Objective::parameters(std::span<const double> free) const {
  auto result = parameters_;
  for (std::size_t i = 0; i < free_.size(); ++i)
    result[free_[i]] = positive_[i] ? std::exp(free[i]) : free[i];
  return result;
}

std::vector<double> Objective::free_numbers(std::span<const double> parameters) const {
  std::vector<double> result;
  for (std::size_t i = 0; i < free_.size(); ++i)
    result.push_back(positive_[i] ? std::log(parameters[free_[i]]) : parameters[free_[i]]);
  return result;
}

void Objective::set_parameters(const double* free) {
  for (std::size_t i = 0; i < free_.size(); ++i)
    parameters_[free_[i]] = positive_[i] ? std::exp(free[i]) : free[i];
}

bool Objective::evaluate(const double* free, double* value, double* gradient) {
  set_parameters(free);
  const auto predicted = bound_.predict(parameters_);
  double sum = 0;
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    const double residual = std::log(predicted[i]) - log_observed_[i];
    const double size = std::abs(residual);
    const double weight = row_weights_[i] * (residual > 0 ? overestimate_weight_ : 1);
    sum += weight * (size < delta_ ? 0.5 * residual * residual : delta_ * (size - 0.5 * delta_));
    slopes_[i] = weight * std::clamp(residual, -delta_, delta_) / predicted[i];
  }
  *value = sum;
  if (!std::isfinite(sum)) return false;
  if (gradient == nullptr) return true;
  std::fill(parameter_gradient_.begin(), parameter_gradient_.end(), 0);
  bound_.pull_back(slopes_, parameter_gradient_);
  bool finite = true;
  for (std::size_t i = 0; i < free_.size(); ++i) {
    gradient[i] = parameter_gradient_[free_[i]] * (positive_[i] ? parameters_[free_[i]] : 1);
    finite = finite && std::isfinite(gradient[i]);
  }
  if (held_) gradient[*held_] = 0;
  return finite;
}

std::vector<double> Objective::residuals(std::span<const double> free) {
  set_parameters(free.data());
  const auto predicted = bound_.predict(parameters_);
  std::vector<double> result(predicted.size());
  for (std::size_t i = 0; i < result.size(); ++i)
    result[i] = std::log(predicted[i]) - log_observed_[i];
  return result;
}

std::vector<std::vector<double>> Objective::jacobian(std::span<const double> free) {
  set_parameters(free.data());
  const auto predicted = bound_.predict(parameters_);
  const std::vector<double> at(predicted.begin(), predicted.end());
  std::vector<std::vector<double>> rows(at.size());
  for (std::size_t i = 0; i < at.size(); ++i) {
    std::fill(slopes_.begin(), slopes_.end(), 0);
    slopes_[i] = 1 / at[i];
    std::fill(parameter_gradient_.begin(), parameter_gradient_.end(), 0);
    bound_.pull_back(slopes_, parameter_gradient_);
    for (std::size_t j = 0; j < free_.size(); ++j)
      rows[i].push_back(parameter_gradient_[free_[j]] * (positive_[j] ? parameters_[free_[j]] : 1));
  }
  return rows;
}

}  // namespace rondo
