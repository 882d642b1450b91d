// Every error of a recipe as the text that a person sees.
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "config/recipe.h"

namespace rondo {
namespace {

template <typename Action>
std::string message(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_status(), 2);
    return error.what();
  }
  return "nothing was thrown";
}

std::string in_recipe(const std::string& text) {
  return message([&] { parse_recipe(text, "r.toml"); });
}

std::string in_override(const std::string& text) {
  return message([&] { parse_recipe("", "r.toml", {text}); });
}

struct Case {
  std::string text, message;
};

void expect_all(const std::vector<Case>& cases) {
  for (const auto& c : cases) EXPECT_EQ(in_recipe(c.text), c.message) << c.text;
}

TEST(RecipeErrors, UnknownKeys) {
  expect_all({
      {"[model]\n\nd_modl = 3", "r.toml:3: model.d_modl: unknown key; did you mean model.d_model?"},
      {"sed = 3", "r.toml:1: sed: unknown key; did you mean seed?"},
      {"d_model = 3", "r.toml:1: d_model: unknown key; did you mean model.d_model?"},
      {"[model]\nsteps = 3", "r.toml:2: model.steps: unknown key; did you mean train.steps?"},
      {"[model]\nxyzzy_plugh = 3",
       "r.toml:2: model.xyzzy_plugh: unknown key; `rondo info --keys` lists the known ones"},
      {"[modell]\nd_model = 3", "r.toml:1: [modell]: unknown section; did you mean [model]?"},
      {"[network]\nd_model = 3",
       "r.toml:1: network: unknown key; `rondo info --keys` lists the known ones"},
      {"model = 3", "r.toml:1: model: expected a section [model]"},
      {"[[train]]\nsteps = 3", "r.toml:1: train: expected a section [train]"},
  });
}

TEST(RecipeErrors, WrongTypes) {
  expect_all({
      {"[model]\nd_model = \"wide\"", "r.toml:2: model.d_model = 'wide': expected a whole number"},
      {"[model]\nd_model = 2.0", "r.toml:2: model.d_model = 2.0: expected a whole number"},
      {"[model]\nd_model = true", "r.toml:2: model.d_model = true: expected a whole number"},
      {"[model]\nd_model = [1,\n2]", "r.toml:2: model.d_model = [1, 2]: expected a whole number"},
      {"[model.d_model]\na = 1", "r.toml:1: model.d_model = a table: expected a whole number"},
      {"[train]\nsteps = 2026-01-02",
       "r.toml:2: train.steps = 2026-01-02: expected a whole number"},
      {"seed = -1", "r.toml:1: seed = -1: expected a whole number that is not negative"},
      {"[train]\nclip = \"1\"", "r.toml:2: train.clip = '1': expected a number"},
      {"[train]\nclip = inf", "r.toml:2: train.clip = inf: expected a number"},
      {"[train]\nclip = nan", "r.toml:2: train.clip = nan: expected a number"},
      {"[model]\nloop_norm = 1", "r.toml:2: model.loop_norm = 1: expected true or false"},
      {"[data]\npath = 3", "r.toml:2: data.path = 3: expected a string"},
      {"[data]\nvalidation = true", "r.toml:2: data.validation = true: expected a string"},
      {"[train]\nbetas = 0.9",
       "r.toml:2: train.betas = 0.9: expected two numbers, as in [0.9, 0.95]"},
      {"[train]\nbetas = [1, 2, 3]",
       "r.toml:2: train.betas = [1, 2, 3]: expected two numbers, as in [0.9, 0.95]"},
      {"[train]\nbetas = [0.5, \"a\"]", "r.toml:2: train.betas = 'a': expected a number"},
  });
}

TEST(RecipeErrors, LongValuesAreCut) {
  const std::string eighty(79, 'x');
  EXPECT_EQ(in_recipe("[train]\nsteps = \"" + std::string(500, 'x') + "\""),
            "r.toml:2: train.steps = '" + eighty + "…: expected a whole number");
}

