# Catch2 for the tests: the installed version, 3 (Debian 13, Ubuntu 24.04) or 2 (Debian 12).
# EBB_CATCH_STRICT: options that make an empty selection of cases a failure, which is the default in version 3.

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
