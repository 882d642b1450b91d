// Settings that the recipe leaves to the machine: resolved once, written into the run, reused.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/machine.h"
#include "config/config.h"

namespace rondo {

/// fp32 or bf16 for this machine. "auto" is fp32: this version trains in fp32 only. Throws an input
/// error for bf16, with the reason that applies: no units, or not in this version.
Precision settle_precision(Precision wanted, const CpuFeatures& features);

/// Throws an input error for a device this build or machine does not have.
void check_device(DeviceKind device);

/// `config` with vocabulary, threads, precision and micro-batch decided. Equal on every run of one
/// machine: the micro-batch follows from the machine's whole memory, not from what happens to be
/// free.
Config settle(Config config, std::int64_t tokenizer_vocab);

/// `recipe` with what it leaves open ("auto", 0) taken from an earlier part of the same run.
Config adopt_settled(Config recipe, const Config& earlier);

}  // namespace rondo
