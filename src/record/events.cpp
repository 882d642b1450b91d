// Lines of metrics.jsonl and the summary, from JSON to values.
#include "record/events.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace rondo {
namespace {

/// Reads the keys of one JSON object and says where it stands when one is wrong.
class Reader {
 public:
  Reader(const Json& object, std::string where) : object_(object), where_(std::move(where)) {}

  [[nodiscard]] bool has(const char* key) const { return object_.contains(key); }

  /// The value, or nothing when the key is absent or null.
  [[nodiscard]] const Json* get(const char* key) const {
    const auto at = object_.find(key);
    return at == object_.end() || at->is_null() ? nullptr : &*at;
  }

  /// Sets `out` when the key is there: a number as it is, null as NaN.
  void number(const char* key, double& out) const {
    const auto at = object_.find(key);
    if (at != object_.end()) out = number_of(key, *at);
  }

  void numbers(const char* key, std::vector<double>& out) const {
    const Json* value = get(key);
    if (value == nullptr) return;
    if (!value->is_array()) wrong(key, "a list of numbers");
    out.clear();
    for (const Json& item : *value) out.push_back(number_of(key, item));
  }

  /// A whole number from 0, also when it is written as 3.0.
  [[nodiscard]] std::int64_t whole(const char* key) const {
    constexpr double kLargest = 9007199254740992.0;  // 2^53: beyond it a double skips whole numbers
    double value = kNotRecorded;
    number(key, value);
    if (!(value >= 0 && value <= kLargest && std::floor(value) == value))
      wrong(key, "a whole number");
    return static_cast<std::int64_t>(value);
  }

  /// Text; a number is taken as it is written.
  void text(const char* key, std::string& out) const {
    const Json* value = get(key);
    if (value == nullptr) return;
    if (value->is_string())
      out = value->get<std::string>();
    else if (value->is_number())
      out = value->dump();
    else
      wrong(key, "a string");
  }

  [[nodiscard]] Reader inside(const char* key, const Json& value) const {
    return {value, fmt::format("{}: {}", where_, key)};
  }

  [[noreturn]] void wrong(const char* key, std::string_view expected) const {
    fail("{}: {}: expected {}", where_, key, expected);
  }

 private:
  double number_of(const char* key, const Json& value) const {
    if (value.is_null()) return kNotRecorded;
    if (!value.is_number()) wrong(key, "a number");
    return value.get<double>();
  }

