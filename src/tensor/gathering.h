// Parts of a tensor whose gradients are added up where they belong.
#pragma once

#include "tensor/tensor.h"

namespace rondo {

/// The first `count` entries of x along `dimension`, whose gradient is added to those of `gradient`
/// (as large as x) instead of being passed on. Autograd's own would be as large as x for every part
/// that is taken.
Tensor gathering_part(const Tensor& x, std::int64_t dimension, std::int64_t count,
                      const Tensor& gradient);

}  // namespace rondo
