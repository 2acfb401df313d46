# Requirements and options of a build. As a subproject ebb builds only the library, without tuning and without warnings
# as errors.

foreach(_compiler "GNU 12" "Clang 14")
  string(REPLACE " " ";" _compiler ${_compiler})
  list(POP_FRONT _compiler _id _least)
  if(CMAKE_CXX_COMPILER_ID STREQUAL _id AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS _least)
    message(FATAL_ERROR "ebb needs g++ 12, clang 14 or later, and ${CMAKE_CXX_COMPILER} is ${_id} ${CMAKE_CXX_COMPILER_VERSION}: "
      "install a newer one, set the environment variable CXX to its name, remove the build folder, and configure again")
  endif()
endforeach()

# ebb_require(<variable> <name> <package of Debian>): reports a missing requirement in one sentence.
function(ebb_require found name package)
  if(NOT ${found})
    message(FATAL_ERROR "ebb needs ${name}: install it with its headers (on Debian ${package}), and configure again; README.md lists all that a build needs")
  endif()
endfunction()

# ebb_find_package(<name> <version> <package of Debian> [<argument of find_package>...])
macro(ebb_find_package name version package)
  find_package(${name} ${version} ${ARGN} QUIET)
  ebb_require(${name}_FOUND "${name} ${version}" ${package})
endmacro()

option(BUILD_SHARED_LIBS "Build libebb.so rather than libebb.a" ${PROJECT_IS_TOP_LEVEL})
option(EBB_INSTALL "Install ebb along with the project that builds it" ${PROJECT_IS_TOP_LEVEL})
option(EBB_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(EBB_BUILD_EXAMPLES "Build the example programs" ${PROJECT_IS_TOP_LEVEL})
option(EBB_BUILD_BENCHMARKS "Build the benchmarks" OFF)
option(EBB_VISION "Build ebb::vision, which links libjpeg and libpng" ${PROJECT_IS_TOP_LEVEL})
option(EBB_DISTRIBUTED "Build ebb::distributed: one program in many processes" ${PROJECT_IS_TOP_LEVEL})
option(EBB_CLI "Build the program ebb, which shows what a file of weights holds" ${PROJECT_IS_TOP_LEVEL})
option(EBB_NATIVE "Tune for the CPU of this machine (-march=native)" ${PROJECT_IS_TOP_LEVEL})
option(EBB_DISPATCH "Without EBB_NATIVE, on x86-64: kernels for SSE2, AVX2 and AVX-512 in one library, chosen as it is loaded" ON)
option(EBB_PACK_RELOCATIONS "0.4 MB less, for loaders that know it: glibc 2.36 where the library is used" ON)
option(EBB_UNITY "Compile sources that are no kernels in batches of a dozen, which takes half of the time (GCC)" ON)
option(EBB_WERROR "Treat warnings in ebb's own sources as errors, where no sanitizer is on" ${PROJECT_IS_TOP_LEVEL})

set(EBB_CUDA "AUTO" CACHE STRING "CUDA backend: AUTO (where nvcc and a GPU are present), ON, OFF, EMU (on the CPU), PTX (nvcc's code, interpreted)")
set_property(CACHE EBB_CUDA PROPERTY STRINGS AUTO ON OFF EMU PTX)
if(NOT EBB_CUDA MATCHES "^(AUTO|ON|OFF|EMU|PTX)$")
  message(FATAL_ERROR "EBB_CUDA=${EBB_CUDA} is none of AUTO, ON, OFF, EMU, PTX")
endif()

set(EBB_SANITIZE "" CACHE STRING "Sanitizers, separated by semicolons")
set_property(CACHE EBB_SANITIZE PROPERTY STRINGS "" "address;undefined;float-cast-overflow" "thread")

option(EBB_FUZZ "Build the libFuzzer programs of tests/fuzz, everything instrumented (clang only)" OFF)
if(EBB_FUZZ AND NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  message(FATAL_ERROR "EBB_FUZZ needs clang, which has libFuzzer; the compiler is ${CMAKE_CXX_COMPILER_ID}")
endif()

if(PROJECT_IS_TOP_LEVEL)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
  endif()
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
endif()

# ccache caches compiled files, of a subproject too. Paths are relative to the top of the sources, so that a clone in
# another folder finds the objects of this one. Precompiled headers are cached too, although ccache warns about this,
# because they may hide changes of a macro or of the time. They are found by the contents of the headers (depend mode)
# and not by the preprocessor output: GCC compares headers with the precompiled ones byte by byte, including comments.
find_program(EBB_CCACHE ccache)
mark_as_advanced(EBB_CCACHE)
if(EBB_CCACHE)
  set(_launcher ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1)
  if(NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${_launcher} CCACHE_DEPEND=1 CCACHE_SLOPPINESS=pch_defines,time_macros ${EBB_CCACHE})
  endif()
  if(NOT DEFINED CMAKE_CUDA_COMPILER_LAUNCHER)
    set(CMAKE_CUDA_COMPILER_LAUNCHER ${_launcher} ${EBB_CCACHE})
  endif()
endif()