TEST(RecipeErrors, UnknownWords) {
  expect_all({
      {"[model]\ninjection = \"danse\"",
       "r.toml:2: model.injection = 'danse': expected one of none, scalar, channel, "
       "residual-channel, dense"},
      {"[model]\ninit = 3", "r.toml:2: model.init = 3: expected one of normal, scaled, uniform"},
      {"size = \"huge\"", "r.toml:1: size = 'huge': expected one of xs, s, m, l, xl"},
      {"size = 3", "r.toml:1: size = 3: expected one of xs, s, m, l, xl"},
      {"[train]\noptimizer = \"Adamw\"",
       "r.toml:2: train.optimizer = 'Adamw': expected one of adamw, muon"},
  });
}

TEST(RecipeErrors, FeaturesThatAreNotThere) {
  expect_all({
      {"[data]\ntokenizer = \"t.model\"",
       "r.toml: data.tokenizer = \"t.model\": not available in this version; expected \"bytes\""},
  });
}

TEST(RecipeErrors, KeysOfAnotherSamplerOrOptimizer) {
  expect_all({
      {"[loops]\nstart = 2",
       "r.toml: loops.start = 2 and loops.schedule_steps = 0 belong to loops.sampler = "
       "\"schedule\" and this one is \"fixed\"; leave them out or change the sampler"},
      {"[loops]\nsampler = \"schedule\"",
       "r.toml: loops.sampler = \"schedule\" with loops.schedule_steps = 0: set in how many steps "
       "T rises from loops.start = 1 to loops.forward = 4"},
      {"[loops]\nsampler = \"schedule\"\nschedule_steps = 9\nstart = 5",
       "r.toml: loops.start = 5 is above loops.forward = 4; a schedule rises, so lower the start"},
      {"[train]\nmuon_scale = \"spectral\"",
       "r.toml: train.muon_momentum = 0.95 and train.muon_scale = \"spectral\" belong to "
       "train.optimizer = \"muon\" and this one is \"adamw\"; leave them out or change the "
       "optimizer"},
      {"[train]\noptimizer = \"muon\"\nmuon_momentum = 1.0",
       "r.toml: train.muon_momentum = 1: must be below 1"},
      {"[model]\nkind = \"rlt\"\n[train]\nloop_loss = \"mean\"",
       "r.toml:4: train.loop_loss = 'mean': belongs to model.kind = \"looped\" and this recipe's "
       "is "
       "\"rlt\"; leave it out or change the kind"},
  });
}

TEST(RecipeErrors, Conditioning) {
  expect_all({
      {"[model]\nhistory_window = 2",
       "r.toml: model.history_window = 2 with model.history = \"none\"; choose a form of history "
       "or "
       "set the window to 0"},
      {"[model]\nhistory = \"dense\"",
       "r.toml: model.history = \"dense\" with model.history_window = 0 would see no state; set "
       "the "
       "window to 1 or more"},
      {"[model]\nhistory = \"dnese\"",
       "r.toml:2: model.history = 'dnese': expected one of none, scalar, channel, dense"},
      {"[model]\nhistory_window = 10001",
       "r.toml:2: model.history_window = 10001: out of range; expected 0 to 10000"},
      {"[model]\ntimestep = \"gate\"",
       "r.toml:2: model.timestep = 'gate': expected one of none, loop-gate, branch-gate, adaln"},
      {"[model]\ntimestep_grid = \"prefix\"",
       "r.toml: model.timestep_grid = \"prefix\" with model.timestep = \"none\": there is no time "
       "to "
       "put on a grid; choose a timestep or leave the grid out"},
      {"[model]\ntimestep = \"adaln\"\ncore_layers = 0",
       "r.toml: model.timestep = \"adaln\" with model.core_layers = 0: it acts on the core's "
       "layers, "
       "and there are none"},
      {"[model]\ntimestep = \"loop-gate\"\ntimestep_grid = \"prefix\"\n[loops]\nsampler = "
       "\"uniform\"",
       "r.toml: model.timestep_grid = \"prefix\" with loops.sampler = \"uniform\": loops may be "
       "drawn "
       "up to loops.max = 16 and the grid ends at loops.forward = 4; set loops.max = 4 or use the "
       "grid \"rescaled\""},
      {"[model]\nkind = \"rlt\"\nhistory = \"none\"",
       "r.toml:3: model.history = 'none': belongs to model.kind = \"looped\" and this recipe's is "
       "\"rlt\"; leave it out or change the kind"},
      {"[model]\nkind = \"rlt\"\ntimestep = \"adaln\"",
       "r.toml:3: model.timestep = 'adaln': belongs to model.kind = \"looped\" and this recipe's "
       "is "
       "\"rlt\"; leave it out or change the kind"},
  });
}