  const Json& object_;
  std::string where_;
};

void read_depth(const Reader& in, const char* key, std::vector<DepthPoint>& out) {
  const Json* list = in.get(key);
  if (list == nullptr) return;
  if (!list->is_array()) in.wrong(key, "a list of objects with the key loops");
  out.clear();
  for (const Json& item : *list) {
    if (!item.is_object()) in.wrong(key, "a list of objects with the key loops");
    const Reader row = in.inside(key, item);
    DepthPoint point;
    point.loops = row.whole("loops");
    row.number("loss_nats", point.loss_nats);
    row.number("bits_per_byte", point.bits_per_byte);
    row.number("accuracy", point.accuracy);
    row.number("stderr", point.stderr_nats);
    out.push_back(point);
  }
}

void read_lengths(const Reader& in, std::vector<LengthPoint>& out) {
  const Json* list = in.get("length_sweep");
  if (list == nullptr) return;
  if (!list->is_array()) in.wrong("length_sweep", "a list of objects with the key length");
  out.clear();
  for (const Json& item : *list) {
    if (!item.is_object()) in.wrong("length_sweep", "a list of objects with the key length");
    const Reader row = in.inside("length_sweep", item);
    LengthPoint point;
    point.length = row.whole("length");
    if (row.has("loops")) point.loops = row.whole("loops");
    row.text("metric", point.metric);
    row.number("value", point.value);
    row.number("stderr", point.error);
    row.number("chance", point.chance);
    row.number("majority", point.majority);
    row.number("examples", point.examples);
    const Json* trained = row.get("trained");
    point.trained = trained != nullptr && trained->is_boolean() && trained->get<bool>();
    out.push_back(std::move(point));
  }
}

/// An object under `key`, or, as other programs write it, one number for `whole`.
template <typename Read>
void read_part(const Reader& in, const char* key, double& whole, Read&& read) {
  const Json* value = in.get(key);
  if (value == nullptr) return;
  if (value->is_number()) {
    whole = value->get<double>();
    return;
  }
  if (!value->is_object()) in.wrong(key, "an object or a number");
  read(in.inside(key, *value));
}

void read_summary(const Reader& in, RunSummary& out) {
  in.number("steps", out.steps);
  in.number("tokens", out.tokens);
  in.number("flops", out.flops);
  in.number("train_loss_nats", out.train_loss_nats);
  in.number("validation_loss_nats", out.validation_loss_nats);
  in.number("bits_per_byte", out.bits_per_byte);
  in.number("accuracy", out.accuracy);
  in.number("tokens_per_s", out.tokens_per_s);
  in.number("wall_s", out.wall_s);
  in.number("peak_bytes", out.peak_bytes);
  in.number("effective_depth", out.effective_depth);
  read_part(in, "parameters", out.parameters.total, [&](const Reader& part) {
    part.number("total", out.parameters.total);
    part.number("embedding", out.parameters.embedding);
    part.number("once", out.parameters.once);
    part.number("recurrent", out.parameters.recurrent);
    part.number("non_embedding", out.parameters.non_embedding);
  });
  read_part(in, "flops_per_token", out.flops_per_token_train, [&](const Reader& part) {
    part.number("train", out.flops_per_token_train);
    part.number("forward", out.flops_per_token_forward);
  });
  double fixed_loops = kNotRecorded;
  read_part(in, "trained_loops", fixed_loops, [&](const Reader& part) {
    part.number("min", out.trained_loops_min);
    part.number("max", out.trained_loops_max);
  });
  if (!std::isnan(fixed_loops)) out.trained_loops_min = out.trained_loops_max = fixed_loops;
  read_depth(in, "depth_sweep", out.depth_sweep);
  read_lengths(in, out.length_sweep);
  if (const Json* selected = in.get("selected"); selected != nullptr && selected->is_object())
    in.inside("selected", *selected).number("step", out.selected_step);
  in.text("stop_reason", out.stop_reason);
  in.text("message", out.message);
  in.text("seed", out.seed);
  in.text("config_hash", out.config_hash);
  in.text("version", out.version);
  in.text("libtorch", out.libtorch);
  in.text("machine", out.machine);
  in.text("command", out.command);
  if (const Json* data = in.get("data"); data != nullptr && data->is_object()) {
    const Reader part = in.inside("data", *data);
    part.text("sha256", out.data_sha256);
    part.text("description", out.data_description);
  }
}

void read_step(const Reader& in, Events& out) {
  StepEvent event;
  event.step = in.whole("step");
  in.number("tokens", event.tokens);
  in.number("flops", event.flops);
  in.number("loops", event.loops);
  in.number("backward_loops", event.backward_loops);
  in.number("train_loss_nats", event.train_loss_nats);
  in.number("learning_rate", event.learning_rate);
  in.number("gradient_norm", event.gradient_norm);
  in.number("step_time_s", event.step_time_s);
  in.numbers("state_norms", event.state_norms);
  out.steps.push_back(std::move(event));
}

void read_validation(const Reader& in, Events& out) {
  ValidationEvent event;
  event.step = in.whole("step");
  in.number("tokens", event.tokens);
  in.number("flops", event.flops);
  in.number("validation_loss_nats", event.validation_loss_nats);
  in.number("bits_per_byte", event.bits_per_byte);
  in.number("accuracy", event.accuracy);
  read_depth(in, "by_loops", event.by_loops);
  out.validations.push_back(std::move(event));
}

void read_event(const Reader& in, Events& out) {
  out.ends_with_stop = false;
  ++out.count;
  if (in.has("event")) {
    std::string name;
    in.text("event", name);
    if (name == "started") {
      out.started = {};
      read_summary(in, out.started);
    } else if (name == "stopped") {
      StopEvent event;
      event.step = in.whole("step");
      in.text("stop_reason", event.stop_reason);
      in.text("message", event.message);
      out.stops.push_back(std::move(event));
      out.ends_with_stop = true;
    }
    return;  // events of other names belong to whoever wrote them
  }
  // One line may be both: a step with the validation that followed it.
  const bool validation = in.has("validation_loss_nats") || in.has("by_loops");
  if (!validation || in.has("train_loss_nats")) read_step(in, out);
  if (validation) read_validation(in, out);
}

}  // namespace

Events parse_events(std::string_view text, std::string_view source) {
  Events events;
  std::size_t number = 0;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t newline = text.find('\n', start);
    const bool whole = newline != std::string_view::npos;
    const std::string_view line = text.substr(start, whole ? newline - start : newline);
    start = whole ? newline + 1 : text.size();
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const Json object = Json::parse(line, nullptr, false);
    if (!object.is_object()) {
      if (!whole) break;
      fail("{}:{}: not a JSON object; expected one event per line", source, number);
    }
    read_event({object, fmt::format("{}:{}", source, number)}, events);
  }
  return events;
}

void parse_summary(std::string_view text, std::string_view source, RunSummary& summary) {
  const Json object = Json::parse(text, nullptr, false);
  require(object.is_object(), "{}: not a JSON object", source);
  read_summary({object, std::string(source)}, summary);
}

}  // namespace rondo
