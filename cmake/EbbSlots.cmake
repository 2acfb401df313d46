# Sources that are generated from the lists of kernels (src/kernel/call/slot.h) in the headers of src/ops/<family> and
# src/optim.

# Sets <variable> to those headers, relative to src, and for each of them <header>_list to the name of its list.
macro(_ebb_find_kernel_lists variable)
  set(${variable} "")
  file(GLOB _headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/src
    ${PROJECT_SOURCE_DIR}/src/ops/*/*.h ${PROJECT_SOURCE_DIR}/src/optim/kernels.h)
  foreach(_header IN LISTS _headers)
    file(STRINGS ${PROJECT_SOURCE_DIR}/src/${_header} _list LIMIT_COUNT 1 REGEX "^#define EBB_[A-Z_]+_KERNELS\\(X\\)")
    if(_list)
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${_header})
      string(REGEX MATCH "EBB_[A-Z_]+" ${_header}_list "${_list}")
      list(APPEND ${variable} ${_header})
    endif()
  endforeach()
endmacro()

# ebb_write_slots(<variable>): sets it to sources that define the slots, one <family>-<header>.cpp for each header with
# a list.
function(ebb_write_slots variable)
  _ebb_find_kernel_lists(_listing)
  foreach(_header IN LISTS _listing)
    string(REGEX REPLACE "^.*/([^/]+)/([^/]+)[.]h$" "\\1-\\2" _name src/${_header})
    set(_source ${PROJECT_BINARY_DIR}/generated/slots/${_name}.cpp)
    file(CONFIGURE OUTPUT ${_source} @ONLY CONTENT "// The kernel slots of ${_header}.
#include \"${_header}\"

#include \"kernel/levels.h\"

namespace ebb::kernels {

#define EBB_ENTRY(kernel, op) \\
  constinit KernelSlot<decltype(cpu::kernel)> kernel(op, levels_of<cpu::kernel>, detail::traits_of<cpu::kernel>)
${${_header}_list}(EBB_ENTRY)
#undef EBB_ENTRY

}  // namespace ebb::kernels
")
    list(APPEND _sources ${_source})
  endforeach()
  set(${variable} ${_sources} PARENT_SCOPE)
endfunction()

# ebb_write_cuda_slots(<variable>): sets it to a source that defines ebb::cuda::fill_slots().
function(ebb_write_cuda_slots variable)
  _ebb_find_kernel_lists(_listing)
  set(_includes "")
  set(_entries "")
  foreach(_header IN LISTS _listing)
    string(APPEND _includes "#include \"${_header}\"\n")
    string(APPEND _entries "  ${${_header}_list}(EBB_ENTRY)\n")
  endforeach()
  set(_source ${PROJECT_BINARY_DIR}/generated/slots/cuda/fill.cpp)
  file(CONFIGURE OUTPUT ${_source} @ONLY CONTENT "// Puts the CUDA kernels into their slots.
${_includes}
namespace ebb::cuda {

void fill_slots() {
#define EBB_ENTRY(kernel, op) kernels::kernel.set_cuda(&cuda::kernel)
${_entries}#undef EBB_ENTRY
}

}  // namespace ebb::cuda
")
  set(${variable} ${_source} PARENT_SCOPE)
endfunction()
