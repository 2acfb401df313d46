// The functions of cuBLASLt that ebb calls, with one algorithm for every product.
#include "cuda/ptx/runtime/bridge.h"

#include <cublasLt.h>

#include <cstdint>
#include <cstring>

namespace {

using namespace ebb::ptx;

struct Operation {
  cudaDataType_t scale = CUDA_R_32F;
  cublasOperation_t transpose_a = CUBLAS_OP_N, transpose_b = CUBLAS_OP_N;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void* bias = nullptr;
  void* argument = nullptr;
  std::int64_t argument_leading = 0;
};
struct Layout {
  cudaDataType_t type;
  std::uint64_t rows, columns;
  std::int64_t leading, stride = 0;
  std::int32_t batch = 1;
};
struct Preference {};

const Operation& of(cublasLtMatmulDesc_t handle) { return *reinterpret_cast<const Operation*>(handle); }
const Layout& of(cublasLtMatrixLayout_t handle) { return *reinterpret_cast<const Layout*>(handle); }

// Sets a field that has the size of the value.
template <class T>
cublasStatus_t set(T& field, const void* value, std::size_t bytes) {
  if (bytes != sizeof(field)) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(&field, value, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

bool to_element(cudaDataType_t type, Element& element) {
  switch (type) {
    case CUDA_R_64F:
      element = Element::f64;
      return true;
    case CUDA_R_32F:
      element = Element::f32;
      return true;
    case CUDA_R_16F:
      element = Element::f16;
      return true;
    case CUDA_R_16BF:
      element = Element::bf16;
      return true;
    default:
      return false;
  }
}

bool to_matrices(const Layout& layout, const void* data, Matrices& matrices) {
  matrices = {const_cast<void*>(data),
              {},
              static_cast<std::int64_t>(layout.rows),
              static_cast<std::int64_t>(layout.columns),
              layout.leading,
              layout.stride};
  return to_element(layout.type, matrices.element) && layout.leading >= matrices.rows;
}

// Returns false for combinations that cuBLASLt does not support either.
bool to_epilogue(const Operation& op, Product& p) {
  p.bias = op.epilogue & CUBLASLT_EPILOGUE_BIAS ? op.bias : nullptr;
  switch (op.epilogue) {
    case CUBLASLT_EPILOGUE_DEFAULT:
      return true;
    case CUBLASLT_EPILOGUE_BIAS:
      break;
    case CUBLASLT_EPILOGUE_RELU_BIAS:
      p.activation = Activation::relu;
      break;
    case CUBLASLT_EPILOGUE_GELU_AUX_BIAS:
      p.argument = op.argument;
      p.argument_leading = op.argument_leading;
      if (p.argument_leading < p.out.rows || p.argument_leading % 8 != 0 ||
          reinterpret_cast<std::uintptr_t>(p.argument) % 16 != 0)
        return false;
      [[fallthrough]];
    case CUBLASLT_EPILOGUE_GELU_BIAS:
      p.activation = Activation::gelu_tanh;
      break;
    default:
      return false;
  }
  return p.out.element != Element::f64;
}

double number(const void* value, cudaDataType_t type) {
  return type == CUDA_R_64F ? *static_cast<const double*>(value) : *static_cast<const float*>(value);
}

}  // namespace

std::size_t cublasLtGetVersion() { return CUBLAS_VERSION; }
const char* cublasLtGetStatusString(cublasStatus_t status) {
  return status == CUBLAS_STATUS_SUCCESS         ? "success"
         : status == CUBLAS_STATUS_NOT_SUPPORTED ? "not supported"
                                                 : "an error of the stand-in for cuBLASLt";
}
cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  static Preference nothing;  // handles have no state
  *handle = reinterpret_cast<cublasLtHandle_t>(&nothing);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* made, cublasComputeType_t,
                                        cudaDataType_t scale) {
  *made = reinterpret_cast<cublasLtMatmulDesc_t>(new Operation{scale});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t op) {
  delete reinterpret_cast<Operation*>(op);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t handle,
                                              cublasLtMatmulDescAttributes_t attribute, const void* value,
                                              std::size_t bytes) {
  Operation& op = *reinterpret_cast<Operation*>(handle);
  switch (attribute) {
    case CUBLASLT_MATMUL_DESC_TRANSA:
      return set(op.transpose_a, value, bytes);
    case CUBLASLT_MATMUL_DESC_TRANSB:
      return set(op.transpose_b, value, bytes);
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
      return set(op.epilogue, value, bytes);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
      return set(op.bias, value, bytes);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER:
      return set(op.argument, value, bytes);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD:
      return set(op.argument_leading, value, bytes);
    default:
      return CUBLAS_STATUS_NOT_SUPPORTED;
  }
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* made, cudaDataType type, std::uint64_t rows,
                                          std::uint64_t columns, std::int64_t leading) {
  *made = reinterpret_cast<cublasLtMatrixLayout_t>(new Layout{type, rows, columns, leading});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  delete reinterpret_cast<Layout*>(layout);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t handle,
                                                cublasLtMatrixLayoutAttribute_t attribute, const void* value,
                                                std::size_t bytes) {
  Layout& layout = *reinterpret_cast<Layout*>(handle);
  switch (attribute) {
    case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT:
      return set(layout.batch, value, bytes);
    case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET:
      return set(layout.stride, value, bytes);
    default:
      return CUBLAS_STATUS_NOT_SUPPORTED;
  }
}

// Preferences do not matter, because there is one algorithm without a workspace.
cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* made) {
  *made = reinterpret_cast<cublasLtMatmulPreference_t>(new Preference);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  delete reinterpret_cast<Preference*>(preference);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t,
                                                    cublasLtMatmulPreferenceAttributes_t, const void*,
                                                    std::size_t) {
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                              cublasLtMatrixLayout_t, cublasLtMatmulPreference_t, int wanted,
                                              cublasLtMatmulHeuristicResult_t* results, int* found) {
  *found = wanted > 0;
  if (*found) *results = {};
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t op_handle, const void* alpha,
                              const void* a, cublasLtMatrixLayout_t a_layout, const void* b,
                              cublasLtMatrixLayout_t b_layout, const void* beta, const void* c,
                              cublasLtMatrixLayout_t c_layout, void* out, cublasLtMatrixLayout_t out_layout,
                              const cublasLtMatmulAlgo_t*, void*, std::size_t, cudaStream_t stream) {
  const Operation& op = of(op_handle);
  Product p;
  p.transpose_a = op.transpose_a != CUBLAS_OP_N;
  p.transpose_b = op.transpose_b != CUBLAS_OP_N;
  p.batch = of(out_layout).batch;
  p.alpha = number(alpha, op.scale);
  p.beta = number(beta, op.scale);
  if (!to_matrices(of(a_layout), a, p.a) || !to_matrices(of(b_layout), b, p.b) ||
      !to_matrices(of(c_layout), c, p.c) || !to_matrices(of(out_layout), out, p.out) || !to_epilogue(op, p))
    return CUBLAS_STATUS_INVALID_VALUE;
  const std::int64_t left = p.transpose_a ? p.a.columns : p.a.rows,
                     inner = p.transpose_a ? p.a.rows : p.a.columns;
  const std::int64_t right = p.transpose_b ? p.b.rows : p.b.columns;
  if (left != p.out.rows || right != p.out.columns || inner != (p.transpose_b ? p.b.columns : p.b.rows))
    return CUBLAS_STATUS_INVALID_VALUE;
  return enqueue(stream, [p] { compute(p); }) ? CUBLAS_STATUS_EXECUTION_FAILED : CUBLAS_STATUS_SUCCESS;
}
