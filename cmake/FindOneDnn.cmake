# Finds oneDNN (Debian: libdnnl-dev) and defines OneDnn::OneDnn. libtorch has a copy of its own inside, whose
# functions it does not export.
find_path(OneDnn_INCLUDE oneapi/dnnl/dnnl.hpp)
find_library(OneDnn_LIBRARY dnnl)
mark_as_advanced(OneDnn_INCLUDE OneDnn_LIBRARY)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(OneDnn REQUIRED_VARS OneDnn_LIBRARY OneDnn_INCLUDE)
if(OneDnn_FOUND AND NOT TARGET OneDnn::OneDnn)
  add_library(OneDnn::OneDnn INTERFACE IMPORTED)
  target_include_directories(OneDnn::OneDnn SYSTEM INTERFACE "${OneDnn_INCLUDE}")
  target_link_libraries(OneDnn::OneDnn INTERFACE "${OneDnn_LIBRARY}")
endif()
