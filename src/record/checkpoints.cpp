// Names, manifests and pruning of checkpoints.
#include "record/checkpoints.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace rondo {
namespace {

constexpr std::int64_t kFormat = 1;

template <typename Value>
void read_key(const Json& json, const char* key, const fs::path& path, Value& value) {
  try {
    json.at(key).get_to(value);
  } catch (const nlohmann::json::exception&) {
    fail("{}: key {} is missing or of the wrong type; the checkpoint is damaged", path.string(),
         key);
  }
}

std::optional<double> optional_number(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

Manifest read_manifest(const fs::path& path) {
  const Json json = Json::parse(read_file(path), nullptr, /*allow_exceptions=*/false);
  require(json.is_object(), "{}: not a JSON object; the checkpoint is damaged", path.string());
  Manifest manifest;
  read_key(json, "format", path, manifest.format);
  require(manifest.format == kFormat, "{}: checkpoint format {}; this version reads format {}",
          path.string(), manifest.format, kFormat);
  read_key(json, "step", path, manifest.step);
  read_key(json, "config_hash", path, manifest.config_hash);
  read_key(json, "data_sha256", path, manifest.data_sha256);
  read_key(json, "version", path, manifest.version);
  read_key(json, "files", path, manifest.files);
  read_key(json, "tokens", path, manifest.tokens);
  read_key(json, "flops", path, manifest.flops);
  read_key(json, "wall_s", path, manifest.wall_s);
  manifest.validation_loss_nats = optional_number(json, "validation_loss_nats");
  manifest.train_loss_nats = optional_number(json, "train_loss_nats");
  return manifest;
}

std::string manifest_text(const Manifest& manifest) {
  Json json = {{"format", manifest.format},
               {"step", manifest.step},
               {"config_hash", manifest.config_hash},
               {"data_sha256", manifest.data_sha256},
               {"version", manifest.version},
               {"files", manifest.files},
               {"tokens", manifest.tokens},
               {"flops", manifest.flops},
               {"wall_s", manifest.wall_s}};
  if (manifest.validation_loss_nats) json["validation_loss_nats"] = *manifest.validation_loss_nats;
  if (manifest.train_loss_nats) json["train_loss_nats"] = *manifest.train_loss_nats;
  return json.dump(2) + "\n";
}

}  // namespace

std::string checkpoint_name(std::int64_t step) { return fmt::format("step-{:08d}", step); }

std::vector<CheckpointEntry> list_checkpoints(const fs::path& folder) {
  std::vector<CheckpointEntry> entries;
  std::error_code missing;
  for (const auto& entry : fs::directory_iterator(folder, missing)) {
    const auto name = entry.path().filename().string();
    if (!name.starts_with("step-") || name.ends_with(".tmp")) continue;
    const auto manifest = entry.path() / kManifestFile;
    require(
        fs::exists(manifest),
        "{}: missing; the checkpoint is damaged. Delete its folder to go on from the one before",
        manifest.string());
    entries.push_back({entry.path(), read_manifest(manifest)});
    require(checkpoint_name(entries.back().manifest.step) == name,
            "{}: speaks of step {}; expected the step of its folder; the checkpoint is damaged",
            manifest.string(), entries.back().manifest.step);
  }
  std::sort(entries.begin(), entries.end(),
            [](const auto& a, const auto& b) { return a.manifest.step < b.manifest.step; });
  return entries;
}

const CheckpointEntry& best_checkpoint(const std::vector<CheckpointEntry>& entries) {
  const CheckpointEntry* best = nullptr;
  for (const auto& entry : entries) {
    const auto& loss = entry.manifest.validation_loss_nats;
    if (loss && (best == nullptr || *loss < *best->manifest.validation_loss_nats)) best = &entry;
  }
  return best == nullptr ? entries.back() : *best;
}

Manifest verify_checkpoint(const fs::path& checkpoint) {
  require(fs::is_directory(checkpoint), "{}: no such checkpoint", checkpoint.string());
  const auto manifest = read_manifest(checkpoint / kManifestFile);
  for (const auto& [name, hash] : manifest.files) {
    const auto file = checkpoint / name;
    require(fs::is_regular_file(file), "{}: missing, though the manifest lists it", file.string());
    require(
        sha256_of_file(file) == hash,
        "{}: truncated or altered: its SHA-256 is not the manifest's. Delete the folder {} to go "
        "on from the checkpoint before",
        file.string(), checkpoint.string());
  }
  return manifest;
}

void publish_checkpoint(const fs::path& temporary, const fs::path& final_path,
                        const Manifest& manifest) {
  std::error_code error;
  // A step of a run is one state: what is saved already need not be risked to save it again.
  if (fs::exists(final_path)) {
    fs::remove_all(temporary, error);
    return;
  }
  write_file_atomically(temporary / kManifestFile, manifest_text(manifest));
  sync_path(temporary);
  fs::rename(temporary, final_path, error);
  if (error) fail_work("{}: cannot be written ({})", final_path.string(), error.message());
  sync_path(final_path.parent_path());
}

void prune_checkpoints(const fs::path& folder, std::int64_t keep, bool keep_best) {
  const auto entries = list_checkpoints(folder);
  if (entries.empty()) return;
  const auto best = best_checkpoint(entries).path;
  const auto count = static_cast<std::int64_t>(entries.size());
  for (std::int64_t i = 0; i < count - keep; ++i) {
    const auto& path = entries[static_cast<std::size_t>(i)].path;
    if (keep_best && path == best) continue;
    // Under a temporary name first: a kill amid the removal must not leave half a checkpoint.
    std::error_code ignored;
    const fs::path doomed = path.string() + ".tmp";
    fs::rename(path, doomed, ignored);
    fs::remove_all(doomed, ignored);
  }
}

}  // namespace rondo
