# Finds Ceres Solver as a shared library and defines Ceres::Shared.
#
# Ceres's own CeresConfig.cmake also links LAPACK and BLAS, which Ceres needs and we do not. Linked to the program
# directly they would come before libtorch and serve its matrix products in place of its own, many times slower.
# The shared library brings them along where they stand behind libtorch (tests/cli/libraries.test looks at who serves sgemm_).
find_path(Ceres_INCLUDE ceres/gradient_problem_solver.h)
find_path(Ceres_EIGEN Eigen/Core PATH_SUFFIXES eigen3)
find_library(Ceres_LIBRARY ceres)
find_library(Ceres_GLOG glog)
mark_as_advanced(Ceres_INCLUDE Ceres_EIGEN Ceres_LIBRARY Ceres_GLOG)
if(Ceres_INCLUDE)
  file(STRINGS "${Ceres_INCLUDE}/ceres/version.h" _lines REGEX "#define CERES_VERSION_(MAJOR|MINOR) ")
  string(REGEX REPLACE "[^0-9;]" "" _lines "${_lines}")
  string(REPLACE ";" "." CeresShared_VERSION "${_lines}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(CeresShared
  REQUIRED_VARS Ceres_LIBRARY Ceres_GLOG Ceres_INCLUDE Ceres_EIGEN
  VERSION_VAR CeresShared_VERSION)
if(CeresShared_FOUND AND NOT TARGET Ceres::Shared)
  add_library(Ceres::Shared INTERFACE IMPORTED)
  target_include_directories(Ceres::Shared SYSTEM INTERFACE "${Ceres_INCLUDE}" "${Ceres_EIGEN}")
  target_link_libraries(Ceres::Shared INTERFACE "${Ceres_LIBRARY}" "${Ceres_GLOG}" Threads::Threads)
endif()
