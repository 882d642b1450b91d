# How a layer, its tests and the binary are declared. Every layer is a folder of src/ and a static library;
# which layer may use which is written once, in the DEPENDS of src/<layer>/CMakeLists.txt, and held against
# the includes by tests/house.

# Flags that every target of ours compiles with, and no target of anybody else's.
add_library(rondo_flags INTERFACE)
target_compile_features(rondo_flags INTERFACE cxx_std_20)
target_compile_options(rondo_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                       $<$<BOOL:${RONDO_WERROR}>:-Werror>)
target_include_directories(rondo_flags INTERFACE ${PROJECT_SOURCE_DIR}/src)
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  # A portable baseline. Kernels that want more are compiled apart (rondo_kernel) and chosen at run time.
  target_compile_options(rondo_flags INTERFACE -march=x86-64-v2)
endif()
if(RONDO_SANITIZE)
  # With sanitizers GCC warns of uninitialised values inside the standard library where there are none.
  target_compile_options(rondo_flags INTERFACE -fsanitize=${RONDO_SANITIZE} -fno-omit-frame-pointer
                         -Wno-maybe-uninitialized)
  target_link_options(rondo_flags INTERFACE -fsanitize=${RONDO_SANITIZE})
endif()
find_program(RONDO_MOLD mold)
mark_as_advanced(RONDO_MOLD)
if(RONDO_MOLD)
  target_link_options(rondo_flags INTERFACE -fuse-ld=mold)
endif()

# What the layers above base that include libtorch compile with.
add_library(rondo_torch INTERFACE)
target_link_libraries(rondo_torch INTERFACE Libtorch::Libtorch)
# libtorch's headers lay out some structs by NDEBUG, and its libraries are built with it.
target_compile_definitions(rondo_torch INTERFACE NDEBUG)

# ccache takes part with GCC's precompiled headers only if the preprocessor keeps track of them
# (-fpch-preprocess) and if it is told not to mind that they carry macros. A miss then costs half a second
# more, a hit 0.3 s instead of 2 to 5.
find_program(RONDO_CCACHE_PROGRAM ccache)
mark_as_advanced(RONDO_CCACHE_PROGRAM)
if(RONDO_CCACHE AND RONDO_CCACHE_PROGRAM)
  set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_SLOPPINESS=pch_defines,time_macros ${RONDO_CCACHE_PROGRAM})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(rondo_torch INTERFACE -fpch-preprocess)
  endif()
endif()

# The target `tidy` has one step for each source, so that they run in parallel and again only when changed.
if(RONDO_TIDY)
  add_custom_target(tidy)
endif()
function(_rondo_tidy target)
  if(NOT RONDO_TIDY)
    return()
  endif()
  set(stamps "")
  foreach(source ${ARGN})
    set(stamp ${CMAKE_CURRENT_BINARY_DIR}/${source}.tidy)
    add_custom_command(
      OUTPUT ${stamp}
      COMMAND ${RONDO_TIDY} -p ${PROJECT_BINARY_DIR} --quiet --warnings-as-errors=*
              --extra-arg=-Wno-unknown-warning-option ${CMAKE_CURRENT_SOURCE_DIR}/${source}
      COMMAND ${CMAKE_COMMAND} -E touch ${stamp}
      DEPENDS ${source} ${PROJECT_SOURCE_DIR}/.clang-tidy
      COMMENT "tidy ${source}" VERBATIM)
    list(APPEND stamps ${stamp})
  endforeach()
  add_custom_target(tidy_${target} DEPENDS ${stamps})
  add_dependencies(tidy tidy_${target})
endfunction()

# rondo_layer(name [TORCH] [SOURCES file…] [DEPENDS layer…] [LIBRARIES target…])
#   TORCH      the layer includes libtorch: it gets its headers and the shared precompiled header
#   DEPENDS    layers below, without the prefix rondo_
#   LIBRARIES  libraries from outside
# A layer without sources is declared all the same, so that layers above can name it.
function(rondo_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "TORCH" "" "SOURCES;DEPENDS;LIBRARIES")
  set(target rondo_${name})
  list(TRANSFORM ARG_DEPENDS PREPEND rondo_)
  if(NOT ARG_SOURCES)
    add_library(${target} INTERFACE)
    target_link_libraries(${target} INTERFACE ${ARG_DEPENDS})
    return()
  endif()
  add_library(${target} STATIC ${ARG_SOURCES})
  target_link_libraries(${target} PUBLIC ${ARG_DEPENDS} ${ARG_LIBRARIES} PRIVATE rondo_flags)
  if(ARG_TORCH)
    target_link_libraries(${target} PUBLIC rondo_torch)
    _rondo_precompile(${target})
  endif()
  _rondo_tidy(${target} ${ARG_SOURCES})
