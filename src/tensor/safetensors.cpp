// The safetensors format, checked against everything a damaged file can hold.
#include "tensor/safetensors.h"

#include <unistd.h>

#include <array>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/error.h"
#include "base/json.h"

namespace rondo {
namespace {

struct Type {
  const char* name;
  at::ScalarType scalar;
};
constexpr std::array<Type, 7> kTypes = {{{"F64", at::kDouble},
                                         {"F32", at::kFloat},
                                         {"F16", at::kHalf},
                                         {"BF16", at::kBFloat16},
                                         {"I64", at::kLong},
                                         {"I32", at::kInt},
                                         {"U8", at::kByte}}};
// The reference implementation's limit; a longer header is not a header.
constexpr std::uint64_t kMaxHeader = 100'000'000;

const char* type_name(const Tensor& tensor) {
  for (const auto& type : kTypes)
    if (type.scalar == tensor.scalar_type()) return type.name;
  throw std::logic_error("safetensors: unsupported tensor type");
}

struct Header {
  Json json;
  std::uint64_t data_start = 0, data_size = 0;
};

Header read_header(std::ifstream& in, const fs::path& path) {
  const std::uint64_t file_size = fs::file_size(path);
  std::array<unsigned char, 8> length_bytes{};
  in.read(reinterpret_cast<char*>(length_bytes.data()), 8);
  std::uint64_t length = 0;
  for (std::size_t i = 8; i-- > 0;) length = length << 8 | length_bytes[i];
  require(in.good() && length <= kMaxHeader && length + 8 <= file_size,
          "{}: not a safetensors file, or truncated (a header of {} bytes in a file of {})",
          path.string(), length, file_size);
  std::string text(length, '\0');
  in.read(text.data(), static_cast<std::streamsize>(length));
  require(in.good(), "{}: truncated inside the header", path.string());
  Header header;
  header.json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  require(header.json.is_object(), "{}: the safetensors header is not JSON", path.string());
  header.data_start = 8 + length;
  header.data_size = file_size - header.data_start;
  return header;
}

std::map<std::string, std::string> metadata_of(const Header& header, const fs::path& path) {
  std::map<std::string, std::string> metadata;
  const auto found = header.json.find("__metadata__");
  if (found == header.json.end()) return metadata;
  require(found->is_object(), "{}: __metadata__ is not an object", path.string());
  for (const auto& [key, value] : found->items()) {
    require(value.is_string(), "{}: metadata {} is not a string", path.string(), key);
    metadata[key] = value.get<std::string>();
  }
  return metadata;
}

struct Entry {
  at::ScalarType type = at::kFloat;
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0, end = 0;
};

Entry parse_entry(const std::string& name, const Json& json, std::uint64_t data_size,
                  const fs::path& path) {
  const auto bad = [&](std::string_view what) {
    fail("{}: tensor {}: {}; the file is damaged", path.string(), name, what);
  };
  const auto is_natural = [](const Json& value) { return value.is_number_unsigned(); };
  if (!json.is_object() || !json.contains("dtype") || !json.contains("shape") ||
      !json.contains("data_offsets"))
    bad("dtype, shape or data_offsets is missing");
  Entry entry;
  const auto known = std::find_if(kTypes.begin(), kTypes.end(),
                                  [&](const Type& type) { return json["dtype"] == type.name; });
  if (known == kTypes.end()) bad("unknown dtype " + json["dtype"].dump());
  entry.type = known->scalar;
  const auto& shape = json["shape"];
  const auto& offsets = json["data_offsets"];
  if (!shape.is_array() || !offsets.is_array() || offsets.size() != 2 ||
      !std::all_of(shape.begin(), shape.end(), is_natural) ||
      !std::all_of(offsets.begin(), offsets.end(), is_natural))
    bad("shape or data_offsets is not a list of whole numbers");
  entry.begin = offsets[0].get<std::uint64_t>();
  entry.end = offsets[1].get<std::uint64_t>();
  std::uint64_t bytes = c10::elementSize(entry.type);
  for (const auto& n : shape) {
    const auto length = n.get<std::uint64_t>();
    if (length > data_size && bytes != 0) bad("its shape is larger than the file");
    entry.shape.push_back(static_cast<std::int64_t>(length));
    if (__builtin_mul_overflow(bytes, length, &bytes)) bad("its shape overflows");
  }
  if (entry.begin > entry.end || entry.end > data_size) bad("its data lie outside the file");
  if (entry.end - entry.begin != bytes) bad("its shape and its data differ in size");
  return entry;
}

std::string header_text(const TensorFile& content) {
  Json json = Json::object();
  if (!content.metadata.empty()) json["__metadata__"] = content.metadata;
  std::uint64_t offset = 0;
  for (const auto& [name, tensor] : content.tensors) {
    const std::uint64_t end = offset + tensor.nbytes();
    json[name] = {{"dtype", type_name(tensor)},
                  {"shape", tensor.sizes().vec()},
                  {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = json.dump();
  text.append((8 - text.size() % 8) % 8, ' ');  // data start aligned
  return text;
}

}  // namespace

void write_safetensors(const fs::path& path, const TensorFile& content) {
  const fs::path temporary = path.string() + fmt::format(".{}.tmp", ::getpid());
  {
    std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
    const std::string header = header_text(content);
    std::array<char, 8> length{};
    for (std::size_t i = 0; i < 8; ++i)
      length[i] = static_cast<char>(header.size() >> (8 * i) & 255);
    out.write(length.data(), 8);
    out.write(header.data(), static_cast<std::streamsize>(header.size()));
    for (const auto& [name, tensor] : content.tensors) {
      const auto values = tensor.detach().contiguous().cpu();
      out.write(static_cast<const char*>(values.const_data_ptr()),
                static_cast<std::streamsize>(values.nbytes()));
    }
    out.close();
    if (!out.good()) {
      const std::string why = std::strerror(errno);
      std::error_code ignored;
      fs::remove(temporary, ignored);
      fail_work("{}: cannot be written ({})", path.string(), why);
    }
  }
  sync_path(temporary);
  std::error_code error;
  fs::rename(temporary, path, error);
  if (error) fail_work("{}: cannot be written ({})", path.string(), error.message());
}

TensorFile read_safetensors(const fs::path& path) {
  require(fs::is_regular_file(path), "{}: no such file", path.string());
  std::ifstream in(path, std::ios::binary);
  require(in.good(), "{}: cannot be read ({})", path.string(), std::strerror(errno));
  const Header header = read_header(in, path);
  TensorFile file;
  file.metadata = metadata_of(header, path);
  for (const auto& [name, json] : header.json.items()) {
    if (name == "__metadata__") continue;
    const Entry entry = parse_entry(name, json, header.data_size, path);
    auto tensor = at::empty(entry.shape, entry.type);
    in.seekg(static_cast<std::streamoff>(header.data_start + entry.begin));
    in.read(static_cast<char*>(tensor.mutable_data_ptr()),
            static_cast<std::streamsize>(entry.end - entry.begin));
    require(in.good(), "{}: truncated inside tensor {}", path.string(), name);
    file.tensors[name] = tensor;
  }
  return file;
}

std::map<std::string, std::string> read_safetensors_metadata(const fs::path& path) {
  require(fs::is_regular_file(path), "{}: no such file", path.string());
  std::ifstream in(path, std::ios::binary);
  require(in.good(), "{}: cannot be read ({})", path.string(), std::strerror(errno));
  return metadata_of(read_header(in, path), path);
}

}  // namespace rondo
