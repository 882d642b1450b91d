// A sum over sequences whose gradients are taken part by part, so that a part's intermediate
// results are gone before the next begins.
#pragma once

#include <functional>

#include "tensor/tensor.h"

namespace rondo {

/// The sum of something over the rows of part, a scalar. The part begins at row `first` of the
/// whole; `shared` are the tensors given to summed_by_parts().
using PartSum = std::function<Tensor(const Tensor& part, std::int64_t first,
                                     const std::vector<Tensor>& shared)>;

/// Σ of `sum` over parts of x of about equal size and at most `rows` rows. Gradients with respect
/// to x and `shared` are taken at once where they will be wanted; `sum` must depend on nothing else
/// that needs gradients. It runs once a part: nothing is computed twice.
Tensor summed_by_parts(const PartSum& sum, const Tensor& x, const std::vector<Tensor>& shared,
                       std::int64_t rows);

}  // namespace rondo
