# Compiler flags, for ebb's own targets only: nothing here reaches an installed interface.

if(EBB_SANITIZE)
  list(JOIN EBB_SANITIZE "," _sanitizers)
  add_compile_options(-fsanitize=${_sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${_sanitizers})
  unset(_sanitizers)
endif()

if(EBB_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all)
  add_link_options(-fsanitize=address,undefined)
endif()

# ebb_own_target(<target>): language level, visibility and warnings of everything that is built here.
function(ebb_own_target target)
  set(warnings_are_errors ${EBB_WERROR})
  if(EBB_SANITIZE)
    # Sanitizers make GCC see errors that are none: its manual advises against -Werror with them.
    set(warnings_are_errors OFF)
  endif()
  set_target_properties(${target} PROPERTIES
    CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic>
    # GCC sees uninitialised lanes in its own vector intrinsics (bug 105593), hence in any Eigen code; Clang looks for them, too.
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wshadow=local;-Wno-maybe-uninitialized;-Wno-uninitialized>
    # Clang's own intrinsics for 16-bit floats are macros with a literal of C; it does not know GCC's ivdep; kernel slots are
    # members of templates that are instantiated with the kernels; and formulas join conditions by & and |, for vectors too.
    $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-c99-extensions;-Wno-unknown-pragmas;-Wno-undefined-var-template;-Wno-bitwise-instead-of-logical>
    $<$<AND:$<BOOL:${warnings_are_errors}>,$<COMPILE_LANGUAGE:CXX>>:-Werror>
    # Messages and debug information name files from the top of the source tree, wherever that is.
    $<$<COMPILE_LANGUAGE:CXX>:-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=>)
endfunction()

# ebb_guard(<target>): for code that reads what strangers wrote. Ops of small tensors would take 1.4 % longer by it, and a shadow
# stack (-fcf-protection) would be for nothing: Debian's startup files are built without, and the linker then drops the mark.
function(ebb_guard target)
  if(EBB_SANITIZE OR EBB_FUZZ)
    return()
  endif()
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fstack-protector-strong>)
  if(NOT CMAKE_CXX_FLAGS MATCHES "_FORTIFY_SOURCE")
    target_compile_definitions(${target} PRIVATE $<$<CONFIG:Release>:_FORTIFY_SOURCE=2>)
  endif()
endfunction()

# ebb_seal(<target>): the loader fills all tables of the library and then makes them read-only.
function(ebb_seal target)
  target_link_options(${target} PRIVATE LINKER:-z,relro LINKER:-z,now)
endfunction()

# ebb_precompile(<target> <header>...): reads the headers, named <like/this.h>, once for all sources of the target.
# ebb_precompile(<target> REUSE_FROM <other>): what <other>, a target that is compiled alike, has read already.
# With them come the options they were read with, -O2 in place of a source's own -O3 (GCC 12): a source that has options of its
# own is to be read without (SKIP_PRECOMPILE_HEADERS). GCC only; compiled by Clang, a source says which header it forgot.
function(ebb_precompile target)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    return()
  endif()
  if(ARGV1 STREQUAL "REUSE_FROM")
    target_precompile_headers(${target} REUSE_FROM ${ARGV2})
  else()
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
endfunction()

# ebb_batch(<variable> <name> <source>...): sets <variable> to sources that include those named, a dozen of one folder each, which
# compile in half of the time. They name files as #include does, so that ccache finds them from another clone (CMake's own
# UNITY_BUILD names them from the root). GCC only, as ebb_precompile: compiled by Clang, a source says what it forgot to include,
# and tools that read compile_commands.json find each source there.
function(ebb_batch variable name)
  if(NOT EBB_UNITY OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    set(${variable} ${ARGN} PARENT_SCOPE)
    return()
  endif()
  set(_groups "")
  foreach(_source IN LISTS ARGN)
    cmake_path(RELATIVE_PATH _source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} OUTPUT_VARIABLE _path)
    cmake_path(GET _path PARENT_PATH _folder)
    file(STRINGS ${_source} _members LIMIT_COUNT 1 REGEX "#include \"nn/stateless.h\"")
    if(_members)  # A source that defines members of modules stays apart from those that call them.
      string(APPEND _folder "_members")
    endif()
    string(MAKE_C_IDENTIFIER "${_folder}" _folder)
    math(EXPR _count_${_folder} "0${_count_${_folder}} + 1")
    math(EXPR _batch "(${_count_${_folder}} - 1) / 12")
    list(APPEND _groups ${_folder}_${_batch})
    string(APPEND _text_${_folder}_${_batch} "#include \"${_path}\"\n")
  endforeach()
  list(REMOVE_DUPLICATES _groups)
  set(_batches "")
  foreach(_group IN LISTS _groups)
    set(_file ${CMAKE_CURRENT_BINARY_DIR}/batches/${name}/${_group}.cpp)
    file(CONFIGURE OUTPUT ${_file} CONTENT "${_text_${_group}}" @ONLY)
    list(APPEND _batches ${_file})
  endforeach()
  # The warning takes a source for a header where another one includes it.
  set_source_files_properties(${_batches} PROPERTIES COMPILE_OPTIONS -Wno-subobject-linkage)
  set(${variable} ${_batches} PARENT_SCOPE)
endfunction()

# ebb_tune_target(<target>): what numeric code wants. Never -ffast-math: NaN and infinity keep their meaning.
function(ebb_tune_target target)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-fno-math-errno;-fno-trapping-math;-fno-semantic-interposition>
    $<$<AND:$<BOOL:${EBB_NATIVE}>,$<COMPILE_LANGUAGE:CXX>>:-march=native>)
  # One alignment in every Eigen unit, whatever instruction set each is built for; threads are ebb's own business; products
  # are cut by constants and not by the caches of the processor, so that sums have one order everywhere.
  target_compile_definitions(${target} PRIVATE EIGEN_MAX_ALIGN_BYTES=64 EIGEN_DONT_PARALLELIZE EIGEN_NO_CPUID)
endfunction()
