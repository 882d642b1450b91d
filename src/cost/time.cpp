// Time from FLOPs and a measured roof.
#include "cost/time.h"

#include "base/error.h"

namespace rondo {

double seconds_for(double flops, const Speed& speed) {
  require(speed.roof_gflops > 0, "roof = {} GFLOP/s: expected a number above 0", speed.roof_gflops);
  require(speed.efficiency > 0 && speed.efficiency <= 1,
          "efficiency = {}: expected a share of the roof above 0 and up to 1", speed.efficiency);
  return flops / (speed.roof_gflops * 1e9 * speed.efficiency);
}

double roof_share(double flops, double seconds, double roof_gflops) {
  return flops / seconds / (roof_gflops * 1e9);
}

}  // namespace rondo
