# ebb_ptx, the PTX interpreter. It computes like a device: it fuses only operations that the program fuses, and supports
# all rounding modes.
if(TARGET ebb_ptx)
  return()
endif()
file(GLOB _interpreter CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/interpreter/*.cpp)
add_library(ebb_ptx STATIC ${_interpreter})
ebb_own_target(ebb_ptx)
set_target_properties(ebb_ptx PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_include_directories(ebb_ptx PUBLIC ${PROJECT_SOURCE_DIR}/tests)
target_compile_options(ebb_ptx PRIVATE -O2 -ffp-contract=off -frounding-math)
