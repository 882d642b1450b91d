// Text of a tokenizer and of tasks.
#include "eval/text_form.h"

#include "base/error.h"
#include "base/text.h"
#include "data/group.h"
#include "data/task_tokens.h"

namespace rondo {
namespace {

constexpr std::int32_t kElements = 256;

/// Whether a task's tokens are elements of a group, written as numbers.
bool is_word_problem(const std::string& task) {
  return task == "s5-swaps" || open_group(task).has_value();
}

std::vector<std::int32_t> elements_of(std::string_view text, std::string_view name) {
  std::vector<std::int32_t> ids;
  for (const auto& word : split(text, ' ')) {
    if (word.empty()) continue;
    const auto numbers = parse_integers(word, name);
    require(numbers.size() == 1 && numbers[0] >= 0 && numbers[0] < kElements,
            "{}: \"{}\" is not an element of a group; expected numbers from 0 to {} with spaces "
            "between them",
            name, one_line(word), kElements - 1);
    ids.push_back(static_cast<std::int32_t>(numbers[0]));
  }
  return ids;
}

}  // namespace

TextForm::TextForm(const DataConfig& data) {
  if (data.source == DataSource::kTask)
    elements_ = is_word_problem(data.task);
  else
    tokenizer_ = open_tokenizer(data.tokenizer);
}

std::vector<std::int32_t> TextForm::beginning() const {
  return tokenizer_ ? std::vector<std::int32_t>{} : std::vector<std::int32_t>{kTaskBos};
}

std::vector<std::int32_t> TextForm::ids(std::string_view text, std::string_view name) const {
  const auto bad = invalid_utf8(text);
  require(!bad, "{}: not UTF-8 at byte {}", name, bad.value_or(0));
  if (tokenizer_) return tokenizer_->encode(text);
  if (elements_) return elements_of(text, name);
  std::vector<std::int32_t> ids;
  append_bytes(text, ids);
  return ids;
}

std::string TextForm::piece(std::int32_t id, std::size_t index) const {
  if (id == end()) return {};
  if (tokenizer_) return tokenizer_->decode(std::vector{id});
  if (!elements_) return task_text(std::vector{id});
  const auto word = id < kElements ? std::to_string(id) : task_special_name(id);
  return index == 0 ? word : " " + word;
}

std::int32_t TextForm::end() const { return tokenizer_ ? tokenizer_->separator() : kTaskEos; }

std::int64_t TextForm::vocab() const { return tokenizer_ ? tokenizer_->vocab() : kTaskVocab; }

}  // namespace rondo
