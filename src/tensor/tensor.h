// The tensor type, shape checks, and the little that every tensor layer needs from the library.
//
// Shape suffixes: B batch, T time, D width, H heads, G key/value heads, K head width, F
// feed-forward width, V vocabulary, R loops, L layers, N rows (batch and time together).
#pragma once

#include <cstdint>
#include <exception>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/torch.h"

namespace rondo {

using at::Tensor;

/// Turns gradients off for a scope.
using NoGrad = at::NoGradGuard;

/// Throws std::logic_error unless `tensor` has this shape; −1 stands for any length. Shapes come
/// from our own code, so a mismatch is a mistake of ours and not of the user.
void expect_shape(const Tensor& tensor, std::initializer_list<std::int64_t> shape,
                  std::string_view name);

/// A [rows, columns] int64 tensor that owns a copy of the ids.
Tensor token_tensor(std::span<const std::int32_t> ids, std::int64_t rows);

/// Back-propagates from a scalar into the `grad` of every leaf.
void back_propagate(const Tensor& loss);

/// The same from several tensors, each weighted by its gradient; tensors whose gradient is
/// undefined are left out.
void back_propagate(const std::vector<Tensor>& outputs, const std::vector<Tensor>& gradients);

/// Gradients of a scalar (or of `outputs` weighted by `output_gradients`) with respect to `inputs`;
/// an input that was not used gets an undefined tensor.
std::vector<Tensor> gradients(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                              const std::vector<Tensor>& output_gradients = {});

/// Whether this thread walks a graph back for the only time, as the functions above do: what the
/// graph keeps may then be overwritten by what is computed from it, if nothing else reads it.
bool graph_is_spent();

/// slope (a scalar) times a gradient that was taken in the forward pass and that only the graph
/// holds: in place where that is allowed. Undefined stays undefined.
Tensor passed_on(const Tensor& gradient, const Tensor& slope);

/// Sets the threads of all tensor work; call once, before the first.
void set_threads(int threads);

/// What an exception says, without the library's stack trace; one line.
std::string library_message(const std::exception& error);

/// "2.15.0", of the library that runs.
std::string_view libtorch_version();

}  // namespace rondo
