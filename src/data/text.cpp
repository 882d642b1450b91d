// Text files as documents: which files, where documents begin and end, and what counts as text.
#include "data/text.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "data/mapped_file.h"
#include "data/text_checks.h"

namespace rondo {
namespace {

bool hidden(const fs::path& path) { return path.filename().string().starts_with('.'); }

bool is_text_name(const fs::path& path) {
  const fs::path extension = path.extension();
  return extension == ".txt" || extension == ".md" || extension == ".jsonl";
}

/// Refuses what is certainly not text with a word about what to do instead.
void refuse_other_formats(const fs::path& file) {
  require(file.extension() != ".parquet",
          "{}: Parquet cannot be read by this version; expected text or JSONL, to which it can be "
          "converted",
          file.string());
  require(file.extension() != ".rondo",
          "{}: is a token shard, not text; set data.source = \"tokens\" to train on it",
          file.string());
}

std::vector<fs::path> files_below(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  fs::recursive_directory_iterator entry(folder, error);
  for (; !error && entry != fs::end(entry); entry.increment(error)) {
    const fs::path& path = entry->path();
    std::error_code ignored;
    if (hidden(path)) {
      if (entry->is_directory(ignored)) entry.disable_recursion_pending();
    } else if (is_text_name(path) && entry->is_regular_file(ignored)) {
      files.push_back(path);
    }
  }
  require(!error, "{}: the folder cannot be read ({})", folder.string(), error.message());
  return files;
}

std::string_view without_line_break(std::string_view line) {
  if (line.ends_with('\n')) line.remove_suffix(1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

}  // namespace

std::vector<fs::path> text_files(const fs::path& path) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  require(fs::exists(status), "{}: no such file or folder", path.string());
  if (!fs::is_directory(status)) {
    refuse_other_formats(path);
    return {path};
  }
  std::vector<fs::path> files = files_below(path);
  require(!files.empty(), "{}: the folder holds no text; expected *.txt, *.md or *.jsonl files",
          path.string());
  std::sort(files.begin(), files.end(), [](const fs::path& a, const fs::path& b) {
    return a.generic_string() < b.generic_string();
  });
  return files;
}

void read_documents(const fs::path& file, const DocumentSink& sink) {
  refuse_other_formats(file);
  const MappedFile mapped(file);
  if (file.extension() == ".jsonl") {
    split_jsonl(mapped.content(), file.string(), sink);
  } else {
    split_documents(mapped.content(), file.string(), sink);
  }
}

void split_documents(std::string_view text, std::string_view source, const DocumentSink& sink) {
  const std::size_t mark = byte_order_mark(text);
  std::size_t line_number = 1, begin = mark, first_line = 1;
  const auto emit = [&](std::size_t end) {
    const std::string_view document = text.substr(begin, end - begin);
    if (is_blank(document)) return;
    check_text(document, {.source = source, .line = first_line, .offset = begin});
    sink(document, fmt::format("{}:{}", source, first_line));
  };
  for (std::size_t at = mark; at < text.size(); ++line_number) {
    const std::size_t line_break = text.find('\n', at);
    const std::size_t end = line_break == std::string_view::npos ? text.size() : line_break + 1;
    if (without_line_break(text.substr(at, end - at)) == kDocumentLine) {
      emit(at);
      begin = end;
      first_line = line_number + 1;
    }
    at = end;
  }
  emit(text.size());
}

}  // namespace rondo
