// The subset of NVIDIA's cublasLt.h that ebb needs: a library that computes nothing and counts its calls.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <memory>

enum cublasStatus_t { CUBLAS_STATUS_SUCCESS = 0, CUBLAS_STATUS_NOT_SUPPORTED = 15 };
enum cudaDataType_t { CUDA_R_32F, CUDA_R_64F, CUDA_R_16F, CUDA_R_16BF };
enum cublasComputeType_t { CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_32F_FAST_TF32, CUBLAS_COMPUTE_64F };
enum cublasOperation_t { CUBLAS_OP_N, CUBLAS_OP_T };
enum cublasLtEpilogue_t {
  CUBLASLT_EPILOGUE_BIAS,
  CUBLASLT_EPILOGUE_RELU_BIAS,
  CUBLASLT_EPILOGUE_GELU_BIAS,
  CUBLASLT_EPILOGUE_GELU_AUX_BIAS
};
enum cublasLtAttribute {
  CUBLASLT_MATMUL_DESC_TRANSA,
  CUBLASLT_MATMUL_DESC_TRANSB,
  CUBLASLT_MATMUL_DESC_EPILOGUE,
  CUBLASLT_MATMUL_DESC_BIAS_POINTER,
  CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER,
  CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD,
  CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT,
  CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
  CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
  CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES
};
constexpr std::uint32_t CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE = 2;

struct cublasLtObject {
  std::uint32_t alignment = 0;  // of a preference
};
using cublasLtHandle_t = cublasLtObject*;
using cublasLtMatmulDesc_t = cublasLtObject*;
using cublasLtMatrixLayout_t = cublasLtObject*;
using cublasLtMatmulPreference_t = cublasLtObject*;

struct cublasLtMatmulAlgo_t {};
struct cublasLtMatmulHeuristicResult_t {
  cublasLtMatmulAlgo_t algo;
  std::size_t workspaceSize;
  cublasStatus_t state;
};

namespace ebb::emu {

/// The number of algorithm queries, the number of products, and the alignment below which there is no
/// algorithm.
inline long blas_questions = 0, blas_products = 0;
inline std::uint32_t blas_alignment = 1;
/// The number of live descriptors.
inline long blas_objects = 0;

inline cublasStatus_t make_blas_object(cublasLtObject** object) {
  ++blas_objects;
  *object = new cublasLtObject();
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t destroy_blas_object(const cublasLtObject* object) {
  --blas_objects;
  delete object;
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace ebb::emu

inline const char* cublasLtGetStatusString(cublasStatus_t) { return "a status"; }
inline cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) { return ebb::emu::make_blas_object(handle); }
inline cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* made, cudaDataType_t, std::uint64_t,
                                                 std::uint64_t, std::int64_t) {
  return ebb::emu::make_blas_object(made);
}
inline cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* made, cublasComputeType_t,
                                               cudaDataType_t) {
  return ebb::emu::make_blas_object(made);
}
inline cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* made) {
  return ebb::emu::make_blas_object(made);
}
inline cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t object) {
  return ebb::emu::destroy_blas_object(object);
}
inline cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t object) {
  return ebb::emu::destroy_blas_object(object);
}
inline cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t object) {
  return ebb::emu::destroy_blas_object(object);
}
inline cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t, cublasLtAttribute, const void*,
                                                       std::size_t) {
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t, cublasLtAttribute, const void*,
                                                     std::size_t) {
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                           cublasLtAttribute attribute, const void* value,
                                                           std::size_t) {
  if (attribute == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES)
    preference->alignment = *static_cast<const std::uint32_t*>(value);
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t,
                                                     cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                                     cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                                     cublasLtMatmulPreference_t preference, int,
                                                     cublasLtMatmulHeuristicResult_t* results, int* found) {
  ++ebb::emu::blas_questions;
  if (preference->alignment < ebb::emu::blas_alignment) return CUBLAS_STATUS_NOT_SUPPORTED;
  results[0] = {{}, 0, CUBLAS_STATUS_SUCCESS};
  *found = 1;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t, const void*, const void*,
                                     cublasLtMatrixLayout_t, const void*, cublasLtMatrixLayout_t, const void*,
                                     const void*, cublasLtMatrixLayout_t, void*, cublasLtMatrixLayout_t,
                                     const cublasLtMatmulAlgo_t*, void*, std::size_t, cudaStream_t) {
  ++ebb::emu::blas_products;
  return CUBLAS_STATUS_SUCCESS;
}
