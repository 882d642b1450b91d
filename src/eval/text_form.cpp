// Text of a tokenizer and of tasks.
#include "eval/text_form.h"

#include "base/error.h"
#include "base/text.h"
#include "data/group.h"
#include "data/task_tokens.h"

namespace rondo {
namespace {

// Ids that stand for elements, of the largest group.
constexpr std::int32_t kElements = 256;

/// Elements of the group whose words are a task's tokens, written as numbers; 0 for other tasks.
std::int32_t group_order(const std::string& task) {
  const auto group = open_group(task == "s5-swaps" ? "s5" : task);
  return group ? group->order : 0;
}

std::vector<std::int32_t> elements_of(std::string_view text, std::string_view name,
                                      std::int32_t order) {
  std::vector<std::int32_t> ids;
  for (const auto& word : split(text, ' ')) {
    if (word.empty()) continue;
    const auto numbers = parse_integers(word, name);
    require(numbers.size() == 1 && numbers[0] >= 0 && numbers[0] < order,
            "{}: \"{}\" is not an element of the task's group; expected numbers from 0 to {} with "
            "spaces "
            "between them",
            name, one_line(word), order - 1);
    ids.push_back(static_cast<std::int32_t>(numbers[0]));
  }
  return ids;
}

}  // namespace

TextForm::TextForm(const DataConfig& data) {
  if (data.source == DataSource::kTask)
    elements_ = group_order(data.task);
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
  if (elements_ > 0) return elements_of(text, name, elements_);
  std::vector<std::int32_t> ids;
  append_bytes(text, ids);
  return ids;
}

std::string TextForm::piece(std::int32_t id, std::size_t index) const {
  if (id == end()) return {};
  if (tokenizer_) return tokenizer_->decode(std::vector{id});
  if (elements_ == 0) return task_text(std::vector{id});
  const auto word = id < kElements ? std::to_string(id) : task_special_name(id);
  return index == 0 ? word : " " + word;
}

std::int32_t TextForm::end() const { return tokenizer_ ? tokenizer_->separator() : kTaskEos; }

std::int64_t TextForm::vocab() const { return tokenizer_ ? tokenizer_->vocab() : kTaskVocab; }

}  // namespace rondo
