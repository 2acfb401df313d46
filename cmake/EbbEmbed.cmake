# ebb_embed_headers(<variable>): sets <variable> to a generated source with the text of every header that run-time
# compiled kernels include (src/cuda/jit_kernels.h).
function(ebb_embed_headers variable)
  set(_src ${PROJECT_SOURCE_DIR}/src)
  set(_include ${PROJECT_SOURCE_DIR}/include)
  file(GLOB _formulas CONFIGURE_DEPENDS ${_src}/ops/elementwise/formulas/*.h ${_src}/ops/elementwise/formulas/special/*.h)
  set(TABLE "")
  foreach(_file IN ITEMS ${_src}/ops/elementwise/cuda_chain.h ${_src}/ops/elementwise/cuda_chain_rows.h
      ${_src}/ops/elementwise/cuda_chain_columns.h
      ${_src}/kernel/cuda/vector.h ${_src}/kernel/carrier.h ${_src}/kernel/convert.h ${_src}/kernel/reducers.h
      ${_src}/kernel/arithmetic.h ${_src}/ops/elementwise/formula.h ${_formulas}
      ${_include}/ebb/fwd.h ${_include}/ebb/core/api.h ${_include}/ebb/core/dtype.h ${_include}/ebb/core/error.h
      ${_include}/ebb/core/half.h ${_include}/ebb/core/scalar.h ${_src}/cuda/nvidia/device_std.h)
    file(READ ${_file} _text)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${_file})
    string(REGEX REPLACE "^(${_src}|${_include})/" "" _name ${_file})
    string(APPEND TABLE "    {\"${_name}\", R\"embedded(${_text})embedded\"},\n")
  endforeach()
  string(SHA256 DIGEST "${TABLE}")
  set(_generated ${PROJECT_BINARY_DIR}/generated/cuda/embedded_headers.cpp)
  configure_file(${_src}/cuda/embedded_headers.cpp.in ${_generated} @ONLY)
  set(${variable} ${_generated} PARENT_SCOPE)
endfunction()