TEST(RecipeErrors, Layouts) {
  const auto unreadable = [](const std::string& text) {
    return "r.toml:2: model.layout = \"" + text +
           "\": cannot be read; expected \"1+2x9+1\" (prelude + core x loops + coda) or \"4x7\" "
           "(core x loops)";
  };
  for (const std::string text : {"4", "x7", "4x", "4x7+1", "1+4x7", "1+2x9+", "a+2x9+1", "1+2x9+1 ",
                                 "-1+2x9+1", "4x-7", "1+2*9+1", "99999999999999999999x2"})
    EXPECT_EQ(in_recipe("[model]\nlayout = \"" + text + "\""), unreadable(text));
  for (const std::string text : {"0x7", "4x0", "10001x2"})
    EXPECT_EQ(in_recipe("[model]\nlayout = \"" + text + "\""),
              "r.toml:2: model.layout = \"" + text +
                  "\": out of range; expected at most 10000 layers in each part, and at least one "
                  "layer and one loop in the middle");
  expect_all({
      {"[model]\nlayout = \"1+2x9+1\"\n[loops]\nforward = 4",
       "r.toml:4: loops.forward = 4: model.layout = \"1+2x9+1\" says 9; leave one of them out"},
      {"[model]\nlayout = \"4x7\"\nprelude_layers = 1",
       "r.toml:3: model.prelude_layers = 1: model.layout = \"4x7\" says 0; leave one of them out"},
      {"[model]\nlayout = 47", "r.toml:2: model.layout = 47: expected a string"},
      {"[model]\nkind = \"rlt\"\nlayout = \"4x7\"",
       "r.toml:3: model.layout = '4x7': belongs to model.kind = \"looped\" and this recipe's is "
       "\"rlt\"; leave it out or change the kind"},
  });
  // What --set says replaces what the recipe says, but not what the rest of the command line says.
  const auto set = [](const std::string& text, const Overrides& overrides) {
    return message([&] { parse_recipe(text, "r.toml", overrides); });
  };
  EXPECT_EQ(
      set("", {"model.layout=4x7", "model.core_layers=3"}),
      "--set model.core_layers=3: model.core_layers = 3: model.layout = \"4x7\" says 4; leave "
      "one of them out");
  EXPECT_EQ(set("[model]\nlayout = \"4x7\"", {"loops.forward=8"}),
            "--set loops.forward=8: loops.forward = 8: model.layout = \"4x7\" says 7; leave one of "
            "them out");
  EXPECT_EQ(set("[model]\ncore_layers = 3", {"model.layout=4x7"}), "nothing was thrown");
}

TEST(RecipeErrors, OutOfRange) {
  expect_all({
      {"[model]\nd_model = 0", "r.toml:2: model.d_model = 0: out of range; expected 1 or more"},
      {"[model]\nvocab = -1", "r.toml:2: model.vocab = -1: out of range; expected 0 or more"},
      {"[model]\nrope_base = 0",
       "r.toml:2: model.rope_base = 0: out of range; expected a number above 0"},
      {"[model]\nlogit_scale = -0.5",
       "r.toml:2: model.logit_scale = -0.5: out of range; expected a number above 0"},
      {"[model]\ncore_layers = 10001",
       "r.toml:2: model.core_layers = 10001: out of range; expected 0 to 10000"},
      {"[loops]\nforward = 0", "r.toml:2: loops.forward = 0: out of range; expected 1 to 1000000"},
      {"[train]\nsteps = 9000000000000000000",
       "r.toml:2: train.steps = 9000000000000000000: out of range; expected at most 1e+15"},
      {"[train]\nbetas = [0.9, 1.5]", "r.toml:2: train.betas = 1.5: out of range; expected 0 to 1"},
  });
}

