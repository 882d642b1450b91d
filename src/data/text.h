// Text files as documents.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "base/files.h"

namespace rondo {

/// The line that separates documents inside a text file.
inline constexpr std::string_view kDocumentLine = "<|endoftext|>";

/// Takes one document: its text, and where it begins ("books/a.txt:120"). Both views end with the
/// call.
using DocumentSink = std::function<void(std::string_view text, std::string_view where)>;

/// The files that `path` stands for: itself, or all *.txt, *.md and *.jsonl files below a folder in
/// the order of their relative paths' bytes, hidden files and folders left out. Throws an input
/// error when there is nothing, or something that holds no text (token shards, Parquet).
std::vector<fs::path> text_files(const fs::path& path);

/// Reads a file's documents in order, without loading it whole. A *.jsonl file has one JSON object
/// with a string `text` per line. Any other is plain text: a document is the bytes between two
/// lines
/// `<|endoftext|>`, unchanged, line breaks included; a byte order mark at the start of the file is
/// not text. Documents of nothing but white space are dropped. Throws an input error that names
/// file, line and byte offset for text that is not UTF-8 or holds byte 0.
void read_documents(const fs::path& file, const DocumentSink& sink);

/// The same for text in memory, named `source` in errors.
void split_documents(std::string_view text, std::string_view source, const DocumentSink& sink);
void split_jsonl(std::string_view text, std::string_view source, const DocumentSink& sink);

}  // namespace rondo
