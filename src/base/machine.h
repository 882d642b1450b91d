// What this machine is and how much of it is free.
#pragma once

#include <cstdint>
#include <string>

namespace rondo {

/// Vector units that decide which precisions and kernels can run.
struct CpuFeatures {
  bool avx2 = false;
  bool avx512 = false;
  bool avx512_bf16 = false;
  bool amx_bf16 = false;
  [[nodiscard]] bool bf16() const { return avx512_bf16 || amx_bf16; }
};

CpuFeatures cpu_features();

/// "AMD EPYC, 2 cores, AVX-512 BF16, 23.4 GiB".
std::string machine_name();

/// Cores this process may run on.
int available_cores();

/// Memory that can still be had without swapping: what the system reports as available, or the
/// control group's limit less its use where that is smaller.
std::uint64_t free_memory_bytes();
std::uint64_t total_memory_bytes();

/// Resident memory of this process now, and its peak so far.
std::uint64_t resident_bytes();
std::uint64_t peak_resident_bytes();

}  // namespace rondo
