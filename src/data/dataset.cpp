// From the `[data]` section of a recipe to training and validation sequences.
#include "data/dataset.h"

#include <cmath>
#include <vector>

#include "base/error.h"
#include "base/shipped.h"
#include "base/text.h"
#include "data/corpus.h"
#include "data/shards.h"
#include "data/split.h"
#include "data/text.h"

namespace rondo {
namespace {

/// One path of a recipe, read.
struct Source {
  std::string name;
  std::vector<fs::path> files;
  std::shared_ptr<const TokenStore> store;
};

Source open_source(DataSource kind, const fs::path& given, const Tokenizer& tokenizer) {
  const fs::path path = find_shipped(given);
  Source source{.name = given.string(), .files = {}, .store = nullptr};
  if (kind == DataSource::kText) {
    source.files = text_files(path);
    source.store = load_text(source.files, tokenizer, source.name);
  } else {
    source.files = shard_files(path);
    source.store = open_shards(source.files, tokenizer);
  }
  return source;
}

void require_different(const Source& training, const Source& validation) {
  for (const fs::path& held_out : validation.files)
    for (const fs::path& file : training.files) {
      std::error_code ignored;
      require(!fs::equivalent(held_out, file, ignored),
              "data.validation: {} is also training data; expected files of its own, or a share",
              held_out.string());
    }
}

/// Identity of the data. A shard's content is hashed in its header, so that it need not be read.
std::string digest_of(DataSource kind, const std::vector<fs::path>& files) {
  if (kind == DataSource::kText) return files_sha256(files);
  std::string headers;
  for (const fs::path& file : files) {
    const ShardHeader header = open_shard(file).header;
    headers.append(reinterpret_cast<const char*>(&header), sizeof header);
  }
  return sha256(headers);
}

}  // namespace

Dataset open_dataset(const DataConfig& data) {
  const auto tokenizer = open_tokenizer(data.tokenizer);
  const Source source = open_source(data.source, data.path, *tokenizer);
  const Cut cut{.length = data.sequence_length, .document_mask = data.document_mask};
  std::vector<fs::path> files = source.files;
  std::shared_ptr<const TokenStore> held_out = source.store;
  std::string held_out_name = source.name;
  Split split;
  if (const auto share = validation_share(data.validation)) {
    split = split_stream(*source.store, *tokenizer, *share, source.name);
  } else {
    const Source validation = open_source(data.source, data.validation, *tokenizer);
    require_different(source, validation);
    files.insert(files.end(), validation.files.begin(), validation.files.end());
    held_out = validation.store;
    held_out_name = validation.name;
    split = {.training = whole_stream(*source.store),
             .validation = whole_stream(*held_out),
             .training_documents = source.store->documents(),
             .validation_documents = held_out->documents()};
  }
  Dataset dataset{.tokenizer = tokenizer,
                  .training = TrainingSet(TokenView(source.store, split.training), tokenizer, cut,
                                          data.seed, source.name),
                  .validation = ValidationSet(TokenView(held_out, split.validation), tokenizer, cut,
                                              held_out_name),
                  .documents = split.training_documents,
                  .validation_documents = split.validation_documents,
                  .text_bytes = source.store->text_bytes() +
                                (held_out == source.store ? 0 : held_out->text_bytes()),
                  .sha256 = digest_of(data.source, files),
                  .description = {}};
  dataset.description = fmt::format(
      "{}: {} tokens ({} documents) to train on, {} ({}) held out", source.name,
      si(static_cast<double>(dataset.training.tokens())), dataset.documents,
      si(static_cast<double>(dataset.validation.tokens())), dataset.validation_documents);
  return dataset;
}

}  // namespace rondo
