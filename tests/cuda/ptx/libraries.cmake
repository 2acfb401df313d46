# The PTX interpreter, and the libraries of EBB_CUDA=PTX that replace those of NVIDIA in the plugin.

# ebb_ptx, the PTX interpreter. It computes like a device: it fuses only operations that the program fuses, and supports
# all rounding modes.
if(NOT TARGET ebb_ptx)
  file(GLOB _interpreter CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/interpreter/*.cpp)
  add_library(ebb_ptx STATIC ${_interpreter})
  ebb_own_target(ebb_ptx)
  set_target_properties(ebb_ptx PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_include_directories(ebb_ptx PUBLIC ${PROJECT_SOURCE_DIR}/tests)
  target_compile_options(ebb_ptx PRIVATE -O2 -ffp-contract=off -frounding-math)
endif()
if(NOT EBB_CUDA_BACKEND STREQUAL "PTX" OR TARGET ebb_ptx_runtime)
  return()
endif()

set(_ptx ${CMAKE_CURRENT_LIST_DIR})

# The emulated runtime, and the functions of libcudart that connect it with the interpreter.
set(_emulated device memory stream captured_graph virtual_memory)
list(TRANSFORM _emulated REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/tests/cuda/emu/runtime/\\1.cpp")
file(GLOB _runtime CONFIGURE_DEPENDS ${_ptx}/runtime/*.cpp)
add_library(ebb_ptx_runtime OBJECT ${_emulated} ${_runtime})
target_include_directories(ebb_ptx_runtime PRIVATE ${PROJECT_SOURCE_DIR}/tests/cuda/emu/runtime/include)
target_compile_definitions(ebb_ptx_runtime PRIVATE EBB_CUDA_EMU)

# The part that needs the types of NVIDIA's headers.
file(GLOB _toolkit CONFIGURE_DEPENDS ${_ptx}/runtime/toolkit/*.cpp)
add_library(ebb_ptx_toolkit OBJECT ${_toolkit})
target_link_libraries(ebb_ptx_toolkit PRIVATE CUDA::toolkit)

foreach(_target ebb_ptx_runtime ebb_ptx_toolkit)
  ebb_own_target(${_target})
  set_target_properties(${_target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_include_directories(${_target} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/tests)
endforeach()
