// Deciding on a precision.
#include "train/precision.h"

#include "base/error.h"

namespace rondo {

Precision settle_precision(Precision wanted, const CpuFeatures& features) {
  if (wanted == Precision::kAuto) return features.amx_bf16 ? Precision::kBf16 : Precision::kFp32;
  require(wanted != Precision::kBf16 || features.bf16(),
          "train.precision = \"bf16\": this machine has no bf16 units (AMX or AVX-512 BF16); use "
          "\"fp32\" or \"auto\"");
  return wanted;
}

Factors factors_of(Precision settled) {
  return settled == Precision::kBf16 ? Factors::kBf16 : Factors::kFp32;
}

}  // namespace rondo
