# Catch2 for the tests: version 3 (Debian 13, Ubuntu 24.04) or 2 (Debian 12), whichever is installed.
# EBB_CATCH_STRICT: the options by which a selection without cases is a failure, which version 3 does by itself.

find_package(Catch2 3 QUIET)
if(NOT Catch2_FOUND)
  ebb_find_package(Catch2 2.13 catch2)
endif()
include(Catch)
if(Catch2_VERSION VERSION_LESS 3)
  set(EBB_CATCH_STRICT --warn NoTests)
else()
  set(EBB_CATCH_STRICT)
endif()
