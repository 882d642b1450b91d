// The engine's settings.
#include "nn/engine.h"

#include "tensor/gemm.h"

namespace rondo {

Form form_of(const EngineConfig& engine) { return engine.fused ? Form::kFused : Form::kComposed; }

void use_engine(const EngineConfig& engine) {
  use_gemm(engine.gemm == GemmChoice::kOnednn ? Gemm::kOneDnn : Gemm::kLibtorch);
}

}  // namespace rondo
