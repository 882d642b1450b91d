// A law at one point.
#include <algorithm>
#include <array>
#include <map>

#include "base/error.h"
#include "base/text.h"
#include "cost/flops.h"
#include "law/compile.h"
#include "law/fit.h"

namespace rondo {
namespace {

using Point = LawFunction::Point;

double unique_tokens(const Point& point) {
  return point.unique_tokens > 0 ? point.unique_tokens : point.tokens;
}
double inference_loops(const Point& point) {
  return point.inference_loops > 0 ? point.inference_loops : point.loops;
}
double flops(const Point& point) {
  return train_matmul_flops(point.n_once, point.n_rec, {point.loops, point.backward_loops}) *
         point.tokens;
}

// What a formula may ask of a point.
struct PointColumn {
  std::string_view name;
  double (*value)(const Point&);
};
constexpr std::array<PointColumn, 8> kColumns = {{
    {"n_once", [](const Point& point) { return point.n_once; }},
    {"n_rec", [](const Point& point) { return point.n_rec; }},
    {"loops", [](const Point& point) { return point.loops; }},
    {"backward_loops", [](const Point& point) { return point.backward_loops; }},
    {"tokens", [](const Point& point) { return point.tokens; }},
    {"unique_tokens", unique_tokens},
    {"inference_loops", inference_loops},
    {"flops", flops},
}};

}  // namespace

struct LawFunction::State {
  // A compiled formula with the values of its nodes as they were last computed.
  struct Formula {
    CompiledForm form;
    std::vector<double> values;
  };

  LawForm form;
  std::vector<double> parameters;
  std::vector<double (*)(const Point&)> columns;
  Formula loss;
  std::map<std::string, Formula, std::less<>> definitions;

  double evaluate(Formula& formula, const Point& point) const {
    const auto& nodes = formula.form.nodes.nodes();
    auto& values = formula.values;
    values.resize(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const auto& node = nodes[i];
      const auto index = static_cast<std::size_t>(node.index);
      switch (node.operation) {
        case Operation::kNumber:
          values[i] = node.number;
          break;
        case Operation::kColumn:
          values[i] = columns[index](point);
          break;
        case Operation::kParameter:
          values[i] = parameters[index];
          break;
        default:
          values[i] = apply(node.operation, values[static_cast<std::size_t>(node.left)],
                            node.right < 0 ? 0 : values[static_cast<std::size_t>(node.right)]);
      }
    }
    return values[static_cast<std::size_t>(formula.form.root)];
  }
};

LawFunction::LawFunction(const LawForm& form, std::vector<double> parameters)
    : state_(std::make_unique<State>()) {
  require(parameters.size() == form.parameters.size(), "law {}: expected {} parameters, got {}",
          form.name, form.parameters.size(), parameters.size());
  state_->form = form;
  state_->parameters = std::move(parameters);
  for (const auto& name : form.columns()) {
    const auto* place = std::find_if(kColumns.begin(), kColumns.end(),
                                     [&](const auto& column) { return column.name == name; });
    require(place != kColumns.end(),
            "law {}: the column {} has no meaning in a plan; there are n_once, n_rec, loops, "
            "backward_loops, tokens, unique_tokens, inference_loops and flops",
            form.name, name);
    state_->columns.push_back(place->value);
  }
  state_->loss.form = compile_form(form, form.loss, "loss");
  for (const auto& [name, formula] : form.define)
    state_->definitions[name].form = compile_form(form, formula, "define." + name);
}
LawFunction::LawFunction(const LawFunction& other)
    : state_(std::make_unique<State>(*other.state_)) {}
LawFunction::LawFunction(LawFunction&&) noexcept = default;
LawFunction::~LawFunction() = default;

double LawFunction::operator()(const Point& point) const {
  return state_->evaluate(state_->loss, point);
}

std::optional<double> LawFunction::definition(std::string_view name, const Point& point) const {
  const auto place = state_->definitions.find(name);
  if (place == state_->definitions.end()) return std::nullopt;
  return state_->evaluate(place->second, point);
}

}  // namespace rondo
