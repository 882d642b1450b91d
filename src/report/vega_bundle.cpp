// Takes the chart script into the program as it lies on disk. The assembler reads the file: going
// through a generated array of numbers would cost the compiler seconds.
#include "report/vega_bundle.h"

#include <cstddef>

#ifndef RONDO_CHARTS_FILE
#error "RONDO_CHARTS_FILE is the path of vega-bundle.js; src/report/CMakeLists.txt sets it"
#endif

asm(".pushsection .rodata\n"
    ".globl rondo_vega_bundle_begin\n"
    ".globl rondo_vega_bundle_end\n"
    "rondo_vega_bundle_begin:\n"
    ".incbin \"" RONDO_CHARTS_FILE
    "\"\n"
    "rondo_vega_bundle_end:\n"
    ".popsection\n");

extern "C" {
extern const char rondo_vega_bundle_begin[];
extern const char rondo_vega_bundle_end[];
}

namespace rondo {

std::string_view vega_bundle() {
  const auto size = static_cast<std::size_t>(rondo_vega_bundle_end - rondo_vega_bundle_begin);
  return {rondo_vega_bundle_begin, size};
}

}  // namespace rondo
