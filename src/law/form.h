// A law as data: an expression for the loss in named columns and named parameters, read from a few
// lines of TOML. The laws that Rondo knows are written in the same way (catalogue.h).
//
//   law = "iso-depth"
//   loss = "E + A * n_eff^-alpha + B * tokens^-beta"
//   [define]
//   n_eff = "n_once + loops^phi * n_rec"
//   [parameters]
//   E = { start = [0.1, 1.0], positive = true, scale = "loss" }
//   A = { start = [0.01, 1.0], positive = true, scale = "loss * n^alpha" }
//   …
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rondo {

/// One parameter of a law.
struct LawParameter {
  std::string name;
  /// Range of the random starts, in units in which sizes, tokens and losses have geometric mean 1.
  double low = 0, high = 1;
  /// Must stay above 0, and is searched for as a logarithm.
  bool positive = false;
  /// The unit as an expression in n, tokens, loss and other parameters; empty for a pure number.
  std::string scale;
  /// Held at this value instead of being fitted.
  std::optional<double> fixed;
};

/// A law. `define` are named parts of the formula in the order they may refer to each other.
struct LawForm {
  std::string name;
  std::string about;   ///< one sentence
  std::string source;  ///< where the law is from
  std::string loss;
  std::vector<std::pair<std::string, std::string>> define;
  std::vector<LawParameter> parameters;

  /// Place of a parameter. Throws an input error that lists the names there are.
  [[nodiscard]] std::size_t parameter(std::string_view name) const;
  [[nodiscard]] bool has_parameter(std::string_view name) const;
  /// Parameters that are fitted and not held.
  [[nodiscard]] std::size_t free_count() const;
  /// Columns that the formula uses, without `loss`.
  [[nodiscard]] std::vector<std::string> columns() const;
  /// Whether the formula uses the column.
  [[nodiscard]] bool uses(std::string_view column) const;
};

/// Reads a form. Throws input errors with `source` and line: TOML, unknown keys, syntax of an
/// expression, a name defined twice or never used.
LawForm parse_form(std::string_view toml, const std::string& source);

/// The form as TOML that parse_form reads back; what FIT.json carries.
std::string to_toml(const LawForm& form);

}  // namespace rondo
