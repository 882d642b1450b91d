// Packing text into token shards, document by document.
#include "data/pack.h"

#include <algorithm>

#include "base/error.h"
#include "data/shards.h"
#include "data/text.h"

namespace rondo {
namespace {

std::vector<fs::path> all_files(const std::vector<fs::path>& inputs) {
  require(!inputs.empty(), "there is nothing to pack; expected a file or a folder");
  std::vector<fs::path> files;
  for (const fs::path& input : inputs) {
    const std::vector<fs::path> more = text_files(input);
    files.insert(files.end(), more.begin(), more.end());
  }
  return files;
}

std::uint64_t size_of(const fs::path& file) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(file, error);
  require(!error, "{}: cannot be read ({})", file.string(), error.message());
  return size;
}

}  // namespace

PackResult pack(const PackOptions& options, const Tokenizer& tokenizer,
                const std::function<void(const PackProgress&)>& progress) {
  const std::vector<fs::path> files = all_files(options.inputs);
  PackProgress done;
  for (const fs::path& file : files) done.total_bytes += size_of(file);
  ShardWriter writer(options.out, options.name, tokenizer, options.width, options.shard_tokens);
  PackResult result;
  std::uint64_t bytes_of_files = 0;
  for (const fs::path& file : files) {
    done.bytes = bytes_of_files;
    bytes_of_files += size_of(file);
    read_documents(file, [&](std::string_view text, std::string_view where) {
      encode_document(tokenizer, text, where,
                      [&](std::span<const std::int32_t> ids) { writer.add(ids); });
      writer.end_document(text.size());
      result.bytes += text.size();
      done.bytes = std::min(done.bytes + text.size(), bytes_of_files);
      done.documents = writer.documents();
      done.tokens = writer.tokens();
      if (progress) progress(done);
    });
  }
  result.tokens = writer.tokens();
  result.documents = writer.documents();
  result.shards = writer.finish();
  return result;
}

}  // namespace rondo
