// Fits of laws to rows that follow them, for tests of pages: no search is run.
#pragma once

#include <string>

#include "base/files.h"
#include "base/json.h"
#include "law/fit.h"

namespace rondo::test {

/// What a fake fit looks like.
struct FakeFit {
  std::string law = "joint";        ///< joint, iso-depth or chinchilla
  std::size_t copies = 4;           ///< rows for every pair of loops and size
  std::size_t refits = 20;          ///< of the bootstrap
  bool hold_out_most_loops = true;  ///< rows of the largest T
};

/// A fit with T up to 8, B up to T in powers of two (B = T for iso-depth; no loops for chinchilla),
/// four sizes each, 42 % of the parameters in the loop, residuals of some thousandths.
FitResult fake_fit(const FakeFit& options = {});

/// The fit as FIT.json in `folder`; returns its path.
fs::path write_fake_fit(const fs::path& folder, const FakeFit& options = {});

}  // namespace rondo::test