TEST(RecipeErrors, Contradictions) {
  expect_all({
      {"[data]\nmin_length = 9\nmax_length = 8",
       "r.toml: data.min_length = 9 is above data.max_length = 8"},
      {"[data]\nmax_length = 4097",
       "r.toml:2: data.max_length = 4097: out of range; expected 0 to 4096"},
      {"[data]\ntest_lengths = 40",
       "r.toml:2: data.test_lengths = 40: expected a list, as in [1, 2]"},
      {"[data]\nlength_groups = 4",
       "r.toml: data.length_groups = 4 is for data.source = \"task\"; leave it 0"},
      {"[data]\nsource = \"task\"\ndocument_mask = true",
       "r.toml: data.document_mask = true with data.source = \"task\": an example is one document; "
       "leave it false"},
      {"[data]\nsource = \"task\"\ntask = \"s5\"\nlabel_at = \"last\"",
       "r.toml: data.label_at = \"last\" with data.task = \"s5\": only parity, mod5-flat, "
       "mod5-brackets, even-pairs, cycle have one label an example; leave it \"mark\""},
      {"[data]\nsource = \"task\"\ntask = \"s5\"\nsupervise = \"prefix\"",
       "r.toml: data.supervise = \"prefix\" with data.task = \"s5\": only parity has labels of "
       "prefixes; leave it \"final\""},
      {"[data]\nsource = \"task\"\nlength_groups = 4\n[train]\nmicro_batch = 8",
       "r.toml: data.length_groups = 4 and train.micro_batch = 8 do not fit into train.batch = 16; "
       "expected micro-batches of at most batch / length_groups"},
      {"[model]\nheads = 3",
       "r.toml: model.heads = 3 does not divide model.d_model = 256; change one of them or set "
       "model.head_dim"},
      {"[model]\nd_model = 260",
       "r.toml: the head width 65 is odd; RoPE needs an even one (model.head_dim, or "
       "model.d_model / model.heads)"},
      {"[model]\nhead_dim = 7",
       "r.toml: the head width 7 is odd; RoPE needs an even one (model.head_dim, or model.d_model "
       "/ model.heads)"},
      {"[model]\nkv_heads = 3", "r.toml: model.kv_heads = 3 does not divide model.heads = 4"},
      {"[model]\nkv_heads = 8", "r.toml: model.kv_heads = 8 does not divide model.heads = 4"},
      {"[model]\nresidual_divisor = 2",
       "r.toml: model.residual_divisor = 2 belongs to model.init = \"scaled\" and this one is "
       "\"normal\"; leave it out or change model.init"},
      {"[model]\nstate_init = \"zero\"\ninjection = \"none\"",
       "r.toml: model.state_init = \"zero\" with model.injection = \"none\" would never let the "
       "loop see the input; choose an injection or state_init = \"prelude\""},
      {"[model]\nstate_init = \"normal\"\ninjection = \"none\"",
       "r.toml: model.state_init = \"normal\" with model.injection = \"none\" would never let the "
       "loop see the input; choose an injection or state_init = \"prelude\""},
      {"[loops]\nmax = 3", "r.toml: loops.max = 3 is below loops.forward = 4"},
      {"[data]\npath = \"\"", "r.toml: data.path is empty; expected a file or a folder"},
      {"[train]\nbetas = [0.9, 1]", "r.toml: train.betas = [0.9, 1]: each must be below 1"},
      {"[train]\nlearning_rate = 1e-5",
       "r.toml: train.min_learning_rate = 0.0001 is above train.learning_rate = 1e-05; lower it "
       "too"},
      {"[train]\nmicro_batch = 3",
       "r.toml: train.micro_batch = 3 does not divide train.batch = 16"},
      {"[train]\nschedule = \"wsd\"\ndecay_steps = 1001",
       "r.toml: train.decay_steps = 1001 is more than train.steps = 1000"},
  });
}

