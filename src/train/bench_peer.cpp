// Running a peer.
#include "train/bench_peer.h"

#include <array>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/json.h"
#include "base/text.h"

namespace rondo {

PeerTimes read_peer(const std::string& text) {
  constexpr std::string_view kPrefix = "train_step_";
  PeerTimes times;
  for (const auto& line : split(text, '\n')) {
    const auto row = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!row.is_object() || !row.contains("case") || !row["case"].is_string() ||
        !row.contains("value") || !row["value"].is_number())
      continue;
    const auto metric = row.contains("metric") ? row["metric"] : Json();
    if (metric != "step_time_s" && metric != "step_s") continue;
    std::string name = row["case"];
    if (name.starts_with(kPrefix)) name = name.substr(kPrefix.size());
    times[name] = row["value"];
  }
  return times;
}

PeerTimes run_peer(const std::string& command) {
  std::FILE* output = nullptr;
  {
    const OpenInterrupts open;  // Ctrl-C is for the peer, too
    output = ::popen(command.c_str(), "r");
  }
  require(output != nullptr, "--peer {}: cannot be started", one_line(command));
  std::string text;
  std::array<char, 4096> part{};
  for (std::size_t count = 0; (count = std::fread(part.data(), 1, part.size(), output)) > 0;)
    text.append(part.data(), count);
  const int status = ::pclose(output);
  require(status == 0, "--peer {}: failed; its own words are above", one_line(command));
  auto times = read_peer(text);
  require(!times.empty(),
          "--peer {}: printed no result; expected lines like {{\"case\": \"a44\", \"metric\": "
          "\"step_time_s\", \"value\": 1.5}}",
          one_line(command));
  return times;
}

}  // namespace rondo
