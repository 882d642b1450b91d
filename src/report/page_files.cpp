// Names and files beside a page.
#include "report/page_files.h"

#include <ctime>

namespace rondo {

fs::path page_path(const fs::path& out, const fs::path& otherwise) {
  if (out.empty()) return otherwise;
  std::error_code ignored;
  if (fs::is_directory(out, ignored) || !out.has_filename()) return out / "report.html";
  return out;
}

fs::path beside_page(const fs::path& page, const std::string& ending) {
  return page.parent_path() / (page.stem().string() + "-" + ending);
}

void write_chart_files(const fs::path& page, std::span<const Chart> charts, bool csv) {
  for (const auto& chart : charts) {
    write_file_atomically(beside_page(page, chart.name + ".vl.json"), standalone_spec(chart));
    if (csv)
      write_file_atomically(beside_page(page, chart.name + ".csv"),
                            to_csv(chart.whole.rows.empty() ? chart.data : chart.whole));
  }
}

std::string now_text() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[64];
  const std::size_t size = std::strftime(text, sizeof text, "%e %B %Y, %H:%M UTC", &parts);
  const std::string_view whole(text, size);
  return std::string(whole.substr(whole.find_first_not_of(' ')));
}

}  // namespace rondo
