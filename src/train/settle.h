// Settings that the recipe leaves to the machine: resolved once, written into the run, reused.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/machine.h"
#include "config/config.h"

namespace rondo {

/// Throws an input error for a device this build or machine does not have.
void check_device(DeviceKind device);

/// `config` with vocabulary, threads, precision, library of products and micro-batch decided. Equal
/// on every run of one machine: measured choices are kept (train/choices.h), and the bound on the
/// micro-batch follows from the machine's whole memory, not from what happens to be free.
Config settle(Config config, std::int64_t tokenizer_vocab);

/// `recipe` with what it leaves open ("auto", 0) taken from an earlier part of the same run.
Config adopt_settled(Config recipe, const Config& earlier);

}  // namespace rondo
