// Formulas on whole columns: forward in the order of the nodes, backward in the opposite one.
#include "law/expression.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "law/compile.h"

namespace rondo {
namespace {

using Array = Eigen::ArrayXd;

bool is_array(const FormulaNode& node) {
  return node.depends == Depends::kColumns || node.depends == Depends::kBoth;
}

// Puts an operation on the two operands, each an array or a number, into `out`.
template <typename Left, typename Right>
void compute(Operation operation, const Left& a, const Right& b, Array& out) {
  switch (operation) {
    case Operation::kAdd:
      out = a + b;
      return;
    case Operation::kSubtract:
      out = a - b;
      return;
    case Operation::kMultiply:
      out = a * b;
      return;
    case Operation::kDivide:
      out = a / b;
      return;
    case Operation::kMin:
    case Operation::kMax: {
      const auto pick = [operation](double x, double y) { return apply(operation, x, y); };
      if constexpr (std::is_same_v<Left, double>) {
        out = b.unaryExpr([pick, a](double y) { return pick(a, y); });
      } else if constexpr (std::is_same_v<Right, double>) {
        out = a.unaryExpr([pick, b](double x) { return pick(x, b); });
      } else {
        out = a.binaryExpr(b, pick);
      }
      return;
    }
    default:
      return;
  }
}

void compute(Operation operation, const Array& a, Array& out) {
  switch (operation) {
    case Operation::kNegate:
      out = -a;
      return;
    case Operation::kExp:
      out = a.exp();
      return;
    case Operation::kLog:
      out = a.log();
      return;
    case Operation::kSqrt:
      out = a.sqrt();
      return;
    default:
      return;
  }
}

}  // namespace

std::vector<std::string> names_in(std::string_view formula, const std::string& where) {
  std::vector<std::string> names;
  FormulaNodes nodes;
  parse_formula(formula, where, nodes, [&](const std::string& name) {
    const auto place = std::find(names.begin(), names.end(), name);
    if (place == names.end()) {
      names.push_back(name);
      return nodes.column(static_cast<int>(names.size()) - 1);
    }
    return nodes.column(static_cast<int>(place - names.begin()));
  });
  return names;
}

double evaluate_formula(std::string_view formula, std::span<const std::string> names,
                        std::span<const double> values, const std::string& where) {
  FormulaNodes nodes;
  const int root = parse_formula(formula, where, nodes, [&](const std::string& name) {
    const auto place = std::find(names.begin(), names.end(), name);
    require(place != names.end(), "{}: there is no {}", where, name);
    return nodes.number(values[static_cast<std::size_t>(place - names.begin())]);
  });
  return nodes[root].number;
}

struct BoundForm::Program {
  CompiledForm form;
  Eigen::Index rows = 0;
  std::vector<Array> values, adjoints;  // one a node; empty for numbers and unneeded ones
  std::vector<double> scalars, scalar_adjoints;

  void bind(const std::vector<std::vector<double>>& columns);
  void forward(std::size_t node);
  void backward(std::size_t node);
  void backward_scalar(std::size_t node);
  void pass_on(int operand, const Array& slope);
};

void BoundForm::Program::bind(const std::vector<std::vector<double>>& columns) {
  const auto& nodes = form.nodes.nodes();
  values.resize(nodes.size());
  adjoints.resize(nodes.size());
  scalars.assign(nodes.size(), 0);
  scalar_adjoints.assign(nodes.size(), 0);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto& node = nodes[i];
    if (node.operation == Operation::kNumber) scalars[i] = node.number;
    if (node.operation == Operation::kColumn) {
      const auto& column = columns[static_cast<std::size_t>(node.index)];
      values[i] = Eigen::Map<const Array>(column.data(), rows);
    } else if (node.depends == Depends::kColumns) {
      forward(i);
    }
    if (node.depends == Depends::kBoth) adjoints[i] = Array::Zero(rows);
  }
}

void BoundForm::Program::forward(std::size_t i) {
  const auto& node = form.nodes.nodes()[i];
  const auto left = static_cast<std::size_t>(node.left);
  const auto right = static_cast<std::size_t>(node.right);
  if (!is_array(node)) {
    scalars[i] = apply(node.operation, scalars[left], node.right < 0 ? 0 : scalars[right]);
    return;
  }
  if (node.right < 0) return compute(node.operation, values[left], values[i]);
  const bool left_array = is_array(form.nodes[node.left]);
  const bool right_array = is_array(form.nodes[node.right]);
  if (left_array && right_array)
    compute(node.operation, values[left], values[right], values[i]);
  else if (left_array)
    compute(node.operation, values[left], scalars[right], values[i]);
  else
    compute(node.operation, scalars[left], values[right], values[i]);
}

// Adds the slope of the loss in one operand, given for every row, to that operand's adjoint.
void BoundForm::Program::pass_on(int operand, const Array& slope) {
  const auto& node = form.nodes[operand];
  const auto i = static_cast<std::size_t>(operand);
  if (node.depends == Depends::kBoth) adjoints[i] += slope;
  if (node.depends == Depends::kParameters) scalar_adjoints[i] += slope.sum();
}

