# cmake --install puts down a folder that can be moved anywhere:
#   bin/rondo                the program
#   lib/rondo/*.so           every library it loads except the C and C++ run-time libraries
#   share/rondo/…            recipes, data, licences
# The program finds its libraries through $ORIGIN/../lib/rondo, they find each other through their own $ORIGIN.
function(rondo_install)
  include(GNUInstallDirs)
  install(TARGETS rondo RUNTIME_DEPENDENCY_SET rondo_libraries COMPONENT rondo)
  install(RUNTIME_DEPENDENCY_SET rondo_libraries
    PRE_EXCLUDE_REGEXES "^ld-linux" "^linux-vdso" "^lib(c|m|dl|rt|pthread|util|gcc_s|stdc\\+\\+)\\.so"
    LIBRARY DESTINATION lib/rondo COMPONENT rondo)
  foreach(folder recipes data)
    if(EXISTS ${PROJECT_SOURCE_DIR}/${folder})
      install(DIRECTORY ${folder} DESTINATION share/rondo COMPONENT rondo)
    endif()
  endforeach()
  install(FILES LICENSE THIRD_PARTY_NOTICES.md DESTINATION share/rondo COMPONENT rondo)
  foreach(part libtorch charts)
    if(EXISTS ${PROJECT_SOURCE_DIR}/.deps/${part}/licenses)
      install(DIRECTORY .deps/${part}/licenses DESTINATION share/rondo COMPONENT rondo)
    endif()
  endforeach()
endfunction()
