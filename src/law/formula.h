// Formulas as trees: the parser and the nodes that it makes. Equal parts of formulas are one node.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace rondo {

/// What a node of a formula does with its one or two operands.
enum class Operation {
  kNumber,
  kColumn,
  kParameter,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kNegate,
  kExp,
  kLog,
  kSqrt,
  kMin,
  kMax,
};

/// How much of a node is known when: with the formula, with the columns, or with the parameters.
enum class Depends { kNothing, kColumns, kParameters, kBoth };

/// One operation on earlier nodes. Operands stand before the nodes that use them.
struct FormulaNode {
  Operation operation;
  int left = -1, right = -1;
  int index = -1;     ///< of the column or parameter
  double number = 0;  ///< of a number
  Depends depends = Depends::kNothing;
};

/// A growing list of nodes without duplicates. Operations on numbers are done at once.
class FormulaNodes {
 public:
  int number(double value);
  int column(int index);
  int parameter(int index);
  int unary(Operation operation, int operand);
  int binary(Operation operation, int left, int right);
  /// left ^ right as exp(right · log left): the base must be positive, save for a square.
  int power(int left, int right);

  [[nodiscard]] const std::vector<FormulaNode>& nodes() const { return nodes_; }
  [[nodiscard]] const FormulaNode& operator[](int node) const {
    return nodes_[static_cast<std::size_t>(node)];
  }

 private:
  int add(FormulaNode node);

  std::vector<FormulaNode> nodes_;
  std::map<std::tuple<Operation, int, int, int, double>, int> known_;
};

/// Parses a formula into nodes and returns its root. `resolve` gives the node of a name. Throws an
/// input error that begins with `where` and names the place.
int parse_formula(std::string_view formula, const std::string& where, FormulaNodes& nodes,
                  const std::function<int(const std::string&)>& resolve);

/// Value of an operation on numbers.
double apply(Operation operation, double left, double right);

}  // namespace rondo
