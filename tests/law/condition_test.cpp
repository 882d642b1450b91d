// Conditions on rows and groups of rows.
#include <gtest/gtest.h>

#include "base/error.h"
#include "law/read_table.h"
#include "tests/record/fake_runs.h"

namespace rondo {
namespace {

using test::error_of;
using Rows = std::vector<std::size_t>;

FitTable table() {
  return parse_table(
      "n,tokens,loss,model,Model Size,lr\n"
      "1,10,5,llama_3,1,0.1\n"
      "2,20,4,gpt,1,\n"
      "3,30,3,llama_3,2,0.1\n"
      "4,1e18,2,\"a b\",2,\n",
      "t.csv", {});
}

Rows holds(std::string_view condition) { return split_rows(table(), condition).holds; }

std::string problem(const std::string& condition) {
  return error_of([&] { split_rows(table(), condition); });
}

TEST(Condition, ComparesNumbers) {
  EXPECT_EQ(holds("loss < 4"), (Rows{2, 3}));
  EXPECT_EQ(holds("loss<=4"), (Rows{1, 2, 3}));
  EXPECT_EQ(holds("loss > 4"), (Rows{0}));
  EXPECT_EQ(holds("loss >= 4.0"), (Rows{0, 1}));
  EXPECT_EQ(holds("tokens == +1e18"), (Rows{3}));
  EXPECT_EQ(holds("tokens != 1e+18"), (Rows{0, 1, 2}));
  EXPECT_EQ(holds("loss > -1"), (Rows{0, 1, 2, 3}));
  EXPECT_EQ(split_rows(table(), "loss < 4").fails, (Rows{0, 1}));
}

TEST(Condition, AndBindsTighterThanOr) {
  EXPECT_EQ(holds("loss == 5 or loss == 2 and n == 1"), (Rows{0}));
  EXPECT_EQ(holds("(loss == 5 or loss == 2) and n == 4"), (Rows{3}));
  EXPECT_EQ(holds("loss==5 or loss==4 or loss==2 and n>3"), (Rows{0, 1, 3}));
  EXPECT_EQ(holds("((loss < 4))"), (Rows{2, 3}));
}

TEST(Condition, ComparesWords) {
  EXPECT_EQ(holds("model == \"llama_3\""), (Rows{0, 2}));
  EXPECT_EQ(holds("model != 'llama_3' and n < 4"), (Rows{1}));
  EXPECT_EQ(holds("model == 'a b'"), (Rows{3}));
}

TEST(Condition, NamesWithSpacesStandInBackticks) {
  EXPECT_EQ(holds("`Model Size` == 2"), (Rows{2, 3}));
  EXPECT_EQ(holds("`loss`<3"), (Rows{3}));
}

TEST(Condition, NothingHoldsForMissingNumbers) {
  EXPECT_EQ(holds("lr == 0.1"), (Rows{0, 2}));
  EXPECT_EQ(holds("lr != 0.1"), (Rows{}));
  EXPECT_EQ(holds("lr >= 0 or lr < 0"), (Rows{0, 2}));
}

TEST(Condition, ErrorsNameTheCharacter) {
  const auto expect = [](const std::string& condition, const std::string& begin) {
    EXPECT_EQ(problem(condition).substr(0, begin.size()), begin);
  };
  expect("", "condition , character 1: expected a column");
  expect("los < 3", "condition los < 3, character 1: no column los; did you mean loss?");
  expect("loss => 3", "condition loss => 3, character 6: expected <, <=, >, >=, == or !=");
  expect("loss = 3", "condition loss = 3, character 6: expected <");
  expect("loss < ", "condition loss < , character 8: expected a number");
  expect("loss < nan", "condition loss < nan, character 8: expected a number");
  expect("loss < 3 3", "condition loss < 3 3, character 10: expected `and`, `or` or the end");
  expect("loss < 3 and", "condition loss < 3 and, character 13: expected a column");
  expect("loss < 3 && n > 1", "condition loss < 3 && n > 1, character 10: expected `and`, `or`");
  expect("(loss < 3", "condition (loss < 3, character 10: expected `and`, `or` or )");
  expect("3 < loss", "condition 3 < loss, character 1: expected a column");
  expect("model == 3", "condition model == 3, character 10: column model holds words");
  expect("model < 'a'",
         "condition model < 'a', character 7: column model holds words; expected ==");
  expect("loss == 'a'", "condition loss == 'a', character 9: column loss holds numbers");
  expect("model == 'a", "condition model == 'a, character 11: expected a closing '");
  expect("`loss < 3", "condition `loss < 3, character 2: expected a closing `");
  expect("\xFF", "condition: not valid UTF-8 at byte 0");
  EXPECT_NE(problem(std::string(100000, '(')).find("nested too deeply"), std::string::npos);
}

TEST(GroupRows, NumbersGroupsInOrderOfAppearance) {
  const auto groups = [](const std::vector<std::string>& columns) {
    return group_rows(table(), columns);
  };
  EXPECT_EQ(groups({"model"}), (Rows{0, 1, 0, 2}));
  EXPECT_EQ(groups({"Model Size"}), (Rows{0, 0, 1, 1}));
  EXPECT_EQ(groups({"model", "Model Size"}), (Rows{0, 1, 2, 3}));
  EXPECT_EQ(groups({"lr"}), (Rows{0, 1, 0, 1}));
  EXPECT_EQ(groups({}), (Rows{0, 0, 0, 0}));
  EXPECT_TRUE(error_of([&] {
                groups({"mode"});
              }).starts_with("groups of rows: no column mode; did you mean"));
}

}  // namespace
}  // namespace rondo
