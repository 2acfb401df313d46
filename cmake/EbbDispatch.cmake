# CPU kernels compiled for several instruction sets in one library (docs/processors.md). Without EBB_NATIVE on x86-64,
# libebb is compiled for the baseline, and its kernels again for each level above (ebb_add_level).

set(EBB_CPU_LEVELS OFF)
if(EBB_DISPATCH AND NOT EBB_NATIVE AND NOT EBB_SANITIZE AND NOT EBB_FUZZ)
  include(CheckCXXSourceCompiles)
  check_cxx_source_compiles("
    #if !defined(__x86_64__) || !defined(__ELF__) || defined(__AVX__)
    #error one level
    #endif
    int main() {}" EBB_IS_BASELINE_X86_64)
  find_program(EBB_LD NAMES x86_64-linux-gnu-ld.bfd ld.bfd)  # clang makes CMAKE_LINKER that of LLVM
  find_program(EBB_OBJCOPY NAMES x86_64-linux-gnu-objcopy objcopy)
  mark_as_advanced(EBB_LD EBB_OBJCOPY)
  if(NOT EBB_IS_BASELINE_X86_64)
    message(STATUS "ebb: one set of CPU kernels; the flags are not those of a plain x86-64")
  elseif(NOT EBB_LD OR NOT EBB_OBJCOPY OR NOT CMAKE_OBJDUMP OR NOT CMAKE_NM)
    message(STATUS "ebb: one set of CPU kernels; several need ld.bfd and objcopy (GNU binutils)")
  else()
    set(EBB_CPU_LEVELS ON)
    message(STATUS "ebb: CPU kernels for sse2, avx2 and avx512")
  endif()
endif()

set(EBB_FLAGS_avx2 -march=x86-64-v3)
set(EBB_FLAGS_avx512 -march=x86-64-v4 -mprefer-vector-width=512)

# ebb_add_level(<variable> <target> <level> <number> <source>...): compiles the sources, which are kernels and their
# slots, for a level, and sets <variable> to one object that must be added to <target>. Only detail::AtLevel, which the
# slots use to refer to kernels, is visible outside the object; otherwise the linker could select a template instance of
# ebb or std that was compiled for AVX-512 for all levels. Sections stay separate, so that --gc-sections removes code
# that a static program does not call.
function(ebb_add_level variable target level number)
  set(_library ${target}_${level})
  add_library(${_library} OBJECT ${ARGN})
  ebb_own_target(${_library})
  ebb_tune_target(${_library})
  set_target_properties(${_library} PROPERTIES POSITION_INDEPENDENT_CODE ON EBB_LEVEL ${number})
  target_compile_options(${_library} PRIVATE
    ${EBB_FLAGS_${level}} -ffunction-sections -fdata-sections
    $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique>)
  target_compile_definitions(${_library} PRIVATE EBB_CPU_LEVEL=${number} $<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>)
  target_include_directories(${_library} PRIVATE $<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>)
  target_link_libraries(${_library} PRIVATE Eigen3::Eigen)

  set(_object ${CMAKE_CURRENT_BINARY_DIR}/${_library}${CMAKE_CXX_OUTPUT_EXTENSION})
  add_custom_command(OUTPUT ${_object}
    COMMAND ${EBB_LD} -r --force-group-allocation -o ${_object} $<TARGET_OBJECTS:${_library}>
    COMMAND ${EBB_OBJCOPY} --wildcard --keep-global-symbol=_ZN3ebb6detail7AtLevel* ${_object}
    COMMAND ${CMAKE_COMMAND} -DNM=${CMAKE_NM} -DOBJDUMP=${CMAKE_OBJDUMP} -DOBJECT=${_object}
      -P ${PROJECT_SOURCE_DIR}/cmake/EbbCheckLevel.cmake
    DEPENDS $<TARGET_OBJECTS:${_library}> ${PROJECT_SOURCE_DIR}/cmake/EbbCheckLevel.cmake
    COMMENT "Linking the kernels for ${level} into one object" COMMAND_EXPAND_LISTS VERBATIM)
  set_source_files_properties(${_object} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
  set(${variable} ${_object} PARENT_SCOPE)
endfunction()
