// Interpolating between measured points, and the file that keeps them.
#include "cost/machine_speed.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"
#include "base/machine.h"
#include "base/version.h"

namespace rondo {
namespace {

// The head width at which attention is measured over lengths.
constexpr double kHeadDim = 64.0;
// Measurements kept in the file: of other threads, machines (a shared home) and versions.
constexpr std::size_t kKept = 16;

/// Piecewise linear through (x, y), constant beyond the ends; x rises.
double interpolated(const std::vector<double>& x, const std::vector<double>& y, double at) {
  const auto above = std::upper_bound(x.begin(), x.end(), at);
  if (above == x.begin()) return y.front();
  if (above == x.end()) return y.back();
  const auto i = static_cast<std::size_t>(above - x.begin());
  return y[i - 1] + (y[i] - y[i - 1]) * (at - x[i - 1]) / (x[i] - x[i - 1]);
}

/// Bytes of fp32 that a product reads and writes per FLOP.
double bytes_per_flop(double rows, double inner, double outer) {
  return 2.0 * (1.0 / rows + 1.0 / inner + 1.0 / outer);
}

/// The operations by name, for reading and writing.
template <typename Speed>
auto operations(Speed& speed) {
  return std::array{std::pair{"norm", &speed.norm},
                    std::pair{"rotate", &speed.rotate},
                    std::pair{"swiglu", &speed.swiglu},
                    std::pair{"loss", &speed.loss},
                    std::pair{"add", &speed.add},
                    std::pair{"product_call", &speed.product_call},
                    std::pair{"attention_call", &speed.attention_call},
                    std::pair{"vector_product", &speed.vector_product}};
}

/// Reads positive numbers; a file that somebody else wrote must not lead to a division by zero.
struct Reader {
  const std::string& source;

