// One JSON object from question to answer.
#include "train/choices.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/log.h"
#include "base/machine.h"
#include "base/version.h"
#include "cost/machine_speed.h"

namespace rondo {
namespace {

// Answers kept at most; beyond that the file starts anew.
constexpr std::size_t kMost = 1000;

fs::path file() {
  const auto beside = machine_speed_file();
  return beside.empty() ? beside : beside.parent_path() / "choices.json";
}

std::string full(const std::string& question) {
  return std::string(kVersion) + " | " + machine_name() + " | " + question;
}

Json answers() {
  std::error_code error;
  if (file().empty() || !fs::is_regular_file(file(), error)) return Json::object();
  try {
    auto json = Json::parse(read_file(file()), nullptr, /*allow_exceptions=*/false);
    if (json.is_object()) return json;
  } catch (const Error&) {
    // Unreadable: as good as absent.
  }
  return Json::object();
}

}  // namespace

std::optional<std::string> kept_choice(const std::string& question) {
  const auto all = answers();
  const auto found = all.find(full(question));
  if (found == all.end() || !found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

void keep_choice(const std::string& question, const std::string& answer) {
  if (file().empty()) return;
  auto all = answers();
  if (all.size() >= kMost) all = Json::object();
  all[full(question)] = answer;
  try {
    create_folder(file().parent_path());
    write_file_atomically(file(), all.dump(2) + "\n");
  } catch (const Error& error) {
    log("note: what was found quickest is not kept: {}", error.what());
  }
}

}  // namespace rondo
