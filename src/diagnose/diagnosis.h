// All probes of one model in one go.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "diagnose/probe.h"
#include "diagnose/sequences.h"
#include "model/model.h"

namespace rondo {

/// One value. `site` is where it was taken: a block ("core.0"), or what the probe's table in
/// docs/probes.md says; `loop` and `lag` are there where they mean something.
struct ProbeRow {
  Probe probe = Probe::kAngle;
  std::string site = {};
  std::optional<std::int64_t> loop = {};
  std::optional<std::int64_t> lag = {};
  double value = 0;
  /// Of an interaction: the block that was skipped and its loop, and N_ij.
  std::string from = {};
  std::optional<std::int64_t> from_loop = {};
  std::optional<double> change = {};
  /// Of a mean over pairs: their number. Of a spectral radius: the share of Jacobians whose
  /// iteration settled.
  std::optional<std::int64_t> pairs = {};
  std::optional<double> converged = {};
};

/// How a model is looked at.
struct DiagnosisOptions {
  std::set<Probe> probes;
  std::int64_t loops = 0;          ///< r
  std::int64_t trained_loops = 0;  ///< K
  /// Interaction and response take a pass a block; they stop after so many positions.
  std::int64_t interaction_positions = 0;
  /// Sequences whose loops' Jacobians are taken.
  std::int64_t jacobians = 0;
  /// Numbers that gradients of weights by loop may take; above, only those of states are given.
  double most_gradient_numbers = 0;
  /// A probe without a value at these loops is noted and left out, not refused.
  bool leave_out = false;
  /// Told what is being done, once a sequence.
  std::function<void(const std::string& what)> progress = {};
};

/// What came out.
struct Diagnosis {
  std::vector<ProbeRow> rows;
  std::vector<std::string> notes;  ///< what a reader must know of it
  std::int64_t interaction_positions = 0, jacobians = 0;
  bool interrupted = false;  ///< an interrupt was wished; there are no rows then
};

/// Runs the probes. Throws input errors: loops beyond a timestep grid, a response that needs more
/// loops.
Diagnosis diagnose(const Model& model, const ProbeSequences& sequences,
                   const DiagnosisOptions& options);

}  // namespace rondo