  const Json& member(const Json& json, const char* key) const {
    require(json.is_object() && json.contains(key), "{}: \"{}\" is missing", source, key);
    return json[key];
  }
  double positive(const Json& json, const char* key) const {
    const auto& value = member(json, key);
    require(value.is_number() && value.get<double>() > 0 && std::isfinite(value.get<double>()),
            "{}: \"{}\": expected a number above 0", source, key);
    return value.get<double>();
  }
  const Json& list(const Json& json, const char* key) const {
    const auto& value = member(json, key);
    require(value.is_array() && !value.empty(), "{}: \"{}\": expected a list", source, key);
    return value;
  }
  OperationTimes operation(const Json& json, const char* key) const {
    OperationTimes times;
    for (const auto& point : list(json, key)) {
      times.values.push_back(positive(point, "values"));
      times.forward_s.push_back(positive(point, "forward_s"));
      times.backward_s.push_back(positive(point, "backward_s"));
    }
    require(std::ranges::is_sorted(times.values, std::ranges::less_equal{}),
            "{}: \"{}\": expected rising values", source, key);
    return times;
  }
  std::string text(const Json& json, const char* key) const {
    const auto& value = member(json, key);
    require(value.is_string(), "{}: \"{}\": expected text", source, key);
    return value.get<std::string>();
  }
};

/// All entries of the file; none when it is not there or damaged.
Json cached_entries(const fs::path& file) {
  std::error_code error;
  if (file.empty() || !fs::is_regular_file(file, error)) return Json::array();
  try {
    const auto json = Json::parse(read_file(file), nullptr, /*allow_exceptions=*/false);
    if (json.is_object() && json.contains("measurements") && json["measurements"].is_array())
      return json["measurements"];
  } catch (const Error&) {
    // Unreadable: as good as absent.
  }
  return Json::array();
}

bool is_for(const Json& entry, const std::string& machine, const std::string& version,
            std::int64_t threads) {
  return entry.is_object() && entry.value("machine", Json()) == machine &&
         entry.value("version", Json()) == version && entry.value("threads", Json()) == threads;
}

}  // namespace

double MachineSpeed::roof_gflops() const {
  double best = 0;
  for (const auto& product : products) best = std::max(best, product.gflops);
  return best;
}

double MachineSpeed::bandwidth_gbps() const {
  return 12.0 * add.values.back() / add.forward_s.back() / 1e9;
}

double product_seconds(const MachineSpeed& speed, double rows, double inner, double outer) {
  std::vector<std::pair<double, double>> points;  // bytes and seconds per FLOP
  for (const auto& p : speed.products)
    points.emplace_back(bytes_per_flop(p.rows, p.inner, p.outer), 1.0 / (p.gflops * 1e9));
  std::ranges::sort(points);
  std::vector<double> x, y;
  for (const auto& [bytes, seconds] : points) {
    x.push_back(bytes);
    y.push_back(seconds);
  }
  const double at = bytes_per_flop(rows, inner, outer);
  double per_flop = interpolated(x, y, at);
  // Thinner than all that was measured: the traffic grows on, and the time with it.
  if (at > x.back()) per_flop *= at / x.back();
  return 2.0 * rows * inner * outer * per_flop;
}

double attention_pair_seconds(const MachineSpeed& speed, double length, double head_dim,
                              bool backward) {
  std::vector<double> x, y;
  double narrow = 0, narrow_length = 0, narrow_dim = 0;
  for (const auto& rate : speed.attention) {
    const double seconds = backward ? rate.backward_s : rate.forward_s;
    if (rate.head_dim == kHeadDim) {
      x.push_back(std::log(rate.length));
      y.push_back(seconds);
    } else {
      narrow = seconds;
      narrow_length = rate.length;
      narrow_dim = rate.head_dim;
    }
  }
  const double seconds = interpolated(x, y, std::log(length));
  if (narrow <= 0) return seconds * head_dim / kHeadDim;
  // Softmax costs the same at any width, the two products in proportion to it.
  const double whole = interpolated(x, y, std::log(narrow_length));
  const double share = std::clamp((1.0 - narrow / whole) / (1.0 - narrow_dim / kHeadDim), 0.0, 1.0);
  return seconds * (1.0 + share * (head_dim / kHeadDim - 1.0));
}

double call_seconds(const OperationTimes& times, bool backward) {
  return (backward ? times.backward_s : times.forward_s).front();
}

double operation_seconds(const OperationTimes& times, double values, bool backward) {
  const auto& seconds = backward ? times.backward_s : times.forward_s;
  const double scale = std::max(1.0, values / times.values.back());
  return std::max(0.0, interpolated(times.values, seconds, values) * scale - seconds.front());
}

Json to_json(const MachineSpeed& speed) {
  Json json = {{"machine", speed.machine},
               {"version", speed.version},
               {"threads", speed.threads},
               {"processor_share", speed.processor_share}};
  for (const auto& p : speed.products)
    json["products"].push_back(
        {{"rows", p.rows}, {"inner", p.inner}, {"outer", p.outer}, {"gflops", p.gflops}});
  for (const auto& a : speed.attention)
    json["attention"].push_back({{"length", a.length},
                                 {"head_dim", a.head_dim},
                                 {"forward_s", a.forward_s},
                                 {"backward_s", a.backward_s}});
  for (const auto& b : speed.blocks)
    json["blocks"].push_back({{"tokens", b.tokens},
                              {"length", b.length},
                              {"d_model", b.d_model},
                              {"d_ff", b.d_ff},
                              {"forward_s", b.forward_s},
                              {"backward_s", b.backward_s}});
  for (const auto& [name, times] : operations(speed))
    for (std::size_t i = 0; i < times->values.size(); ++i)
      json[name].push_back({{"values", times->values[i]},
                            {"forward_s", times->forward_s[i]},
                            {"backward_s", times->backward_s[i]}});
  return json;
}

MachineSpeed machine_speed_from(const Json& json, const std::string& source) {
  const Reader read{source};
  MachineSpeed speed;
  speed.machine = read.text(json, "machine");
  speed.version = read.text(json, "version");
  speed.threads = static_cast<std::int64_t>(read.positive(json, "threads"));
  speed.processor_share = read.positive(json, "processor_share");
  for (const auto& p : read.list(json, "products"))
    speed.products.push_back({read.positive(p, "rows"), read.positive(p, "inner"),
                              read.positive(p, "outer"), read.positive(p, "gflops")});
  for (const auto& a : read.list(json, "attention"))
    speed.attention.push_back({read.positive(a, "length"), read.positive(a, "head_dim"),
                               read.positive(a, "forward_s"), read.positive(a, "backward_s")});
  std::ranges::sort(speed.attention, {}, &AttentionRate::length);
  require(
      std::ranges::any_of(speed.attention, [](const auto& a) { return a.head_dim == kHeadDim; }),
      "{}: \"attention\": expected an entry with head_dim {}", source, kHeadDim);
  for (const auto& b : read.list(json, "blocks"))
    speed.blocks.push_back({read.positive(b, "tokens"), read.positive(b, "length"),
                            read.positive(b, "d_model"), read.positive(b, "d_ff"),
                            read.positive(b, "forward_s"), read.positive(b, "backward_s")});
  std::ranges::sort(speed.blocks, {}, [](const auto& b) { return b.tokens * b.d_model; });
  for (const auto& [name, times] : operations(speed)) *times = read.operation(json, name);
  return speed;
}

fs::path machine_speed_file() {
  const auto folder = [](const char* name) {
    const char* value = std::getenv(name);
    return fs::path(value == nullptr ? "" : value);
  };
  const auto named = folder("RONDO_CACHE"), cache = folder("XDG_CACHE_HOME"), home = folder("HOME");
  if (!named.empty()) return named / "machine.json";
  if (!cache.empty()) return cache / "rondo" / "machine.json";
  return home.empty() ? fs::path() : home / ".cache" / "rondo" / "machine.json";
}

std::optional<MachineSpeed> cached_machine_speed(std::int64_t threads) {
  const auto file = machine_speed_file();
  const auto name = machine_name();
  for (const auto& entry : cached_entries(file)) {
    if (!is_for(entry, name, kVersion, threads)) continue;
    try {
      return machine_speed_from(entry, file.string());
    } catch (const Error&) {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

void cache_machine_speed(const MachineSpeed& speed) {
  const auto file = machine_speed_file();
  if (file.empty()) return;
  Json kept = {{"measurements", Json::array({to_json(speed)})}};
  for (const auto& entry : cached_entries(file))
    if (kept["measurements"].size() < kKept &&
        !is_for(entry, speed.machine, speed.version, speed.threads))
      kept["measurements"].push_back(entry);
  create_folder(file.parent_path());
  write_file_atomically(file, kept.dump(2) + "\n");
}

}  // namespace rondo
