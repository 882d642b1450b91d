// The dial's table.
#include "config/size.h"

#include <array>

namespace rondo {
namespace {

struct Preset {
  std::int64_t d_model, heads, prelude, core, coda, encoder, decoder;
  double learning_rate;
};

// Heads are 64 wide (xs: two of them); the learning rate falls about as 1/√width. "s" equals the
// defaults of config.h.
constexpr std::array<Preset, 5> kPresets = {{
    {128, 2, 1, 2, 1, 2, 2, 2e-3},
    {256, 4, 1, 2, 1, 4, 4, 1e-3},
    {512, 8, 1, 4, 1, 4, 4, 7e-4},
    {768, 12, 2, 6, 2, 6, 6, 5e-4},
    {1024, 16, 2, 8, 2, 8, 8, 4e-4},
}};

}  // namespace

void apply_size(Size size, Config& config) {
  const Preset& preset = kPresets[static_cast<std::size_t>(size)];
  config.size = size;
  config.model.d_model = preset.d_model;
  config.model.heads = preset.heads;
  config.model.prelude_layers = preset.prelude;
  config.model.core_layers = preset.core;
  config.model.coda_layers = preset.coda;
  config.model.encoder_layers = preset.encoder;
  config.model.decoder_layers = preset.decoder;
  config.train.learning_rate = preset.learning_rate;
  config.train.min_learning_rate = preset.learning_rate / 10;
}

}  // namespace rondo
