// The enumerations of a recipe. An enumerator is written in TOML as the word in its table here.
#pragma once

#include <array>
#include <string_view>

namespace rondo {

enum class Size { kXs, kS, kM, kL, kXl };
enum class ModelKind { kLooped, kRlt };
enum class QkNorm { kNone, kPlain, kGain };
enum class QkNormOrder { kAfterRope, kBeforeRope };
enum class RopeScaling { kNone, kLlama3 };
enum class Init { kNormal, kScaled, kUniform };
enum class StateInit { kPrelude, kZero, kNormal };
enum class Injection { kNone, kScalar, kChannel, kResidualChannel, kDense };
enum class InjectionInit { kState, kInput };
enum class HistoryForm { kNone, kScalar, kChannel, kDense };
enum class TimestepForm { kNone, kLoopGate, kBranchGate, kAdaln };
enum class TimestepGrid { kRescaled, kPrefix };
enum class Sampler { kFixed, kPoissonLognormal, kUniform, kSchedule };
enum class DataSource { kText, kTokens, kTask };
enum class Supervise { kFinal, kPrefix };
enum class LabelAt { kMark, kLast };
enum class OptimizerKind { kAdamw, kMuon };
enum class MuonScale { kRms, kSpectral };
enum class LoopLoss { kLast, kMean, kLinear };
enum class ScheduleKind { kCosine, kWsd, kLinear, kConstant };
enum class Precision { kAuto, kFp32, kBf16 };
enum class DeviceKind { kCpu, kCuda };
/// What a truncated RLT cuts between two parts of a sequence.
enum class BpttPart { kState, kKv, kMemory };
enum class GemmChoice { kAuto, kLibtorch, kOnednn };

/// Whether the loops of a step are random.
constexpr bool is_drawn(Sampler sampler) {
  return sampler == Sampler::kPoissonLognormal || sampler == Sampler::kUniform;
}

/// The words of an enumeration, in the order of its enumerators.
template <typename Enum>
inline constexpr std::array<std::string_view, 0> kWords{};

template <>
inline constexpr std::array kWords<Size> = std::to_array<std::string_view>({"xs", "s", "m", "l",
                                                                            "xl"});
template <>
inline constexpr std::array kWords<ModelKind> = std::to_array<std::string_view>({"looped", "rlt"});
template <>
inline constexpr std::array kWords<BpttPart> = std::to_array<std::string_view>({"state", "kv",
                                                                                "memory"});
template <>
inline constexpr std::array kWords<QkNorm> = std::to_array<std::string_view>({"none", "plain",
                                                                              "gain"});
template <>
inline constexpr std::array kWords<QkNormOrder> = std::to_array<std::string_view>({"after-rope",
                                                                                   "before-rope"});
template <>
inline constexpr std::array kWords<RopeScaling> = std::to_array<std::string_view>({"none",
                                                                                   "llama3"});
template <>
inline constexpr std::array kWords<Init> = std::to_array<std::string_view>({"normal", "scaled",
                                                                            "uniform"});
template <>
inline constexpr std::array kWords<StateInit> = std::to_array<std::string_view>({"prelude", "zero",
                                                                                 "normal"});
template <>
inline constexpr std::array kWords<Injection> =
    std::to_array<std::string_view>({"none", "scalar", "channel", "residual-channel", "dense"});
template <>
inline constexpr std::array kWords<InjectionInit> = std::to_array<std::string_view>({"state",
                                                                                     "input"});
template <>
inline constexpr std::array kWords<HistoryForm> =
    std::to_array<std::string_view>({"none", "scalar", "channel", "dense"});
template <>
inline constexpr std::array kWords<TimestepForm> =
    std::to_array<std::string_view>({"none", "loop-gate", "branch-gate", "adaln"});
template <>
inline constexpr std::array kWords<TimestepGrid> = std::to_array<std::string_view>({"rescaled",
                                                                                    "prefix"});
template <>
inline constexpr std::array kWords<Sampler> =
    std::to_array<std::string_view>({"fixed", "poisson-lognormal", "uniform", "schedule"});
template <>
inline constexpr std::array kWords<DataSource> = std::to_array<std::string_view>({"text", "tokens",
                                                                                  "task"});
template <>
inline constexpr std::array kWords<Supervise> = std::to_array<std::string_view>({"final",
                                                                                 "prefix"});
template <>
inline constexpr std::array kWords<LabelAt> = std::to_array<std::string_view>({"mark", "last"});
template <>
inline constexpr std::array kWords<OptimizerKind> = std::to_array<std::string_view>({"adamw",
                                                                                     "muon"});
template <>
inline constexpr std::array kWords<MuonScale> = std::to_array<std::string_view>({"rms",
                                                                                 "spectral"});
template <>
inline constexpr std::array kWords<LoopLoss> = std::to_array<std::string_view>({"last", "mean",
                                                                                "linear"});
template <>
inline constexpr std::array kWords<ScheduleKind> =
    std::to_array<std::string_view>({"cosine", "wsd", "linear", "constant"});
template <>
inline constexpr std::array kWords<Precision> = std::to_array<std::string_view>({"auto", "fp32",
                                                                                 "bf16"});
template <>
inline constexpr std::array kWords<GemmChoice> =
    std::to_array<std::string_view>({"auto", "libtorch", "onednn"});
template <>
inline constexpr std::array kWords<DeviceKind> = std::to_array<std::string_view>({"cpu", "cuda"});

/// The TOML word of an enumerator.
template <typename Enum>
constexpr std::string_view word(Enum value) {
  return kWords<Enum>[static_cast<std::size_t>(value)];
}

}  // namespace rondo
