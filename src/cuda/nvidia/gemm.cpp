// Matrix products with cuBLASLt. The library's choice of algorithm is cached by sizes, strides, dtype and
// alignment.
#include "kernel/cuda/gemm.h"

#include <ebb/core/ndarray.h>
#include <ebb/cuda/cuda.h>

#include "cuda/nvidia/lru_cache.h"
#include "cuda/runtime.h"

#include <cublasLt.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <mutex>

namespace ebb::cuda {
namespace {

constexpr std::size_t kWorkspaceBytes = std::size_t{32} << 20;
constexpr std::size_t kMostPlans = 4096;  // per thread
// The number of algorithms that are requested. Several are requested, because the library may reject an
// algorithm that it proposed.
constexpr int kMostChoices = 4;
constexpr std::int32_t kMostAligned = 16;  // bytes; no algorithm loads more together
// The maximum number of matrices per launch, limited by the z dimension of a grid. It is a multiple of 8, so
// that all parts of a larger batch have the same alignment.
constexpr std::int64_t kMostMatrices = 65528;

void check_blas(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) [[likely]]
    return;
  ebb::detail::fail("CUDA: ", what, " failed: ", cublasLtGetStatusString(status), ".");
}

// The parameters that determine a plan, compared as bytes.
struct Key {
  std::int64_t m, n, k, batch;
  std::int64_t lda, ldb, ldc, stride_a, stride_b, stride_c;
  std::int32_t transpose_a, transpose_b, dtype, tf32, device, alignment;
  std::int32_t bias_alignment;  // 0: no bias
  std::int32_t epilogue;        // with a bias: a cublasLtEpilogue_t
  std::int64_t before_stride;   // 0: the argument of the activation is not stored
};

struct Types {
  cudaDataType_t data, scale;
  cublasComputeType_t compute;
};
Types types_of(DType dtype, bool tf32) {
  switch (dtype) {
    case kDouble:
      return {CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F};
    case kHalf:
      return {CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F};
    case kBFloat16:
      return {CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F};
    default:
      return {CUDA_R_32F, CUDA_R_32F, tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F};
  }
}

struct Plan {
  cublasLtMatmulDesc_t op = nullptr;
  cublasLtMatrixLayout_t a = nullptr, b = nullptr, c = nullptr;
  std::array<cublasLtMatmulHeuristicResult_t, kMostChoices> choices{};
  std::size_t count = 0, choice = 0;

  Plan() = default;
  Plan(const Plan&) = delete;
  ~Plan() {
    if (a) cublasLtMatrixLayoutDestroy(a);
    if (b) cublasLtMatrixLayoutDestroy(b);
    if (c) cublasLtMatrixLayoutDestroy(c);
    if (op) cublasLtMatmulDescDestroy(op);
  }
};

cublasLtMatrixLayout_t layout(cudaDataType_t type, std::int64_t rows, std::int64_t columns,
                              std::int64_t leading, std::int64_t batch, std::int64_t stride) {
  cublasLtMatrixLayout_t made = nullptr;
  check_blas(cublasLtMatrixLayoutCreate(&made, type, static_cast<std::uint64_t>(rows),
                                        static_cast<std::uint64_t>(columns), leading),
             "cublasLtMatrixLayoutCreate");
  const auto count = static_cast<std::int32_t>(batch);
  cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof(count));
  cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride,
                                   sizeof(stride));
  return made;
}

void set_bias(const Plan& plan, const void* bias) {
  check_blas(cublasLtMatmulDescSetAttribute(plan.op, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof(bias)),
             "cublasLtMatmulDescSetAttribute");
}

void set_before(const Plan& plan, const void* before) {
  check_blas(cublasLtMatmulDescSetAttribute(plan.op, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &before,
                                            sizeof(before)),
             "cublasLtMatmulDescSetAttribute");
}

cublasLtEpilogue_t epilogue_of(const GemmEpilogue& e) {
  switch (e.activation) {
    case GemmEpilogue::Activation::relu:
      return CUBLASLT_EPILOGUE_RELU_BIAS;
    case GemmEpilogue::Activation::gelu_tanh:
      return e.before.data ? CUBLASLT_EPILOGUE_GELU_AUX_BIAS : CUBLASLT_EPILOGUE_GELU_BIAS;
    default:
      return CUBLASLT_EPILOGUE_BIAS;
  }
}

