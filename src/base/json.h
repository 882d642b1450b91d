// The JSON value of what the program writes. Only the forward declaration: the library's header
// costs seconds, so `.cpp` files include <nlohmann/json.hpp> themselves.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace rondo {

/// Keys keep the order in which they were written.
using Json = nlohmann::ordered_json;

}  // namespace rondo
