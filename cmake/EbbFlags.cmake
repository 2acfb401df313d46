# Compiler flags for ebb's own targets only; none of them reaches an installed interface.

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

# ebb_own_target(<target>): sets language level, visibility and warnings of a target that is built here.
function(ebb_own_target target)
  set(warnings_are_errors ${EBB_WERROR})
  if(EBB_SANITIZE)
    # With sanitizers GCC gives false warnings: its manual advises against -Werror with them.
    set(warnings_are_errors OFF)
  endif()
  set_target_properties(${target} PROPERTIES
    CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic>
    # GCC reports uninitialized lanes in its own vector intrinsics (bug 105593), and so in all Eigen code; Clang checks
    # for uninitialized values, too.
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wshadow=local;-Wno-maybe-uninitialized;-Wno-uninitialized>
    # Clang's own intrinsics for 16-bit floats are macros with a C literal. Clang does not know GCC's ivdep pragma.
    # Kernel slots are members of templates that are instantiated with the kernels. Formulas combine conditions with &
    # and |, so that they work for vectors.
    $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-c99-extensions;-Wno-unknown-pragmas;-Wno-undefined-var-template;-Wno-bitwise-instead-of-logical>
    $<$<AND:$<BOOL:${warnings_are_errors}>,$<COMPILE_LANGUAGE:CXX>>:-Werror>
    # Messages and debug information contain paths relative to the top of the source tree.
    $<$<COMPILE_LANGUAGE:CXX>:-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=>)
endfunction()

# ebb_guard(<target>): hardens code that reads untrusted input. In libebb it would slow down ops of small tensors by 1.4
# %. A shadow stack (-fcf-protection) would have no effect: Debian's startup files are built without it, so the linker
# drops the mark.
function(ebb_guard target)
  if(EBB_SANITIZE OR EBB_FUZZ)
    return()
  endif()
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fstack-protector-strong>)
  if(NOT CMAKE_CXX_FLAGS MATCHES "_FORTIFY_SOURCE")
    target_compile_definitions(${target} PRIVATE $<$<CONFIG:Release>:_FORTIFY_SOURCE=2>)
  endif()
endfunction()

# ebb_seal(<target>): the loader fills all tables of the library at startup and then makes them read-only.
function(ebb_seal target)
  target_link_options(${target} PRIVATE LINKER:-z,relro LINKER:-z,now)
endfunction()

# ebb_precompile(<target> <header>...): precompiles the headers, named <like/this.h>, once for all sources of the
# target.
# ebb_precompile(<target> REUSE_FROM <other>): reuses the precompiled headers of <other>, a target with the same flags.
# A precompiled header brings its own options, -O2 in place of a source's -O3 (GCC 12): a source with its own options
# must not use it (SKIP_PRECOMPILE_HEADERS). GCC only; a build with Clang finds missing includes.
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

# ebb_batch(<variable> <name> <source>...): sets <variable> to sources that include the given ones, a dozen of one
# folder in each, and compile in half of the time. They name files in the #include style, so that ccache finds them from
# another clone (CMake's own UNITY_BUILD uses absolute paths). GCC only, like ebb_precompile: a build with Clang finds
# missing includes, and tools that read compile_commands.json find each source.
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
    if(_members)  # A source that defines members of modules stays separate from sources that call them.
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
  # The warning mistakes a source that another one includes for a header.
  set_source_files_properties(${_batches} PROPERTIES COMPILE_OPTIONS -Wno-subobject-linkage)
  set(${variable} ${_batches} PARENT_SCOPE)
endfunction()

# ebb_tune_target(<target>): flags for numeric code. Never -ffast-math: NaN and infinity keep their meaning.
function(ebb_tune_target target)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-fno-math-errno;-fno-trapping-math;-fno-semantic-interposition>
    $<$<AND:$<BOOL:${EBB_NATIVE}>,$<COMPILE_LANGUAGE:CXX>>:-march=native>)
  # All Eigen sources have one alignment, whatever their instruction set. Threads are managed by ebb. Products are split
  # by constants and not by cache sizes of the processor, so that the summation order is the same everywhere.
  target_compile_definitions(${target} PRIVATE EIGEN_MAX_ALIGN_BYTES=64 EIGEN_DONT_PARALLELIZE EIGEN_NO_CPUID)
endfunction()