TEST(RecipeErrors, KeysOfTheOtherKind) {
  expect_all({
      {"[model]\nkind = \"rlt\"\n[loops]\nforward = 4",
       "r.toml:4: loops.forward = 4: belongs to model.kind = \"looped\" and this recipe's is "
       "\"rlt\"; leave it out or change the kind"},
      {"[model]\nkind = \"rlt\"\n[loops]\nstart = 1",
       "r.toml:4: loops.start = 1: belongs to model.kind = \"looped\" and this recipe's is "
       "\"rlt\"; leave it out or change the kind"},
      {"[model]\nkind = \"rlt\"\ninjection = \"dense\"",
       "r.toml:3: model.injection = 'dense': belongs to model.kind = \"looped\" and this recipe's "
       "is "
       "\"rlt\"; leave it out or change the kind"},
      {"[model]\nwindow = 16",
       "r.toml:2: model.window = 16: belongs to model.kind = \"rlt\" and this recipe's is "
       "\"looped\"; leave it out or change the kind"},
      {"[train]\nfeedback_schedule = [4, 1]",
       "r.toml:2: train.feedback_schedule = [4, 1]: belongs to model.kind = \"rlt\" and this "
       "recipe's is \"looped\"; leave it out or change the kind"},
  });
  EXPECT_EQ(in_recipe("[model]\nwindow = 8\nmerge_scale = 0.1\n[train]\nbptt_tokens = 0\n"
                      "bptt_detach = [\"state\", \"kv\"]\nfeedback_schedule = []"),
            "nothing was thrown");
}

TEST(RecipeErrors, OfARecurrentLoopedTransformer) {
  const auto rlt = [](const Overrides& set) {
    return message([&] { parse_recipe("[model]\nkind = \"rlt\"", "r.toml", set); });
  };
  EXPECT_EQ(rlt({}), "nothing was thrown");
  EXPECT_EQ(rlt({"model.decoder_layers=-1"}),
            "--set model.decoder_layers=-1: model.decoder_layers = -1: out of range; expected 0 to "
            "10000");
  EXPECT_EQ(rlt({"model.window=0"}),
            "--set model.window=0: model.window = 0: out of range; expected 1 or more");
  EXPECT_EQ(rlt({"model.merge_bias=-31"}),
            "--set model.merge_bias=-31: model.merge_bias = -31: out of range; expected -30 to 30");
  EXPECT_EQ(rlt({"model.head_dim=32"}),
            "r.toml: model.heads = 4 times model.head_dim = 32 is not model.d_model = 256; an RLT "
            "needs them equal, as all heads read its memory");
  EXPECT_EQ(rlt({"model.share_blocks=true", "model.encoder_layers=3"}),
            "r.toml: model.share_blocks = true with model.encoder_layers = 3 and "
            "model.decoder_layers = 4; sharing needs as many of one as of the other, and at least "
            "one");
  EXPECT_EQ(rlt({"train.bptt_tokens=16", "model.feedback_interval=3"}),
            "r.toml: train.bptt_tokens = 16 is no multiple of the feedback interval 3; a cut may "
            "not fall inside a chunk");
  EXPECT_EQ(rlt({"train.bptt_tokens=16", "train.feedback_schedule=[5, 1]"}),
            "r.toml: train.bptt_tokens = 16 is no multiple of the feedback interval 5; a cut may "
            "not fall inside a chunk");
  EXPECT_EQ(
      rlt({"train.bptt_tokens=16", "train.bptt_detach=[]"}),
      "r.toml: train.bptt_tokens = 16 with an empty train.bptt_detach cuts nothing; name what "
      "is cut or set bptt_tokens = 0");
  EXPECT_EQ(rlt({"train.bptt_detach=[\"kv\", \"kv\"]"}),
            "r.toml: train.bptt_detach names a part twice; expected some of state, kv, memory");
  EXPECT_EQ(rlt({"train.bptt_detach=kv"}),
            "--set train.bptt_detach=kv: train.bptt_detach = 'kv': expected a list, as in [1, 2]");
  EXPECT_EQ(rlt({"train.feedback_schedule=[8, 4]"}),
            "r.toml: train.feedback_schedule ends with 4 and model.feedback_interval = 1; the last "
            "one is stored with the model, so set both alike");
  EXPECT_EQ(rlt({"train.feedback_schedule=[4, 8, 1]"}),
            "r.toml: train.feedback_schedule goes from larger intervals to smaller ones, as in [8, "
            "4, 1]");
  EXPECT_EQ(rlt({"train.feedback_schedule=[1, 0]"}),
            "--set train.feedback_schedule=[1, 0]: train.feedback_schedule = 0: out of range; "
            "expected 1 or more");
  EXPECT_EQ(rlt({"train.feedback_schedule=[2, 1]", "train.steps=1"}),
            "r.toml: train.feedback_schedule has 2 parts and train.steps = 1; a part needs a step");
  EXPECT_EQ(rlt({"data.document_mask=true"}),
            "r.toml: data.document_mask = true: the register and the window of an RLT carry from "
            "one document to the next; set it false");
}

