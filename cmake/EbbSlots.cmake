# Sources that are written from the lists of kernels (src/kernel/slot_list.h) in the headers of src/ops/<family> and src/optim.

# Sets <families> to the families that have lists, and for each family <family>_headers and <family>_lists.
macro(_ebb_find_kernel_lists families)
  set(${families} "")
  file(GLOB _headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/src
    ${PROJECT_SOURCE_DIR}/src/ops/*/*.h ${PROJECT_SOURCE_DIR}/src/optim/kernels.h)
  foreach(_header IN LISTS _headers)
    file(STRINGS ${PROJECT_SOURCE_DIR}/src/${_header} _list LIMIT_COUNT 1 REGEX "^#define EBB_[A-Z_]+_KERNELS\\(X\\)")
    if(_list)
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${_header})
      string(REGEX MATCH "EBB_[A-Z_]+" _list "${_list}")
      string(REGEX REPLACE "^(ops/)?([^/]+)/.*" "\\2" _family ${_header})
      if(NOT _family IN_LIST ${families})
        list(APPEND ${families} ${_family})
        set(${_family}_headers "")
        set(${_family}_lists "")
      endif()
      string(APPEND ${_family}_headers "#include \"${_header}\"\n")
      string(APPEND ${_family}_lists "${_list}(EBB_ENTRY)\n")
    endif()
  endforeach()
endmacro()

# ebb_write_slots(<variable>): sets it to sources that define the slots, slots/<family>.cpp for each family.
function(ebb_write_slots variable)
  _ebb_find_kernel_lists(_families)
  foreach(_family IN LISTS _families)
    set(_source ${PROJECT_BINARY_DIR}/generated/slots/${_family}.cpp)
    file(CONFIGURE OUTPUT ${_source} @ONLY CONTENT "// The kernel slots of ${_family}.
${${_family}_headers}#include \"kernel/levels.h\"

namespace ebb::kernels {

#define EBB_ENTRY(kernel, op) constinit KernelSlot<decltype(cpu::kernel)> kernel{op, levels_of<cpu::kernel>}
${${_family}_lists}#undef EBB_ENTRY

}  // namespace ebb::kernels
")
    list(APPEND _sources ${_source})
  endforeach()
  set(${variable} ${_sources} PARENT_SCOPE)
endfunction()

# ebb_write_cuda_slots(<variable>): sets it to a source that defines ebb::cuda::fill_slots().
function(ebb_write_cuda_slots variable)
  _ebb_find_kernel_lists(_families)
  set(_headers "")
  set(_lists "")
  foreach(_family IN LISTS _families)
    string(APPEND _headers "${${_family}_headers}")
    string(APPEND _lists "${${_family}_lists}")
  endforeach()
  set(_source ${PROJECT_BINARY_DIR}/generated/slots/cuda/fill.cpp)
  file(CONFIGURE OUTPUT ${_source} @ONLY CONTENT "// Puts the CUDA kernels into their slots.
${_headers}
namespace ebb::cuda {

void fill_slots() {
#define EBB_ENTRY(kernel, op) kernels::kernel.set_cuda(&cuda::kernel)
${_lists}#undef EBB_ENTRY
}

}  // namespace ebb::cuda
")
  set(${variable} ${_source} PARENT_SCOPE)
endfunction()
