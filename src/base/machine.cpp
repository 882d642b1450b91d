// Reads /proc, the control group and the processor's feature bits.
#include "base/machine.h"

#include <cpuid.h>
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <string_view>

#include "base/text.h"

namespace rondo {
namespace {

constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

/// Value of a "Name:   123 kB" line, in bytes; 0 when the file or line is missing.
std::uint64_t kilobyte_field(const char* file, std::string_view name) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(name)) continue;
    std::istringstream value(line.substr(name.size()));
    std::uint64_t kilobytes = 0;
    value >> kilobytes;
    return kilobytes * 1024;
  }
  return 0;
}

/// A number in a control-group file; unlimited when missing or "max".
std::uint64_t cgroup_bytes(const char* file) {
  std::ifstream in(file);
  std::uint64_t value = 0;
  return in >> value ? value : kUnlimited;
}

std::string cpu_model() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("model name")) continue;
    const auto start = line.find(": ");
    if (start != std::string::npos) return line.substr(start + 2);
  }
  return "unknown processor";
}

}  // namespace

CpuFeatures cpu_features() {
  CpuFeatures features;
  features.avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  features.avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512vl");
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid_count(7, 1, &a, &b, &c, &d)) features.avx512_bf16 = (a >> 5 & 1) != 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) features.amx_bf16 = (d >> 22 & 1) != 0;
  return features;
}

std::string machine_name() {
  const auto features = cpu_features();
  std::string units = features.amx_bf16      ? "AMX"
                      : features.avx512_bf16 ? "AVX-512 BF16"
                      : features.avx512      ? "AVX-512"
                      : features.avx2        ? "AVX2"
                                             : "no AVX2";
  return fmt::format("{}, {} cores, {}, {}", cpu_model(), available_cores(), units,
                     bytes(static_cast<double>(total_memory_bytes())));
}

int available_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return std::max(1, CPU_COUNT(&set));
}

std::uint64_t free_memory_bytes() {
  const std::uint64_t available = kilobyte_field("/proc/meminfo", "MemAvailable:");
  const std::uint64_t limit = cgroup_bytes("/sys/fs/cgroup/memory.max");
  const std::uint64_t used = cgroup_bytes("/sys/fs/cgroup/memory.current");
  if (limit == kUnlimited || used == kUnlimited) return available;
  return std::min(available, limit - std::min(limit, used));
}

std::uint64_t total_memory_bytes() {
  return std::min(kilobyte_field("/proc/meminfo", "MemTotal:"),
                  cgroup_bytes("/sys/fs/cgroup/memory.max"));
}

std::uint64_t resident_bytes() { return kilobyte_field("/proc/self/status", "VmRSS:"); }

std::uint64_t peak_resident_bytes() { return kilobyte_field("/proc/self/status", "VmHWM:"); }

}  // namespace rondo