// Creates a plan. Returns null if the library has no algorithm.
std::unique_ptr<Plan> make_plan(cublasLtHandle_t handle, const Key& key) {
  auto plan = std::make_unique<Plan>();
  const Types types = types_of(static_cast<DType>(key.dtype), key.tf32 != 0);
  check_blas(cublasLtMatmulDescCreate(&plan->op, types.compute, types.scale), "cublasLtMatmulDescCreate");
  const cublasOperation_t ta = key.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N,
                          tb = key.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N;
  cublasLtMatmulDescSetAttribute(plan->op, CUBLASLT_MATMUL_DESC_TRANSA, &ta, sizeof(ta));
  cublasLtMatmulDescSetAttribute(plan->op, CUBLASLT_MATMUL_DESC_TRANSB, &tb, sizeof(tb));
  if (key.bias_alignment) {
    const auto epilogue = static_cast<cublasLtEpilogue_t>(key.epilogue);
    check_blas(
        cublasLtMatmulDescSetAttribute(plan->op, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof(epilogue)),
        "cublasLtMatmulDescSetAttribute");
    // Passes an invented address with the key's alignment, because the heuristic reads only the alignment of
    // the pointer.
    set_bias(*plan, reinterpret_cast<const void*>(static_cast<std::uintptr_t>(key.bias_alignment)));
    if (key.before_stride) {
      check_blas(cublasLtMatmulDescSetAttribute(plan->op, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD,
                                                &key.before_stride, sizeof(key.before_stride)),
                 "cublasLtMatmulDescSetAttribute");
      set_before(*plan, reinterpret_cast<const void*>(std::uintptr_t{kMostAligned}));
    }
  }
  plan->a = key.transpose_a ? layout(types.data, key.k, key.m, key.lda, key.batch, key.stride_a)
                            : layout(types.data, key.m, key.k, key.lda, key.batch, key.stride_a);
  plan->b = key.transpose_b ? layout(types.data, key.n, key.k, key.ldb, key.batch, key.stride_b)
                            : layout(types.data, key.k, key.n, key.ldb, key.batch, key.stride_b);
  plan->c = layout(types.data, key.m, key.n, key.ldc, key.batch, key.stride_c);

  cublasLtMatmulPreference_t preference = nullptr;
  check_blas(cublasLtMatmulPreferenceCreate(&preference), "cublasLtMatmulPreferenceCreate");
  const std::uint64_t workspace = kWorkspaceBytes;
  cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace,
                                       sizeof(workspace));
  if (key.dtype == static_cast<std::int32_t>(kHalf) || key.dtype == static_cast<std::int32_t>(kBFloat16)) {
    // Allows only algorithms that also add partial sums in the compute type.
    const std::uint32_t schemes = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
    cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &schemes,
                                         sizeof(schemes));
  }
  const auto alignment = static_cast<std::uint32_t>(key.alignment);
  for (const auto attribute :
       {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES})
    cublasLtMatmulPreferenceSetAttribute(preference, attribute, &alignment, sizeof(alignment));
  int found = 0;
  const cublasStatus_t status =
      cublasLtMatmulAlgoGetHeuristic(handle, plan->op, plan->a, plan->b, plan->c, plan->c, preference,
                                     kMostChoices, plan->choices.data(), &found);
  cublasLtMatmulPreferenceDestroy(preference);
  if (status != CUBLAS_STATUS_NOT_SUPPORTED) check_blas(status, "cublasLtMatmulAlgoGetHeuristic");
  const auto usable =
      std::remove_if(plan->choices.begin(), plan->choices.begin() + found,
                     [](const auto& choice) { return choice.state != CUBLAS_STATUS_SUCCESS; });
  plan->count = static_cast<std::size_t>(usable - plan->choices.begin());
  return plan->count > 0 ? std::move(plan) : nullptr;
}

// Returns the device's handle. It exists as long as the process, and any thread may use it.
cublasLtHandle_t handle_of(Device device) {
  static std::mutex mutex;
  static std::array<cublasLtHandle_t, kMaxDevices> handles{};
  const std::lock_guard lock(mutex);
  cublasLtHandle_t& made = handles[static_cast<std::size_t>(device.index())];
  if (!made) check_blas(cublasLtCreate(&made), "cublasLtCreate");
  return made;
}

// The handles and plans of a thread. Each thread has its own, so that a launch needs no lock.
struct Library {
  std::array<cublasLtHandle_t, kMaxDevices> handles{};
  LruCache<Key, std::unique_ptr<Plan>> plans{kMostPlans};

  cublasLtHandle_t handle(Device device) {
    cublasLtHandle_t& known = handles[static_cast<std::size_t>(device.index())];
    if (!known) known = handle_of(device);
    return known;
  }
};

// A matrix for the column-major library: its leading dimension, and whether the library must transpose it.
struct Operand {
  std::int64_t leading;
  bool transposed;
  Operand(const BatchedMatrix& m) {
    // A row-major matrix is its transpose in column-major order.
    transposed = m.row_stride == 1 && m.column_stride >= std::max<std::int64_t>(m.rows, 1) &&
                 !(m.column_stride == 1 && m.row_stride >= m.columns);
    leading =
        std::max<std::int64_t>(transposed ? m.column_stride : m.row_stride, transposed ? m.rows : m.columns);
  }
};

