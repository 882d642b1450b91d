// Counting and showing the parts of training steps.
#include "train/step_profile.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <numeric>

#include "base/text.h"

namespace rondo {

void StepProfile::begin() {
  if (done()) return;
  clear_counted_parts();
  count_parts(true);
}

bool StepProfile::end(double seconds) {
  if (done()) return false;
  count_parts(false);
  const auto parts = counted_parts();
  if (seen_++ == 1) {  // the first step stood in only while there was no other
    steps_ = 0;
    seconds_ = 0;
    parts_.fill(0);
  }
  for (std::size_t i = 0; i < kParts; ++i) parts_[i] += parts[i];
  seconds_ += seconds;
  ++steps_;
  const bool now = done();
  announced_ = announced_ || now;
  return now;
}

bool StepProfile::finish() {
  const bool now = !announced_ && steps_ > 0;
  announced_ = true;
  return now;
}

Json StepProfile::json() const {
  const double steps = steps_ == 0 ? 1.0 : static_cast<double>(steps_);
  Json json = {{"steps", steps_}, {"step_time_s", seconds_ / steps}};
  for (std::size_t i = 0; i < kParts; ++i)
    json[std::string(part_names()[i].key)] = parts_[i] / steps;
  json["rest"] = (seconds_ - std::accumulate(parts_.begin(), parts_.end(), 0.0)) / steps;
  return json;
}

std::string StepProfile::text() const {
  const auto record = json();
  const double whole = record["step_time_s"];
  TextTable table({"part of a step", "seconds", "share"});
  const auto add = [&](std::string_view words, double seconds) {
    table.add({std::string(words), fmt::format("{:.4f}", seconds),
               fmt::format("{:.1f} %", 100.0 * seconds / whole)});
  };
  for (const auto& [key, words] : part_names()) add(words, record[std::string(key)]);
  add("rest", record["rest"]);
  add(steps_ == 1 ? std::string("whole (1 step)") : fmt::format("whole (mean of {} steps)", steps_),
      whole);
  return table.aligned();
}

}  // namespace rondo
