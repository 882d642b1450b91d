// A parameter and the walk over all parameters of a part.
//
// A part is a plain struct that lists its members once in `fields(self, visit)`. Naming, initial
// values, optimiser groups, saving, loading and counting are functions given to visit_parameters.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "tensor/tensor.h"

namespace rondo {

/// What a parameter is for. Initial values (init.cpp), weight decay and learning rate (train/
/// optimizer.cpp) follow from it.
enum class Role {
  kEmbedding,       ///< embedding table [V, D]
  kHead,            ///< untied head [V, D]
  kMatrix,          ///< hidden matrix [out, in]
  kMergeMatrix,     ///< hidden matrix of an RLT's merge [out, in]
  kResidualOutput,  ///< hidden matrix that writes into the residual stream [out, in]
  kGain,            ///< gains of a norm
  kBias,            ///< what is added
  kFirstState,      ///< a learned state before the first token [D]
  kInjectMatrix,    ///< dense injection [D, 2D]
  kInjectScale,     ///< factor of a scalar or channel injection on the state or the input
  kHistoryMatrix,   ///< dense history of one lag [D, D], from 0
  kConditioning,    ///< factors of a scalar or channel history, weights of a timestep's features
};

/// A weight with its role. `value` is undefined until init or loading fills it.
struct Parameter {
  Role role = Role::kMatrix;
  std::vector<std::int64_t> shape;
  Tensor value;
  /// Where a constant initial value is needed (gains, biases, factors of injections), that value.
  double start = 0.0;
};

namespace detail {

inline std::string dotted(const std::string& prefix, std::string_view name) {
  return prefix.empty() ? std::string(name) : prefix + "." + std::string(name);
}

template <typename T>
inline constexpr bool is_vector = false;
template <typename T>
inline constexpr bool is_vector<std::vector<T>> = true;
template <typename T>
inline constexpr bool is_optional = false;
template <typename T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <typename T>
inline constexpr bool is_variant = false;
template <typename... T>
inline constexpr bool is_variant<std::variant<T...>> = true;

}  // namespace detail

/// Calls visit(full name, Parameter&) for every parameter of a part, in the order of its fields;
/// members of vectors are numbered, absent optionals left out; of a variant what it holds.
template <typename Part, typename Visit>
void visit_parameters(Part& part, Visit&& visit, const std::string& name = "") {
  using Type = std::remove_const_t<Part>;
  if constexpr (std::is_same_v<Type, Parameter>) {
    visit(name, part);
  } else if constexpr (detail::is_vector<Type>) {
    for (std::size_t i = 0; i < part.size(); ++i)
      visit_parameters(part[i], visit, detail::dotted(name, std::to_string(i)));
  } else if constexpr (detail::is_optional<Type>) {
    if (part) visit_parameters(*part, visit, name);
  } else if constexpr (detail::is_variant<Type>) {
    std::visit([&](auto& held) { visit_parameters(held, visit, name); }, part);
  } else {
    Type::fields(part, [&](std::string_view field, auto& member) {
      visit_parameters(member, visit, detail::dotted(name, field));
    });
  }
}

}  // namespace rondo
