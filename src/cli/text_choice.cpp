// Choosing text.
#include "cli/text_choice.h"

#include "base/error.h"
#include "base/shipped.h"
#include "base/text.h"
#include "data/corpus.h"
#include "data/dataset.h"
#include "data/shards.h"
#include "data/split.h"
#include "data/text.h"

namespace rondo {
namespace {

/// All of what --data names.
TextChoice whole_of(const std::string& path, const DataConfig& config) {
  const auto tokenizer = open_tokenizer(config.tokenizer);
  const auto found = find_shipped(path);
  const auto store = config.source == DataSource::kTokens
                         ? open_shards(shard_files(found), *tokenizer)
                         : load_text(text_files(found), *tokenizer, path);
  return {ValidationSet(TokenView(store, whole_stream(*store)), tokenizer,
                        {config.sequence_length, config.document_mask}, path),
          tokenizer, "all"};
}

/// What the model's own data hold.
TextChoice part_of_own(const TextRequest& request, const DataConfig& config) {
  const auto data = open_dataset(config);
  const auto split = request.split.value_or("validation");
  if (split == "validation") return {data.validation, data.tokenizer, split};
  return {ValidationSet(data.training.view(), data.tokenizer,
                        {config.sequence_length, config.document_mask}, config.path),
          data.tokenizer, split};
}

}  // namespace

void check(const TextRequest& request) {
  if (!request.split) return;
  const auto split = one_line(*request.split);
  require(request.data.empty(), "--split {} with --data: all of --data is read; give one of them",
          split);
  require(split == "validation" || split == "train", "--split {}: expected validation or train",
          split);
}

TextChoice choose_text(const TextRequest& request, const DataConfig& data,
                       const OpenedModel& model) {
  auto choice = request.data.empty() ? part_of_own(request, data) : whole_of(request.data, data);
  const auto ids = choice.tokenizer->vocab(), vocab = model.stored.config.model.vocab;
  require(ids <= vocab, "{}: its vocabulary of {} is smaller than the tokenizer's {}",
          model.file.string(), vocab, ids);
  return choice;
}

}  // namespace rondo
