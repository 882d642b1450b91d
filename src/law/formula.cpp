// Reading formulas.
#include "law/formula.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include "base/error.h"
#include "base/text.h"

namespace rondo {
namespace {

Depends joined(Depends a, Depends b) {
  if (a == Depends::kNothing) return b;
  if (b == Depends::kNothing || a == b) return a;
  return Depends::kBoth;
}

// Formulas are short; what nests deeper is a mistake, and must not exhaust the stack.
constexpr int kDeepest = 200;

// Recursive descent: sum → product → signed → power → atom. As in mathematics -a^b is -(a^b), and
// a^b^c is a^(b^c).
class Parser {
 public:
  Parser(std::string_view text, const std::string& where, FormulaNodes& nodes,
         const std::function<int(const std::string&)>& resolve)
      : text_(text), where_(where), nodes_(nodes), resolve_(resolve) {}

  int parse() {
    const int root = sum();
    if (at_ < text_.size()) wrong("an operator or the end");
    return root;
  }

 private:
  [[noreturn]] void wrong(std::string_view expected) {
    fail("{}: '{}': expected {} at character {}{}", where_, one_line(text_), expected, at_ + 1,
         at_ < text_.size() ? fmt::format(", found '{}'", one_line(text_.substr(at_, 12))) : "");
  }

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n'))
      ++at_;
  }

  bool take(char c) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  int sum() {
    require(++depth_ < kDeepest, "{}: '{}': nested too deeply", where_, one_line(text_));
    int left = product();
    for (;;) {
      if (take('+')) {
        left = nodes_.binary(Operation::kAdd, left, product());
      } else if (take('-')) {
        left = nodes_.binary(Operation::kSubtract, left, product());
      } else {
        skip_blanks();
        --depth_;
        return left;
      }
    }
  }

  int product() {
    int left = signed_power();
    for (;;) {
      if (take('*')) {
        if (at_ < text_.size() && text_[at_] == '*') wrong("one operand (powers are written ^)");
        left = nodes_.binary(Operation::kMultiply, left, signed_power());
      } else if (take('/')) {
        const int right = signed_power();
        const auto& divisor = nodes_[right];
        require(divisor.operation != Operation::kNumber || divisor.number != 0,
                "{}: '{}': divides by zero", where_, one_line(text_));
        left = nodes_.binary(Operation::kDivide, left, right);
      } else {
        return left;
      }
    }
  }

  int signed_power() {
    bool negative = false;
    for (;;) {
      if (take('-')) {
        negative = !negative;
      } else if (!take('+')) {
        break;
      }
    }
    int value = atom();
    if (take('^')) {
      require(++depth_ < kDeepest, "{}: '{}': nested too deeply", where_, one_line(text_));
      value = nodes_.power(value, signed_power());
      --depth_;
    }
    return negative ? nodes_.unary(Operation::kNegate, value) : value;
  }

  int atom() {
    if (take('(')) {
      const int inside = sum();
      if (!take(')')) wrong("')'");
      return inside;
    }
    if (at_ >= text_.size()) wrong("a number, a name or '('");
    const auto c = static_cast<unsigned char>(text_[at_]);
    if (std::isdigit(c) != 0 || c == '.') return number();
    if (std::isalpha(c) != 0 || c == '_') return name();
    wrong("a number, a name or '('");
  }

  int number() {
    double value = 0;
    const auto* first = text_.data() + at_;
    const auto [end, problem] = std::from_chars(first, text_.data() + text_.size(), value);
    if (problem != std::errc{} || !std::isfinite(value)) wrong("a finite number");
    at_ += static_cast<std::size_t>(end - first);
    return nodes_.number(value);
  }

  int name() {
    const auto begin = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_'))
      ++at_;
    const std::string word(text_.substr(begin, at_ - begin));
    if (!take('(')) return resolve_(word);
    return call(word);
  }

  int call(const std::string& function) {
    const int first = sum();
    if (function == "min" || function == "max") {
      if (!take(',')) wrong("',' and the second argument of " + function);
      const int second = sum();
      if (!take(')')) wrong("')'");
      return nodes_.binary(function == "min" ? Operation::kMin : Operation::kMax, first, second);
    }
    if (!take(')')) wrong("')'");
    if (function == "exp") return nodes_.unary(Operation::kExp, first);
    if (function == "log") return nodes_.unary(Operation::kLog, first);
    if (function == "sqrt") return nodes_.unary(Operation::kSqrt, first);
    fail("{}: '{}': there is no function {}; there are exp, log, sqrt, min and max", where_,
         one_line(text_), function);
  }

  std::string_view text_;
  const std::string& where_;
  FormulaNodes& nodes_;
  const std::function<int(const std::string&)>& resolve_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

double apply(Operation operation, double left, double right) {
  switch (operation) {
    case Operation::kAdd:
      return left + right;
    case Operation::kSubtract:
      return left - right;
    case Operation::kMultiply:
      return left * right;
    case Operation::kDivide:
      return left / right;
    case Operation::kNegate:
      return -left;
    case Operation::kExp:
      return std::exp(left);
    case Operation::kLog:
      return std::log(left);
    case Operation::kSqrt:
      return std::sqrt(left);
    case Operation::kMin:
      return std::min(left, right);
    case Operation::kMax:
      return std::max(left, right);
    case Operation::kNumber:
    case Operation::kColumn:
    case Operation::kParameter:
      break;
  }
  return left;
}

int FormulaNodes::add(FormulaNode node) {
  const auto key = std::make_tuple(node.operation, node.left, node.right, node.index, node.number);
  const auto [place, is_new] = known_.try_emplace(key, static_cast<int>(nodes_.size()));
  if (is_new) nodes_.push_back(node);
  return place->second;
}

int FormulaNodes::number(double value) {
  return add({.operation = Operation::kNumber, .number = value});
}

int FormulaNodes::column(int index) {
  return add({.operation = Operation::kColumn, .index = index, .depends = Depends::kColumns});
}

int FormulaNodes::parameter(int index) {
  return add({.operation = Operation::kParameter, .index = index, .depends = Depends::kParameters});
}

int FormulaNodes::unary(Operation operation, int operand) {
  const auto& inner = (*this)[operand];
  if (inner.operation == Operation::kNumber) return number(apply(operation, inner.number, 0));
  return add({.operation = operation, .left = operand, .depends = inner.depends});
}

int FormulaNodes::binary(Operation operation, int left, int right) {
  const auto& a = (*this)[left];
  const auto& b = (*this)[right];
  if (a.operation == Operation::kNumber && b.operation == Operation::kNumber)
    return number(apply(operation, a.number, b.number));
  return add({.operation = operation,
              .left = left,
              .right = right,
              .depends = joined(a.depends, b.depends)});
}

int FormulaNodes::power(int left, int right) {
  const auto exponent = (*this)[right];
  if (exponent.operation == Operation::kNumber) {
    if (exponent.number == 1) return left;
    if (exponent.number == 2) return binary(Operation::kMultiply, left, left);
    if ((*this)[left].operation == Operation::kNumber)
      return number(std::pow((*this)[left].number, exponent.number));
  }
  const int logarithm = unary(Operation::kLog, left);
  return unary(Operation::kExp, binary(Operation::kMultiply, right, logarithm));
}

int parse_formula(std::string_view formula, const std::string& where, FormulaNodes& nodes,
                  const std::function<int(const std::string&)>& resolve) {
  return Parser(formula, where, nodes, resolve).parse();
}

}  // namespace rondo