TEST(RecipeErrors, BadToml) {
  expect_all({
      {"seed = 1\n[model\nd_model = 3",
       "r.toml:2: not valid TOML: Error while parsing table header: expected ']', saw '\\n'"},
      {"seed = 1\nseed = 2",
       "r.toml:2: not valid TOML: Error while parsing key-value pair: cannot redefine existing "
       "integer 'seed'"},
      {"seed =",
       "r.toml:1: not valid TOML: Error while parsing key-value pair: encountered end-of-file"},
      {"seed = 1\n\xFFoo = 2", "r.toml: not valid UTF-8 at byte 9; expected a TOML file"},
  });
  EXPECT_TRUE(
      in_recipe("seed = " + std::string(5000, '[')).starts_with("r.toml:1: not valid TOML"));
}

TEST(RecipeErrors, Overrides) {
  const std::vector<Case> cases = {
      {"train.steps", "--set train.steps: expected key=value, as in --set train.steps=100"},
      {"=3", "--set =3: expected key=value, as in --set train.steps=100"},
      {"", "--set : expected key=value, as in --set train.steps=100"},
      {"train.step=3", "--set train.step=3: train.step: unknown key; did you mean train.steps?"},
      {"steps=3", "--set steps=3: steps: unknown key; did you mean train.steps?"},
      {"modell.d_model=3",
       "--set modell.d_model=3: [modell]: unknown section; did you mean [model]?"},
      {"train.steps=many", "--set train.steps=many: train.steps = 'many': expected a whole number"},
      {"train.steps=", "--set train.steps=: train.steps = '': expected a whole number"},
      {"train.steps=0", "--set train.steps=0: train.steps = 0: out of range; expected 1 or more"},
      {"model=3", "--set model=3: model: expected a section [model]"},
      {"seed=1\nsize = \"m\"", "--set seed=1\\nsize = \"m\": expected one value"},
      {"data.path=a\xFF", "--set data.path=a…: not valid UTF-8 at byte 11"},
      {"model.d_model.x=1",
       "--set model.d_model.x=1: model.d_model.x: unknown key; did you mean model.d_model?"},
  };
  for (const auto& c : cases) EXPECT_EQ(in_override(c.text), c.message);
}

TEST(RecipeErrors, Files) {
  const auto folder = fs::temp_directory_path() / fmt::format("rondo-errors-{}", ::getpid());
  create_folder(folder);
  const auto reading = [](const fs::path& path) {
    return message([&] { read_recipe(path.string()); });
  };
  const auto missing = folder / "missing.toml", latin = folder / "latin.toml";
  EXPECT_EQ(reading(missing), missing.string() + ": no such recipe");
  EXPECT_EQ(reading(""), ": no such recipe");
  EXPECT_EQ(reading(folder),
            folder.string() + ": a folder without config.toml; expected a recipe or a run");
  EXPECT_EQ(reading(folder / std::string(5000, 'x')),
            (folder / std::string(5000, 'x')).string() + ": no such recipe");
  write_file_atomically(latin, "# caf\xE9\n");
  EXPECT_EQ(reading(latin), latin.string() + ": not valid UTF-8 at byte 5; expected a TOML file");
  create_folder(folder / "config.toml");
  EXPECT_EQ(reading(folder), (folder / "config.toml").string() + ": is a folder; expected a file");
  fs::remove_all(folder);
}

}  // namespace
}  // namespace rondo
