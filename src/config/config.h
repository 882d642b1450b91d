// The settings of a run. Each struct lists its fields once, with range and meaning; reading,
// writing, help, comparing and hashing are visitors over that list (visit.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/enums.h"
#include "config/model_config.h"
#include "config/range.h"
#include "config/train_config.h"

namespace rondo {

/// How often the core runs, and how far back its gradient goes.
struct LoopsConfig {
  std::int64_t forward = 4;
  std::int64_t backward = 4;
  Sampler sampler = Sampler::kFixed;
  std::int64_t max = 0;
  std::int64_t start = 1;
  std::int64_t schedule_steps = 0;
  bool recompute = false;

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("forward", self.forward, kLoops,
          "loops run in training, T; the mean when sampled, the last of a schedule");
    visit("backward", self.backward, kNotNegative,
          "last loops that are back-propagated, B; 0 = all");
    visit("sampler", self.sampler, "law of the loops of a step");
    visit("max", self.max, kNotNegative, "cap on a drawn T; 0 = 4 forward");
    visit("start", self.start, kLoops, "schedule: loops of the first step");
    visit("schedule_steps", self.schedule_steps, kNotNegative,
          "schedule: steps in which T rises linearly from start to forward");
    visit("recompute", self.recompute,
          "keep only the state before each loop and run the loop again in the backward pass");
  }
};

/// What is read, how it is cut, and which part is held out.
struct DataConfig {
  DataSource source = DataSource::kText;
  std::string path = "data/textbooks";
  std::string tokenizer = "bytes";
  std::int64_t sequence_length = 256;
  std::string validation = "0.05";
  std::int64_t validation_tokens = 65536;
  bool document_mask = false;
  std::string task = "parity";
  std::int64_t min_length = 0;
  std::int64_t max_length = 0;
  Supervise supervise = Supervise::kFinal;
  LabelAt label_at = LabelAt::kMark;
  std::int64_t length_groups = 0;
  std::uint64_t seed = 20260914;
  std::uint64_t validation_seed = 0;
  std::uint64_t test_seed = 0;
  std::vector<std::int64_t> validation_lengths;
  std::int64_t validation_examples = 0;
  std::vector<std::int64_t> test_lengths;
  std::int64_t test_examples = 0;

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("source", self.source, "text files, token shards, or a task with exact answers");
    visit("path", self.path, "a file or a folder");
    visit("tokenizer", self.tokenizer, "bytes: the 256 byte values");
    visit("sequence_length", self.sequence_length, kPositive,
          "tokens predicted per sequence; of a task: those of its longest example, set from it");
    visit("validation", self.validation,
          "share of the documents (of a task's file: the examples) held out, or a path of their "
          "own");
    visit(
        "validation_tokens", self.validation_tokens, kNotNegative,
        "tokens used by validations while training, spread evenly over the held-out ones; 0 = all");
    visit("document_mask", self.document_mask, "attention stays inside a document");
    visit("task", self.task, "source task: its name, or a file *.jsonl (docs/tasks.md)");
    visit("min_length", self.min_length, kTaskLength,
          "task: shortest example trained on; 0 = the task's");
    visit("max_length", self.max_length, kTaskLength,
          "task: longest example trained on; 0 = the task's");
    visit("supervise", self.supervise,
          "task: what the task supervises, or (parity) the label of every prefix");
    visit("label_at", self.label_at,
          "task with one label: due at a final = (mark), or at the last symbol, without one");
    visit("length_groups", self.length_groups, kNotNegative,
          "task: groups of similar length that a step is cut into; 0 = 8 where lengths vary (1 for "
          "rlt unless composed or cut)");
    visit("seed", self.seed, "order of the training sequences; the examples of a task");
    visit("validation_seed", self.validation_seed, "task: validation examples; 0 = seed + 1");
    visit("test_seed", self.test_seed, "task: test examples; 0 = seed + 2");
    visit("validation_lengths", self.validation_lengths, kTaskLength,
          "task: lengths validated on; [] = the protocol's, in the ratio of max_length");
    visit("validation_examples", self.validation_examples, kNotNegative,
          "task: validation examples per length; 0 = the protocol's");
    visit("test_lengths", self.test_lengths, kTaskLength,
          "task: lengths of the sweep at the end; [] = the protocol's, in the ratio of max_length");
    visit("test_examples", self.test_examples, kNotNegative,
          "task: test examples per length; 0 = the protocol's");
  }
};

/// How the machine is used.
struct EngineConfig {
  std::int64_t threads = 0;
  GemmChoice gemm = GemmChoice::kAuto;
  bool fused = true;

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("threads", self.threads, kThreads, "threads; 0 = all cores");
    visit("gemm", self.gemm,
          "library of the matrix products; auto = the quickest here, measured at start");
    visit("fused", self.fused,
          "own and fused operations; false = composed from the library's single ones");
  }
};

/// A whole recipe.
struct Config {
  std::uint64_t seed = 42;
  Size size = Size::kS;
  ModelConfig model;
  LoopsConfig loops;
  DataConfig data;
  TrainConfig train;
  EngineConfig engine;

  /// The fields outside every section.
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("seed", self.seed, "initialisation; the order of the data has its own seed");
    visit("size", self.size, "dial for width, heads, layers and learning rate; explicit keys win");
  }
  /// The sections by name.
  template <typename Self, typename Visit>
  static void sections(Self& self, Visit&& visit) {
    visit("model", self.model);
    visit("loops", self.loops);
    visit("data", self.data);
    visit("train", self.train);
    visit("engine", self.engine);
  }
};

}  // namespace rondo
