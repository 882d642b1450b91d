// The tokenizer without a vocabulary file: ids are the 256 byte values, no specials.
#pragma once

#include <memory>

#include "data/tokenizer.h"

namespace rondo {

std::shared_ptr<const Tokenizer> bytes_tokenizer();

}  // namespace rondo