void BoundForm::Program::backward(std::size_t i) {
  const auto& node = form.nodes.nodes()[i];
  const auto left = static_cast<std::size_t>(node.left);
  const auto right = static_cast<std::size_t>(node.right);
  const Array& slope = adjoints[i];
  const auto left_value = [&]() -> Array {
    return is_array(form.nodes[node.left]) ? values[left] : Array::Constant(rows, scalars[left]);
  };
  const auto right_value = [&]() -> Array {
    return is_array(form.nodes[node.right]) ? values[right] : Array::Constant(rows, scalars[right]);
  };
  const auto needs = [&](int operand) {
    const auto depends = form.nodes[operand].depends;
    return depends == Depends::kBoth || depends == Depends::kParameters;
  };
  switch (node.operation) {
    case Operation::kAdd:
      pass_on(node.left, slope);
      return pass_on(node.right, slope);
    case Operation::kSubtract:
      pass_on(node.left, slope);
      return pass_on(node.right, -slope);
    case Operation::kMultiply:
      if (needs(node.left)) pass_on(node.left, slope * right_value());
      if (needs(node.right)) pass_on(node.right, slope * left_value());
      return;
    case Operation::kDivide:
      if (needs(node.left)) pass_on(node.left, slope / right_value());
      if (needs(node.right)) pass_on(node.right, -slope * values[i] / right_value());
      return;
    case Operation::kNegate:
      return pass_on(node.left, -slope);
    case Operation::kExp:
      return pass_on(node.left, slope * values[i]);
    case Operation::kLog:
      return pass_on(node.left, slope / values[left]);
    case Operation::kSqrt:
      return pass_on(node.left, 0.5 * slope / values[i]);
    case Operation::kMin:
    case Operation::kMax: {
      const Array from_left = (values[i] == left_value()).cast<double>();
      pass_on(node.left, slope * from_left);
      return pass_on(node.right, slope * (1 - from_left));
    }
    default:
      return;
  }
}

// The same for a node that is one number for all rows.
void BoundForm::Program::backward_scalar(std::size_t i) {
  const auto& node = form.nodes.nodes()[i];
  const auto left = static_cast<std::size_t>(node.left);
  const auto right = static_cast<std::size_t>(node.right < 0 ? node.left : node.right);
  const double slope = scalar_adjoints[i], value = scalars[i];
  const double a = scalars[left], b = scalars[right];
  auto& to = scalar_adjoints;
  switch (node.operation) {
    case Operation::kAdd:
      to[left] += slope, to[right] += slope;
      return;
    case Operation::kSubtract:
      to[left] += slope, to[right] -= slope;
      return;
    case Operation::kMultiply:
      to[left] += slope * b, to[right] += slope * a;
      return;
    case Operation::kDivide:
      to[left] += slope / b, to[right] -= slope * value / b;
      return;
    case Operation::kNegate:
      to[left] -= slope;
      return;
    case Operation::kExp:
      to[left] += slope * value;
      return;
    case Operation::kLog:
      to[left] += slope / a;
      return;
    case Operation::kSqrt:
      to[left] += slope / (2 * value);
      return;
    case Operation::kMin:
    case Operation::kMax:
      to[value == a ? left : right] += slope;
      return;
    default:
      return;
  }
}

BoundForm::BoundForm(const LawForm& form, std::vector<std::vector<double>> columns)
    : program_(std::make_unique<Program>()) {
  program_->form = compile_form(form, form.loss, "loss");
  program_->rows = columns.empty() ? 1 : static_cast<Eigen::Index>(columns[0].size());
  program_->bind(columns);
}
BoundForm::BoundForm(const BoundForm& other)
    : program_(std::make_unique<Program>(*other.program_)) {}
BoundForm::BoundForm(BoundForm&&) noexcept = default;
BoundForm& BoundForm::operator=(BoundForm&&) noexcept = default;
BoundForm::~BoundForm() = default;

std::size_t BoundForm::rows() const { return static_cast<std::size_t>(program_->rows); }

std::span<const double> BoundForm::predict(std::span<const double> parameters) {
  auto& program = *program_;
  const auto& nodes = program.form.nodes.nodes();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto& node = nodes[i];
    if (node.operation == Operation::kParameter)
      program.scalars[i] = parameters[static_cast<std::size_t>(node.index)];
    else if (node.depends == Depends::kParameters || node.depends == Depends::kBoth)
      program.forward(i);
  }
  const auto root = static_cast<std::size_t>(program.form.root);
  auto& result = program.values[root];
  if (!is_array(nodes[root])) result = Array::Constant(program.rows, program.scalars[root]);
  return {result.data(), rows()};
}

void BoundForm::pull_back(std::span<const double> weights, std::span<double> gradient) {
  auto& program = *program_;
  const auto& nodes = program.form.nodes.nodes();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    program.scalar_adjoints[i] = 0;
    if (nodes[i].depends == Depends::kBoth) program.adjoints[i].setZero();
  }
  program.pass_on(program.form.root, Eigen::Map<const Array>(weights.data(), program.rows));
  for (std::size_t i = nodes.size(); i-- > 0;) {
    const auto& node = nodes[i];
    if (node.depends == Depends::kBoth) {
      program.backward(i);
    } else if (node.operation == Operation::kParameter) {
      gradient[static_cast<std::size_t>(node.index)] += program.scalar_adjoints[i];
    } else if (node.depends == Depends::kParameters) {
      program.backward_scalar(i);
    }
  }
}

std::vector<double> predict(const LawForm& form, const FitTable& table,
                            std::span<const double> parameters) {
  std::vector<std::vector<double>> columns;
  for (const auto& name : form.columns()) columns.push_back(table.numbers(name));
  BoundForm bound(form, std::move(columns));
  const auto losses = bound.predict(parameters);
  return {losses.begin(), losses.end()};
}

}  // namespace rondo
