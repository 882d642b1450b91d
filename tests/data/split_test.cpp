// What is held out: whole documents, or the end of a stream with few of them.
#include "data/split.h"

#include <set>

#include "data/corpus.h"
#include "tests/data/support.h"

namespace rondo {
namespace {

using testing::contains;
using testing::error_of;
using testing::numbered_documents;
using testing::TempFolder;

std::shared_ptr<const TokenStore> store_of(const std::string& text) {
  const TempFolder folder;
  return load_text({folder.write("a.txt", text)}, *open_tokenizer("bytes"), "a.txt");
}

std::string text_of(const TokenStore& store, const std::vector<TokenRange>& ranges) {
  std::string text;
  for (const TokenRange& range : ranges) {
    std::vector<std::int32_t> tokens(range.end - range.begin);
    store.read(range.begin, tokens);
    text += open_tokenizer("bytes")->decode(tokens);
  }
  return text;
}

struct Texts {
  std::string training, validation;
  Split split;
};

Texts split_text(const std::string& text, double share) {
  const auto store = store_of(text);
  const Split split = split_stream(*store, *open_tokenizer("bytes"), share, "a.txt");
  return {text_of(*store, split.training), text_of(*store, split.validation), split};
}

std::set<std::string> documents_in(const std::string& stream) {
  std::set<std::string> documents;
  for (std::size_t begin = 0; begin <= stream.size();) {
    const std::size_t end = std::min(stream.find('\0', begin), stream.size());
    documents.insert(stream.substr(begin, end - begin));
    begin = end + 1;
  }
  return documents;
}

TEST(Split, WholeDocumentsAndNoLeakage) {
  const Texts texts = split_text(numbered_documents(200), 0.1);
  const auto training = documents_in(texts.training), validation = documents_in(texts.validation);
  EXPECT_EQ(training.size() + validation.size(), 200u);
  EXPECT_EQ(texts.split.training_documents, training.size());
  EXPECT_EQ(texts.split.validation_documents, validation.size());
  for (const std::string& document : validation) EXPECT_FALSE(training.contains(document));
  const auto bytes = static_cast<double>(texts.training.size() + texts.validation.size());
  EXPECT_NEAR(static_cast<double>(texts.validation.size()) / bytes, 0.1, 0.02);
  EXPECT_NE(texts.training.back(), '\0');
  EXPECT_NE(texts.validation.back(), '\0');
}

TEST(Split, IsTheSameForEveryRunAndDoesNotFollowTheText) {
  // Pinned: a change here would move documents between the parts of users' runs.
  const Texts texts = split_text(numbered_documents(40), 0.1);
  std::set<int> numbers;
  for (const std::string& document : documents_in(texts.validation))
    numbers.insert(std::stoi(document.substr(9)));
  EXPECT_EQ(numbers, (std::set<int>{2, 14, 20, 22, 38}));
}

TEST(Split, ALongDocumentDoesNotSwallowTheTraining) {
  std::string text = numbered_documents(30);
  for (int i = 0; i < 500; ++i) text += "One document is much longer than all the others.\n";
  const Texts texts = split_text(text, 0.05);
  EXPECT_LT(texts.validation.size(), text.size() / 10);
}

TEST(Split, NeitherPartIsEmpty) {
  EXPECT_EQ(split_text(numbered_documents(25), 1e-9).split.validation_documents, 1u);
  EXPECT_EQ(split_text(numbered_documents(25), 1 - 1e-9).split.training_documents, 1u);
  std::string equal;
  for (int i = 0; i < 20; ++i) equal += "same size\n<|endoftext|>\n";
  EXPECT_EQ(split_text(equal, 0.001).split.validation_documents, 1u);
}

TEST(Split, FewDocumentsAreCutAtALineEnd) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += fmt::format("line number {:02}\n", i);
  const Texts texts = split_text(text, 0.05);
  EXPECT_EQ(texts.training + texts.validation, text);
  EXPECT_EQ(texts.validation.substr(0, 15), "line number 95\n");
  const Texts odd = split_text(text, 0.0501);
  EXPECT_EQ(odd.validation.substr(0, 15), "line number 94\n");
}

TEST(Split, NineteenDocumentsAreCutTwentyAreNot) {
  const Texts few = split_text(numbered_documents(19), 0.05);
  EXPECT_TRUE(contains(few.validation, "Document 18"));
  EXPECT_EQ(few.split.training.size(), 1u);
  EXPECT_EQ(few.split.training.front().begin, 0u);
  EXPECT_GE(few.split.training_documents + few.split.validation_documents, 19u);
  const Texts many = split_text(numbered_documents(20), 0.05);
  EXPECT_EQ(many.split.training_documents + many.split.validation_documents, 20u);
}

TEST(Split, ACutBetweenDocumentsLeavesOutTheSeparator) {
  const Texts texts = split_text("aaaaaaaaaaaaaa\n<|endoftext|>\nbbbb\n", 0.25);
  EXPECT_EQ(texts.training, "aaaaaaaaaaaaaa\n");
  EXPECT_EQ(texts.validation, "bbbb\n");
}

TEST(Split, TextWithoutLineEndsIsCutAtTheShareBetweenCharacters) {
  std::string text;
  for (int i = 0; i < 500; ++i) text += "\xC3\xA9";
  const Texts texts = split_text(text, 0.0501);
  EXPECT_EQ(texts.training + texts.validation, text);
  EXPECT_EQ(texts.validation.size(), 52u);
  EXPECT_EQ(texts.validation.substr(0, 2), "\xC3\xA9");
}

TEST(Split, ALineEndFarFromTheShareIsNotWaitedFor) {
  const Texts texts = split_text("title\n" + std::string(1000, 'x'), 0.05);
  EXPECT_EQ(texts.validation.size(), 51u);
}

TEST(Split, ImpossibleSharesAndTooLittleTextAreErrors) {
  for (const double share : {0.0, 1.0, 5.0, -0.1})
    EXPECT_TRUE(contains(error_of([&] { split_text("some text\n", share); }),
                         "a share must be above 0 and below 1"));
  EXPECT_TRUE(contains(error_of([] { split_text("abc", 0.5); }), "too few to hold some out"));
}

TEST(Split, TinyTextsGiveTwoTokensToValidation) {
  for (std::size_t size = 4; size < 40; ++size) {
    for (const double share : {0.01, 0.5, 0.99}) {
      std::string text(size, 'x');
      if (size % 3 == 0) text[size / 2] = '\n';
      const Texts texts = split_text(text, share);
      EXPECT_EQ(texts.training + texts.validation, text);
      EXPECT_GE(texts.validation.size(), 2u);
      EXPECT_GE(texts.training.size(), 1u);
    }
  }
}

}  // namespace
}  // namespace rondo
