// Reading and writing the safetensors format: an 8-byte header length, a JSON header, raw values.
#pragma once

#include <map>
#include <string>

#include "base/files.h"
#include "tensor/tensor.h"

namespace rondo {

/// Tensors by name with the string metadata beside them.
struct TensorFile {
  std::map<std::string, Tensor> tensors;
  std::map<std::string, std::string> metadata;
};

/// Writes a file to a temporary name beside `path`, syncs and renames it. Tensors must be
/// contiguous in memory or are copied; types: F64, F32, F16, BF16, I64, I32, U8.
void write_safetensors(const fs::path& path, const TensorFile& content);

/// Reads a whole file. Throws input errors that name the file and what is wrong: truncated, altered
/// offsets, unknown type, a header that is not JSON.
TensorFile read_safetensors(const fs::path& path);

/// Only the metadata, which costs nothing for large files.
std::map<std::string, std::string> read_safetensors_metadata(const fs::path& path);

}  // namespace rondo