std::int32_t alignment_of(const void* pointer) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  std::int32_t alignment = kMostAligned;
  while (address % static_cast<std::uintptr_t>(alignment) != 0) alignment /= 2;
  return alignment;
}

struct Call {
  Device device;
  DType dtype;
  std::int64_t batch;
  const BatchedMatrix &a, &b, &c;
  const GemmEpilogue& epilogue;
};

Key key_of(const Call& call) {
  // The row-major product c = a b is the column-major product c' = b' a'.
  const Operand first(call.b), second(call.a), result(call.c);
  Key key;
  std::memset(&key, 0, sizeof(key));
  key.m = call.c.columns;
  key.n = call.c.rows;
  key.k = call.a.columns;
  key.batch = call.batch;
  key.lda = first.leading;
  key.ldb = second.leading;
  key.ldc = result.leading;
  key.stride_a = call.b.batch_stride;
  key.stride_b = call.a.batch_stride;
  key.stride_c = call.c.batch_stride;
  key.transpose_a = first.transposed;
  key.transpose_b = second.transposed;
  key.dtype = static_cast<std::int32_t>(call.dtype);
  key.tf32 = call.dtype == kFloat && is_tf32_allowed();
  key.device = call.device.index();
  key.alignment = std::min({alignment_of(call.a.data), alignment_of(call.b.data), alignment_of(call.c.data)});
  const GemmEpilogue& e = call.epilogue;
  key.bias_alignment = e.bias ? alignment_of(e.bias) : 0;
  key.epilogue = e.bias ? static_cast<std::int32_t>(epilogue_of(e)) : 0;
  key.before_stride = e.before.data ? e.before.row_stride : 0;
  return key;
}

// Runs the product. Returns false if the library has no algorithm.
bool run(const Call& call, double alpha, double beta) {
  static thread_local Library library;
  const DeviceScope scope(call.device);
  const cublasLtHandle_t handle = library.handle(call.device);
  const Key key = key_of(call);
  const std::unique_ptr<Plan>* known = library.plans.find(key);
  if (!known) known = &library.plans.insert(key, make_plan(handle, key));
  Plan* const plan = known->get();
  if (!plan) return false;
  if (call.epilogue.bias) set_bias(*plan, call.epilogue.bias);
  if (call.epilogue.before.data) set_before(*plan, call.epilogue.before.data);
  const float alpha32 = static_cast<float>(alpha), beta32 = static_cast<float>(beta);
  const bool wide = call.dtype == kDouble;
  for (; plan->choice < plan->count; ++plan->choice) {
    const cublasLtMatmulHeuristicResult_t& choice = plan->choices[plan->choice];
    const std::size_t bytes = choice.workspaceSize;
    const NdArray workspace =
        bytes > 0 ? NdArray::empty({static_cast<std::int64_t>(bytes)}, kByte, call.device) : NdArray();
    const cublasStatus_t status =
        cublasLtMatmul(handle, plan->op, wide ? static_cast<const void*>(&alpha) : &alpha32, call.b.data,
                       plan->a, call.a.data, plan->b, wide ? static_cast<const void*>(&beta) : &beta32,
                       call.c.data, plan->c, call.c.data, plan->c, &choice.algo,
                       bytes > 0 ? workspace.address() : nullptr, bytes, current_stream(call.device));
    if (status == CUBLAS_STATUS_NOT_SUPPORTED) continue;
    check_blas(status, "cublasLtMatmul");
    return true;
  }
  return false;
}

BatchedMatrix from(const BatchedMatrix& m, std::int64_t first, DType dtype) {
  BatchedMatrix rest = m;
  rest.data = static_cast<char*>(m.data) + first * m.batch_stride * element_size(dtype);
  return rest;
}

}  // namespace

bool library_gemm(Device device, DType dtype, std::int64_t batch, const BatchedMatrix& a,
                  const BatchedMatrix& b, const BatchedMatrix& c, double alpha, double beta) {
  for (std::int64_t first = 0; first < batch; first += kMostMatrices) {
    const BatchedMatrix x = from(a, first, dtype), y = from(b, first, dtype), z = from(c, first, dtype);
    if (run({device, dtype, std::min(batch - first, kMostMatrices), x, y, z, {}}, alpha, beta)) continue;
    EBB_CHECK(first == 0, "matmul: cuBLASLt has no algorithm for ", batch - first,
              " products of a batch, but it has one for ", kMostMatrices, ".");
    return false;
  }
  return true;
}

bool gemm_epilogue(Device device, DType dtype, const BatchedMatrix& a, const BatchedMatrix& b,
                   const BatchedMatrix& c, const GemmEpilogue& epilogue) {
  return dtype != kDouble && run({device, dtype, 1, a, b, c, epilogue}, 1, 0);
}

}  // namespace ebb::cuda
