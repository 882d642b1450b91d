# Finds libtorch and defines the target Libtorch::Libtorch.
#
# libtorch's own TorchConfig.cmake insists on a CUDA toolkit whenever the library was built with CUDA,
# which is true of the wheel we use, and sets global flags. All we need is a handful of paths.
#
#   RONDO_LIBTORCH   prefix with include/ and lib/: an unpacked libtorch or the torch folder of a Python
#                    installation. Default: $RONDO_LIBTORCH, then what tools/setup.sh fetched.
#   RONDO_CUDA       ON, OFF, or AUTO: on if the prefix holds the CUDA libraries.

set(_oldest 2.9)
set(_prefix "${RONDO_LIBTORCH}")
if(NOT _prefix)
  set(_prefix "$ENV{RONDO_LIBTORCH}")
endif()
if(NOT _prefix)
  set(_prefix "${PROJECT_SOURCE_DIR}/.deps/libtorch/torch")
  if(NOT EXISTS "${_prefix}")
    message(FATAL_ERROR "libtorch is not there yet: run ./rondo build, which fetches it, "
                        "or pass -DRONDO_LIBTORCH=/prefix.")
  endif()
endif()
get_filename_component(_prefix "${_prefix}" ABSOLUTE)

function(_libtorch_fail what)
  message(FATAL_ERROR "libtorch in ${_prefix}: ${what} Pass another one with RONDO_LIBTORCH=/prefix.")
endfunction()

foreach(_file include/ATen/ATen.h lib/libtorch_cpu.so lib/libc10.so)
  if(NOT EXISTS "${_prefix}/${_file}")
    _libtorch_fail("${_file} is missing.")
  endif()
endforeach()

# The macros moved to torch/headeronly in newer releases.
set(Libtorch_VERSION "")
foreach(_file torch/headeronly/version.h torch/csrc/api/include/torch/version.h)
  if(NOT Libtorch_VERSION AND EXISTS "${_prefix}/include/${_file}")
    file(STRINGS "${_prefix}/include/${_file}" _lines REGEX "#define TORCH_VERSION_(MAJOR|MINOR|PATCH) ")
    string(REGEX REPLACE "[^0-9;]" "" _lines "${_lines}")
    string(REPLACE ";" "." Libtorch_VERSION "${_lines}")
  endif()
endforeach()
if(NOT Libtorch_VERSION)
  _libtorch_fail("its headers name no version (at least ${_oldest} is needed).")
elseif(Libtorch_VERSION VERSION_LESS _oldest)
  _libtorch_fail("version ${Libtorch_VERSION} is too old (at least ${_oldest} is needed).")
endif()

# Builds with the old std::string cannot be linked with ours and fail with pages of undefined symbols.
file(STRINGS "${_prefix}/lib/libc10.so" _symbols REGEX "__cxx11" LIMIT_COUNT 1)
if(NOT _symbols)
  _libtorch_fail("it was built for the pre-C++11 ABI (the cxx11 ABI is needed).")
endif()

set(RONDO_CUDA AUTO CACHE STRING "Link libtorch's CUDA libraries: ON, OFF, or AUTO (if they are there)")
set(Libtorch_CUDA FALSE)
if(EXISTS "${_prefix}/lib/libtorch_cuda.so" AND EXISTS "${_prefix}/lib/libc10_cuda.so")
  if(RONDO_CUDA)
    set(Libtorch_CUDA TRUE)
  endif()
elseif(RONDO_CUDA AND NOT RONDO_CUDA STREQUAL "AUTO")
  _libtorch_fail("RONDO_CUDA is on but lib/libtorch_cuda.so is missing (a CPU build).")
endif()

# Beside its own headers libtorch ships copies of fmt, protobuf, pybind11 and others, which would hide the
# system's. So the include folder is one of links to the few entries that are libtorch's.
set(_include "${PROJECT_BINARY_DIR}/libtorch-include")
file(REMOVE_RECURSE "${_include}")
file(MAKE_DIRECTORY "${_include}")
foreach(_entry ATen c10 caffe2 torch sleef.h)
  if(EXISTS "${_prefix}/include/${_entry}")
    file(CREATE_LINK "${_prefix}/include/${_entry}" "${_include}/${_entry}" SYMBOLIC)
  endif()
endforeach()

function(_libtorch_library target file)
  add_library(${target} SHARED IMPORTED)
  set_target_properties(${target} PROPERTIES IMPORTED_LOCATION "${_prefix}/lib/${file}")
endfunction()

_libtorch_library(Libtorch::c10 libc10.so)
_libtorch_library(Libtorch::cpu libtorch_cpu.so)
add_library(Libtorch::Libtorch INTERFACE IMPORTED)
target_include_directories(Libtorch::Libtorch SYSTEM INTERFACE "${_include}")
target_link_libraries(Libtorch::Libtorch INTERFACE Libtorch::cpu Libtorch::c10)

# at::parallel_for is serial in code compiled without OpenMP. One program must have one pool of threads, so
# we link the runtime that libtorch brings (some builds rename it) before the compiler's is thought of.
target_compile_options(Libtorch::Libtorch INTERFACE -fopenmp)
file(GLOB _gomp "${_prefix}/lib/libgomp*.so*")
if(_gomp)
  list(GET _gomp 0 _gomp)
  get_filename_component(_gomp "${_gomp}" NAME)
  _libtorch_library(Libtorch::gomp ${_gomp})
  target_link_libraries(Libtorch::Libtorch INTERFACE Libtorch::gomp)
else()
  target_link_options(Libtorch::Libtorch INTERFACE -fopenmp)
endif()

if(Libtorch_CUDA)
  # Nothing in our code refers to these two: they register their kernels when they are loaded.
  set(CMAKE_CXX_LINK_LIBRARY_USING_rondo_needed
      "LINKER:--push-state,--no-as-needed" "<LINK_ITEM>" "LINKER:--pop-state")
  set(CMAKE_CXX_LINK_LIBRARY_USING_rondo_needed_SUPPORTED TRUE)
  _libtorch_library(Libtorch::c10_cuda libc10_cuda.so)
  _libtorch_library(Libtorch::cuda libtorch_cuda.so)
  target_link_libraries(Libtorch::Libtorch INTERFACE
                        "$<LINK_LIBRARY:rondo_needed,Libtorch::cuda,Libtorch::c10_cuda>")
  target_compile_definitions(Libtorch::Libtorch INTERFACE RONDO_CUDA=1)
endif()

set(Libtorch_FOUND TRUE)
message(STATUS "libtorch ${Libtorch_VERSION} in ${_prefix}")
