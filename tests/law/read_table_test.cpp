// Reading tables: files as people have them, other names of columns, every bad cell by its place.
#include "law/read_table.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "cost/flops.h"
#include "tests/record/fake_runs.h"

namespace rondo {
namespace {

using test::error_of;
using test::TemporaryFolder;
using Numbers = std::vector<double>;

FitTable parse(std::string_view text, const ReadOptions& options = {},
               const std::string& name = "t.csv") {
  return parse_table(text, name, options);
}

std::string problem(std::string_view text, const ReadOptions& options = {},
                    const std::string& name = "t.csv") {
  return error_of([&] { parse(text, options, name); });
}

void expect_problem(std::string_view text, std::string_view begin, const ReadOptions& options = {},
                    const std::string& name = "t.csv") {
  const std::string message = problem(text, options, name);
  EXPECT_EQ(message.substr(0, begin.size()), begin) << "in: " << text;
}

bool has_note(const FitTable& table, std::string_view part) {
  for (const auto& note : table.notes)
    if (note.find(part) != std::string::npos) return true;
  return false;
}

TEST(Csv, ReadsPlainModels) {
  const FitTable table = parse("n,tokens,loss\n1e8,16e+18,3.5\n+2e8, 4e9 ,.25e1\n");
  EXPECT_EQ(table.rows(), 2U);
  EXPECT_EQ(table.numbers("n_once"), (Numbers{1e8, 2e8}));
  EXPECT_EQ(table.numbers("n_rec"), (Numbers{0, 0}));
  EXPECT_EQ(table.numbers("loops"), (Numbers{1, 1}));
  EXPECT_EQ(table.numbers("backward_loops"), (Numbers{1, 1}));
  EXPECT_EQ(table.numbers("tokens"), (Numbers{16e18, 4e9}));
  EXPECT_EQ(table.numbers("flops"), (Numbers{6 * 1e8 * 16e18, 6 * 2e8 * 4e9}));
  EXPECT_EQ(table.numbers("loss"), (Numbers{3.5, 2.5}));
  EXPECT_EQ(table.where(1), "t.csv:3");
  EXPECT_TRUE(table.notes.empty());
}

TEST(Csv, ReadsFilesAsProgramsWriteThem) {
  const std::string plain = "name,n,tokens,loss\nx,1,2,3\ny,4,5,6\n";
  const auto same = [&](std::string_view text, const std::string& name = "t.csv") {
    const FitTable table = parse(text, {}, name);
    EXPECT_EQ(table.numbers("n_once"), (Numbers{1, 4})) << text;
    EXPECT_EQ(table.numbers("loss"), (Numbers{3, 6})) << text;
    EXPECT_EQ(table.find("name")->words, (std::vector<std::string>{"x", "y"})) << text;
  };
  same(plain);
  same("\xEF\xBB\xBF" + plain);
  same("name,n,tokens,loss\r\nx,1,2,3\r\ny,4,5,6\r\n");
  same("name,n,tokens,loss\nx,1,2,3\ny,4,5,6");
  same(plain + "\n  \n\r\n");
  same("\"name\",\"n\",\"tokens\",\"loss\"\n\"x\",\"1\",\"2\",\"3\"\n\"y\" , 4,5,6\n");
  same("name\tn\ttokens\tloss\nx\t1\t2\t3\ny\t4\t5\t6\n");
  same("name\tn\ttokens\tloss\nx\t1\t2\t3\ny\t4\t5\t6\n", "t.tsv");
  same(plain, "without-extension");
}

TEST(Csv, ReadsQuotesAndLineBreaksInside) {
  const FitTable table =
      parse("n,tokens,loss,note\n1,2,3,\"a \"\"b\"\", c\r\nd\"\n4,5,6,\"\"\n7,8,9,e\n");
  EXPECT_EQ(table.find("note")->words, (std::vector<std::string>{"a \"b\", c\r\nd", "", "e"}));
  EXPECT_EQ(table.where(1), "t.csv:4");
}

TEST(Csv, NamesFileAndLineOfWhatIsNoTable) {
  const std::string head = "n,tokens,loss\n";
  expect_problem("", "t.csv: is empty; expected a table");
  expect_problem(" \n\n", "t.csv: is empty");
  expect_problem(head, "t.csv: a header and no rows");
  expect_problem("\n" + head + "1,2,3\n", "t.csv:1: is blank");
  expect_problem("1,2,3\n4,5,6\n", "t.csv:1: no names of columns");
  expect_problem("n;tokens;loss\n1;2;3\n", "t.csv:1: cells are apart by semicolons");
  expect_problem("n,tokens,loss,n\n1,2,3,4\n", "t.csv:1: column n is there twice");
  expect_problem(head + "1,2,3\n" + head + "4,5,6\n", "t.csv:3: the header again");
  expect_problem(head + "1,2\n", "t.csv:2: the number of cells is 2 and the header has 3");
  expect_problem(head + "1,000,2,3\n", "t.csv:2: the number of cells is 4");
  expect_problem(head + "1,2,3\n\n4,5,6\n", "t.csv:3: a blank line between rows");
  expect_problem(head + "1,2,3\n4,\"5,6\n7,8,9\n", "t.csv:3: a quote is not closed");
  expect_problem(head + "1,2,\"3\"4\n", "t.csv:2: text after a closing quote");
  expect_problem(head + "1,2,3\"\n", "t.csv:2: a quote inside a cell");
  expect_problem(head + "1,2\r3,4\n", "t.csv:2: a carriage return inside a line");
  expect_problem(head + std::string("1,2,3\n4,\0005,6\n", 13), "t.csv:3: holds a NUL byte");
  expect_problem(head + "1,2,3\n4,5,\xFF\n", "t.csv:3: not valid UTF-8");
}

TEST(Csv, NotesAColumnWithoutAName) {
  const FitTable table = parse(",n,tokens,loss\n0,1,2,3\n1,4,5,6\n");
  EXPECT_EQ(table.numbers("loss"), (Numbers{3, 6}));
  EXPECT_TRUE(has_note(table, "t.csv: column 1 has no name and is not used"));
}

TEST(Jsonl, ReadsObjectsWithKeysInAnyOrder) {
  const FitTable table = parse(
      "{\"n\": 1, \"tokens\": 2.5e3, \"loss\": 3, \"note\": \"caf\\u00e9 \\ud83d\\ude00\"}\n"
      "{ \"loss\":\"6\",\"tokens\":5,\"n\":4,\"ok\":true, \"note\":null }\r\n\n",
      {}, "t.jsonl");
  EXPECT_EQ(table.numbers("tokens"), (Numbers{2500, 5}));
  EXPECT_EQ(table.numbers("loss"), (Numbers{3, 6}));
  EXPECT_EQ(table.find("note")->words[0], "caf\xC3\xA9 \xF0\x9F\x98\x80");
  EXPECT_EQ(table.find("ok")->words, (std::vector<std::string>{"", "true"}));
  EXPECT_EQ(parse("{\"n\":1,\"tokens\":2,\"loss\":3}", {}, "runs").rows(), 1U);
}

TEST(Jsonl, NamesFileAndLineOfWhatIsNoFlatObject) {
  const std::string good = "{\"n\":1,\"tokens\":2,\"loss\":3}\n";
  const auto expect = [&](const std::string& line, const std::string& begin) {
    expect_problem(good + line, begin, {}, "t.jsonl");
  };
  expect("{\"n\":[1],\"tokens\":2,\"loss\":3}", "t.jsonl:2: n is a list; expected a number");
  expect("{\"n\":{},\"tokens\":2,\"loss\":3}", "t.jsonl:2: n is an object; expected a number");
  expect("{\"n\":1,\"n\":1,\"tokens\":2,\"loss\":3}", "t.jsonl:2: n is there twice");
  expect("[1, 2]", "t.jsonl:2: character 1: not a JSON object");
  expect("{\"n\":1,\"tokens\":2,\"loss\":3", "t.jsonl:2: character 27: no , or }");
  expect("{\"n\":1,\"tokens\":2,\"loss\":3} x", "t.jsonl:2: character 29: text after");
  expect("{\"n\":+1}", "t.jsonl:2: character 6: no JSON value");
  expect("{\"n\":1,}", "t.jsonl:2: character 8: no key");
  expect("{\"n\":\"\\ud83d\"}", "t.jsonl:2: character 13: half of a surrogate pair");
  expect("\n" + good, "t.jsonl:2: a blank line");
  expect("{\"n\":1,\"tokens\":2}", "t.jsonl:2: column loss: is missing");
  expect("{\"n\":1,\"tokens\":2,\"loss\":NaN}", "t.jsonl:2: column loss: \"nan\" is not finite");
  expect("{\"n\":1,\"tokens\":2,\"loss\":null}", "t.jsonl:2: column loss: is missing");
  expect_problem("[{\"n\": 1}]", "t.json: a JSON list", {}, "t.json");
}

TEST(Cells, BadOnesAreNamedByLineAndColumnOrLeftOut) {
  const std::string head = "n_once,n_rec,loops,backward_loops,tokens,loss\n";
  const std::string good = "1,2,4,3,5,6\n";
  const auto expect = [&](const std::string& row, const std::string& message) {
    expect_problem(head + good + row, "t.csv:3: " + message);
    const FitTable table = parse(head + good + row, {.skip_bad = true});
    EXPECT_EQ(table.rows(), 1U);
    EXPECT_EQ(table.dropped, 1U);
    EXPECT_TRUE(has_note(table, "1 left out as bad: t.csv:3: " + message));
  };
  expect("1,2,4,3,5,\n", "column loss: is missing; expected a number above 0");
  expect("1,2,4,3,5,nan\n", "column loss: \"nan\" is not finite; expected a number above 0");
  expect("1,2,4,3,5,-inf\n", "column loss: \"-inf\" is not finite");
  expect("1,2,4,3,0,6\n", "column tokens: 0 is zero; expected a number above 0");
  expect("1,2,4,3,-5,6\n", "column tokens: -5 is negative; expected a number above 0");
  expect("-1,2,4,3,5,6\n", "column n_once: -1 is negative; expected a number from 0");
  expect("1,x,4,3,5,6\n", "column n_rec: \"x\" is not a number; expected a number from 0");
  expect("\"1,000\",2,4,3,5,6\n", "column n_once: \"1,000\" has separators between its digits");
  expect("1 000,2,4,3,5,6\n", "column n_once: \"1 000\" has separators");
  expect("1_000,2,4,3,5,6\n", "column n_once: \"1_000\" has separators");
  expect("1e999,2,4,3,5,6\n", "column n_once: \"1e999\" is out of the range");
  expect("0x10,2,4,3,5,6\n", "column n_once: \"0x10\" is not a number");
  expect("0,0,4,3,5,6\n", "n_once and n_rec are both 0");
  expect("1,2,4,5,5,6\n", "column backward_loops: 5 is more than loops 4");
  expect("1,2,0,0,5,6\n", "column loops: 0 is zero");
  expect("1e300,2,4,3,1e300,6\n", "sizes and tokens are out of range");
  const std::string message = problem(head + "1,2,4,3,5,\n");
  EXPECT_TRUE(message.ends_with("; --skip-bad leaves such rows out")) << message;
  EXPECT_EQ(parse(head + "0,2,4.5,3.25,5,6\n1,-0,1,1,5,6\n").rows(), 2U);
  expect_problem(head + "1,2,4,3,5,\n", "no rows to fit; 1 left out as bad: t.csv:2: column loss",
                 {.skip_bad = true});
}

TEST(Cells, OnlyColumnsInUseMustBeNumbers) {
  const FitTable table = parse("n,tokens,loss,width,name,gone\n1,2,3,,a,\n4,5,6,8,7,\n");
  const auto& width = table.numbers("width");
  EXPECT_TRUE(std::isnan(width[0]));
  EXPECT_EQ(width[1], 8);
  EXPECT_EQ(table.find("name")->words, (std::vector<std::string>{"a", "7"}));
  EXPECT_TRUE(std::isnan(table.find("name")->values[1]));
  EXPECT_TRUE(table.find("gone")->is_words());
  const ReadOptions options = {.needed = {"loss", "width"}};
  expect_problem("n,tokens,loss,width\n1,2,3,\n4,5,6,8\n",
                 "t.csv:2: column width: is missing; expected a number above 0", options);
  expect_problem("n,tokens,loss,wide\n1,2,3,4\n", "t.csv: no column width; did you mean wide?",
                 options);
}

TEST(Compute, FollowsFromTheFormula) {
  const FitTable table = parse(
      "n_once,n_rec,loops,backward_loops,tokens,flops,loss\n10,20,4,2,100,7,1\n10,20,1,1,50,8,1\n");
  const double per_token = train_matmul_flops(10, 20, {4, 2});
  EXPECT_EQ(table.numbers("flops"), (Numbers{per_token * 100, 180.0 * 50}));
  EXPECT_TRUE(has_note(table, "t.csv: column flops is not used: flops follow from tokens"));
  const FitTable inverse =
      parse("n_once,n_rec,loops,backward_loops,flops,loss\n10,20,4,2,1e18,1\n");
  EXPECT_EQ(inverse.numbers("tokens"), Numbers{1e18 / per_token});
  EXPECT_EQ(inverse.numbers("flops"), Numbers{1e18});
  expect_problem("n,loss\n1,2\n",
                 "t.csv: no column tokens. The columns are n, loss; expected it "
                 "(or D, training_tokens, or flops), or --column tokens=THEIRS");
}

TEST(Compute, SaysThatMissingBackwardLoopsMeanOne) {
  const FitTable table = parse("n_once,n_rec,r,tokens,loss\n10,20,4,100,1\n");
  EXPECT_EQ(table.numbers("backward_loops"), Numbers{1});
  EXPECT_TRUE(has_note(table, "t.csv: has no column backward_loops"));
  EXPECT_TRUE(has_note(table, "say --column backward_loops=r"));
  for (const char* theirs : {"r", "loops"}) {
    const FitTable full = parse("n_once,n_rec,r,tokens,loss\n10,20,4,100,1\n",
                                {.columns = {{"backward_loops", theirs}}});
    EXPECT_EQ(full.numbers("backward_loops"), Numbers{4});
    EXPECT_FALSE(has_note(full, "has no column"));
  }
  EXPECT_FALSE(has_note(parse("n_once,n_rec,r,tokens,loss\n10,20,1,100,1\n"), "has no column"));
  const FitTable plain =
      parse("n,tokens,loss\n10,20,4\n", {.columns = {{"backward_loops", "loops"}}});
  EXPECT_EQ(plain.numbers("backward_loops"), Numbers{1});
}

TEST(Sizes, OneOfTheTwoAndTheirSum) {
  EXPECT_EQ(parse("n,n_once,tokens,loss\n10,4,1,1\n").numbers("n_rec"), Numbers{6});
  EXPECT_EQ(parse("n,n_rec,tokens,loss\n10,4,1,1\n").numbers("n_once"), Numbers{6});
  EXPECT_EQ(parse("n,n_once,n_rec,tokens,loss\n99,4,5,1,1\n").numbers("n_once"), Numbers{4});
  expect_problem("n,n_rec,tokens,loss\n10,14,1,1\n", "t.csv:2: column n_rec: 14 is more than n 10");
  expect_problem("n_once,tokens,loss\n10,14,1\n", "t.csv: no column n_rec");
  expect_problem("N,tokens,loss,r\n10,14,1,1\n11,14,1,2\n",
                 "t.csv:3: loops is 2 and there is only N for the size; expected n_once and n_rec");
}

TEST(Sizes, NAskedForByNameWins) {
  const std::string text = "total,n_once,n_rec,tokens,loss\n99,4,5,1,1\n";
  const FitTable table = parse(text, {.columns = {{"n", "total"}}});
  EXPECT_EQ(table.numbers("n_once"), Numbers{99});
  EXPECT_EQ(table.numbers("n_rec"), Numbers{0});
  EXPECT_TRUE(has_note(table, "n_rec is not used"));
  const FitTable both = parse(text, {.columns = {{"n", "total"}, {"n_rec", "n_rec"}}});
  EXPECT_EQ(both.numbers("n_once"), Numbers{94});
}

TEST(Names, WellKnownOnesAreRecognised) {
  const FitTable table = parse("C,Model Size,D-tokens,Val_Loss,seed\n1,2,3,4,5\n");
  EXPECT_EQ(table.numbers("n_once"), Numbers{2});
  EXPECT_EQ(table.numbers("tokens"), Numbers{3});
  EXPECT_EQ(table.numbers("loss"), Numbers{4});
  EXPECT_EQ(table.numbers("Val_Loss"), Numbers{4}) << "stays under its own name too";
  EXPECT_EQ(table.notes,
            (std::vector<std::string>{"D-tokens is taken as tokens", "Val_Loss is taken as loss",
                                      "Model Size is taken as n"}));
}

TEST(Names, ExactlyOursWinsAndTwoOthersAreAnError) {
  EXPECT_EQ(parse("N,D,loss,val_loss,final_loss\n1,2,3,4,5\n").numbers("loss"), Numbers{3});
  EXPECT_EQ(parse("N,D,Loss,val_loss\n1,2,3,4\n").numbers("loss"), Numbers{3});
  expect_problem("N,D,val_loss,final_loss\n1,2,4,5\n",
                 "t.csv: val_loss and final_loss could both be loss; say which with --column "
                 "loss=val_loss");
  const FitTable chosen =
      parse("N,D,val_loss,final_loss\n1,2,4,5\n", {.columns = {{"loss", "final_loss"}}});
  EXPECT_EQ(chosen.numbers("loss"), Numbers{5});
  // Two names for what is not asked for do not matter.
  EXPECT_EQ(parse("N,D,C,budget,val_loss\n1,2,3,4,5\n").rows(), 1U);
  EXPECT_EQ(parse("n_once,n_rec,size,params,tokens,loss\n1,2,3,4,5,6\n").rows(), 1U);
}

TEST(Names, AWordsColumnIsNoCandidate) {
  const FitTable table = parse("size,params,data,flops,loss\ns,1,fineweb,600,2\n");
  EXPECT_EQ(table.numbers("n_once"), Numbers{1});
  EXPECT_EQ(table.numbers("tokens"), Numbers{100});
  EXPECT_EQ(table.find("data")->words[0], "fineweb");
}

TEST(Names, MappingsAreChecked) {
  const std::string text = "n,tokens,final\n1,2,3\n";
  const auto expect = [&](const std::string& ours, const std::string& theirs,
                          const std::string& begin) {
    expect_problem(text, begin, {.columns = {{ours, theirs}}});
  };
  expect("loss", "finel",
         "t.csv: --column loss=finel: no column finel; did you mean final? The columns are n, "
         "tokens, final");
  expect("los", "final", "--column los=final: no column los; did you mean loss?");
  expect("loss", "", "--column loss=: expected OURS=THEIRS");
  expect_problem(text, "--column loss=n: loss is given twice",
                 {.columns = {{"loss", "final"}, {"loss", "n"}}});
  expect_problem(text, "t.csv: --column flops=x: no column x",
                 {.columns = {{"loss", "final"}, {"flops", "x"}}});
  EXPECT_EQ(parse(text, {.columns = {{"loss", "final"}}}).numbers("loss"), Numbers{3});
  const ReadOptions unique = {.columns = {{"loss", "final"}, {"unique_tokens", "tokens"}},
                              .needed = {"unique_tokens"}};
  EXPECT_EQ(parse(text, unique).numbers("unique_tokens"), Numbers{2});
  EXPECT_EQ(parse("N,D,U,loss\n1,2,3,4\n", {.needed = {"unique_tokens"}}).numbers("unique_tokens"),
            Numbers{3});
}

TEST(Names, ATakenPlaceIsNoted) {
  const FitTable table =
      parse("n,tokens,loss,late_loss\n1,2,3,4\n", {.columns = {{"loss", "late_loss"}}});
  EXPECT_EQ(table.numbers("loss"), Numbers{4});
  EXPECT_TRUE(has_note(table, "t.csv: column loss is not used: late_loss takes its place"));
}

TEST(Tables, SeveralFilesBecomeOne) {
  const TemporaryFolder tmp;
  write_file_atomically(tmp / "a.csv", "n,tokens,loss,model,lr\n1,2,3,x,0.1\n4,5,6,y,0.2\n");
  write_file_atomically(
      tmp / "b.jsonl", "{\"n_once\":1,\"n_rec\":2,\"T\":4,\"D\":7,\"val_loss\":8,\"tag\":\"b\"}\n");
  const std::vector<fs::path> paths = {tmp / "a.csv", tmp / "b.jsonl"};
  const FitTable table = read_tables(paths, {});
  EXPECT_EQ(table.numbers("loss"), (Numbers{3, 6, 8}));
  EXPECT_EQ(table.numbers("loops"), (Numbers{1, 1, 4}));
  EXPECT_EQ(table.numbers("n_rec"), (Numbers{0, 0, 2}));
  EXPECT_EQ(table.find("model")->words, (std::vector<std::string>{"x", "y", ""}));
  EXPECT_EQ(table.find("tag")->words, (std::vector<std::string>{"", "", "b"}));
  EXPECT_TRUE(std::isnan(table.numbers("lr")[2]));
  EXPECT_EQ(table.files, (std::vector<std::string>{paths[0].string(), paths[1].string()}));
  EXPECT_EQ(table.where(2), paths[1].string() + ":1");
  const std::string message = error_of([&] { read_tables(paths, {.needed = {"lr"}}); });
  EXPECT_TRUE(message.starts_with(paths[1].string() + ": no column lr")) << message;
}

TEST(Tables, SourcesThatAreNotThereOrThereTwice) {
  const TemporaryFolder tmp;
  write_file_atomically(tmp / "a.csv", "n,tokens,loss\n1,2,3\n");
  const auto problem_of = [&](const std::vector<fs::path>& paths) {
    return error_of([&] { read_tables(paths, {}); });
  };
  EXPECT_EQ(problem_of({}), "no table; expected CSV or JSONL files or folders of runs");
  EXPECT_EQ(problem_of({tmp / "no.csv"}),
            (tmp / "no.csv").string() +
                ": no such file or folder; expected a CSV or JSONL table or run folders");
  EXPECT_TRUE(problem_of({tmp / "a.csv", tmp / "./a.csv"})
                  .ends_with("is there twice; expected each table and each run once"));
  EXPECT_TRUE(problem_of({tmp.path()}).starts_with(tmp.path().string() + ": no run in it"));
}

TEST(Tables, SelectKeepsWhereRowsAreFrom) {
  const FitTable table = parse("n,tokens,loss,model\n1,2,3,x\n4,5,6,y\n7,8,9,z\n");
  const std::vector<std::size_t> rows = {2, 0, 0};
  const FitTable chosen = table.select(rows);
  EXPECT_EQ(chosen.numbers("loss"), (Numbers{9, 3, 3}));
  EXPECT_EQ(chosen.find("model")->words, (std::vector<std::string>{"z", "x", "x"}));
  EXPECT_EQ(chosen.where(0), "t.csv:4");
  EXPECT_EQ(table.find("nothing"), nullptr);
  EXPECT_EQ(error_of([&] { static_cast<void>(table.numbers("los")); }).substr(0, 36),
            "no column los; did you mean loss? Th");
  EXPECT_EQ(error_of([&] { static_cast<void>(table.numbers("model")); }),
            "column model holds words; expected numbers");
}

}  // namespace
}  // namespace rondo
