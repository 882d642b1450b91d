// A machine whose speeds are round numbers, so that times can be worked out by hand.
#pragma once

#include "cost/machine_speed.h"

namespace rondo::test {

/// Products at 100 GFLOP/s whatever their shape; attention 1 ns a pair and head forward, 2 ns
/// backward at head width 64, half of it in proportion to the width; other operations 1 ns a value
/// forward and 2 ns backward, sums 3 ns (1 ns for each tensor touched); calls take no time. A
/// block's measured time is 30 ms forward and 60 ms backward, more than its parts.
inline MachineSpeed even_speed() {
  const OperationTimes even{
      .values = {1, 1e6}, .forward_s = {1e-30, 1e-3}, .backward_s = {1e-30, 2e-3}};
  const OperationTimes sums{
      .values = {1, 1e6}, .forward_s = {1e-30, 3e-3}, .backward_s = {1e-30, 1e-30}};
  const OperationTimes no_time{.values = {1}, .forward_s = {1e-30}, .backward_s = {1e-30}};
  return {.machine = "a test",
          .version = "0",
          .threads = 2,
          .processor_share = 1,
          .products = {{1000, 1000, 1000, 100}, {1000, 10, 10, 100}},
          .attention = {{128, 64, 1e-9, 2e-9}, {128, 32, 0.75e-9, 1.5e-9}, {512, 64, 1e-9, 2e-9}},
          .norm = even,
          .rotate = even,
          .swiglu = even,
          .loss = even,
          .add = sums,
          .product_call = no_time,
          .attention_call = no_time,
          .blocks = {{1024, 128, 64, 176, 3e-2, 6e-2}},
          .vector_product = even};
}

}  // namespace rondo::test