endfunction()

# One precompiled header for all that includes libtorch: built with rondo_tensor, reused by everything else.
function(_rondo_precompile target)
  if(target STREQUAL rondo_tensor)
    target_precompile_headers(${target} PRIVATE torch.h)
  elseif(TARGET rondo_tensor)
    get_target_property(header rondo_tensor PRECOMPILE_HEADERS)
    if(header)
      target_precompile_headers(${target} REUSE_FROM rondo_tensor)
    endif()
  endif()
endfunction()

# rondo_kernel(file option…): compiles one source of the current layer with more than the baseline, such as
# -mavx2. It stays out of the precompiled header and of unity files, which have the baseline's options.
function(rondo_kernel file)
  set_source_files_properties(${file} PROPERTIES
    COMPILE_OPTIONS "${ARGN}" SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# rondo_test(name [TORCH] [SLOW] [GPU] SOURCES file… [LAYERS layer…] [LIBRARIES target…])
#   One GoogleTest binary test_<name> against the layer of that name (or LAYERS). ctest knows it as <name>,
#   label fast; tests with Slow or Gpu in their name are left out there and run, if SLOW or GPU is given, as
#   <name>_slow and <name>_gpu. They run in the repository's root.
function(rondo_test name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "TORCH;SLOW;GPU" "" "SOURCES;LAYERS;LIBRARIES")
  if(NOT ARG_SOURCES)
    return()
  endif()
  if(NOT DEFINED ARG_LAYERS AND TARGET rondo_${name})
    set(ARG_LAYERS ${name})
  endif()
  list(TRANSFORM ARG_LAYERS PREPEND rondo_)
  add_executable(test_${name} ${ARG_SOURCES})
  target_include_directories(test_${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(test_${name} PRIVATE rondo_flags ${ARG_LAYERS} ${ARG_LIBRARIES} GTest::gtest_main)
  # Test files repeat the names of their small helpers; nothing is gained by making them share one scope.
  set_target_properties(test_${name} PROPERTIES UNITY_BUILD OFF)
  if(ARG_TORCH)
    _rondo_precompile(test_${name})
  endif()
  _rondo_tidy(test_${name} ${ARG_SOURCES})
  _rondo_test_entry(${name} ${name} fast "-*Slow*:*Gpu*" 300)
  if(ARG_SLOW)
    _rondo_test_entry(${name}_slow ${name} slow "*Slow*" 1200)
  endif()
  if(ARG_GPU)
    _rondo_test_entry(${name}_gpu ${name} gpu "*Gpu*" 1200)
  endif()
endfunction()

function(_rondo_test_entry entry name label filter timeout)
  add_test(NAME ${entry} COMMAND test_${name} --gtest_brief=1 "--gtest_filter=${filter}"
           WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  # Idle OpenMP threads that spin would fight with the other tests for the cores.
  set_tests_properties(${entry} PROPERTIES LABELS ${label} TIMEOUT ${timeout}
                       ENVIRONMENT "OMP_WAIT_POLICY=passive")
endfunction()

# rondo_binary(SOURCES file… LAYERS layer…): the program, in the build folder's root.
function(rondo_binary)
  cmake_parse_arguments(PARSE_ARGV 0 ARG "" "" "SOURCES;LAYERS")
  if(NOT ARG_SOURCES)
    return()
  endif()
  list(TRANSFORM ARG_LAYERS PREPEND rondo_)
  add_executable(rondo ${ARG_SOURCES})
  target_link_libraries(rondo PRIVATE rondo_flags ${ARG_LAYERS})
  _rondo_precompile(rondo)
  set_target_properties(rondo PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR} INSTALL_RPATH "$ORIGIN/../lib/rondo")
  _rondo_tidy(rondo ${ARG_SOURCES})
endfunction()
