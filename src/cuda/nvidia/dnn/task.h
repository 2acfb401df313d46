// A task for cuDNN: the parameters that determine its plan, its operation graph and its memory. Each
// operation has a file: convolution.cpp, batch_norm.cpp, attention.cpp.
#pragma once

#include <ebb/core/ndarray.h>

#include "cuda/nvidia/dnn/descriptor.h"
#include "kernel/cuda/dnn.h"

namespace ebb::cuda::dnn {

constexpr std::int32_t kMostAligned = 16;  // bytes; cuDNN does not benefit from more

enum class Operation : std::int32_t {
  conv_forward,
  conv_input,
  conv_weight,
  batch_norm,
  batch_norm_backward,
  attention,
  attention_backward
};

constexpr bool is_convolution(Operation operation) { return operation <= Operation::conv_weight; }

/// The cache key of a plan, compared as bytes. Memory strides follow from sizes and layout. Fields that an
/// operation does not use are 0.
struct Problem {
  std::int64_t in[5], out[5];  // sizes (rows, channels, spatial axes); for attention: of query and result
  std::int64_t window[5];      // sizes of a convolution's weight, or of attention's key
  std::int64_t stride[3], padding[3], dilation[3];
  std::int64_t steps[3][3];  // for attention: strides of samples, heads and rows of query, key, value
  std::int32_t axes;         // 2 or 3; with fewer spatial axes, axes of size 1 are added in front
  Operation operation;
  std::int32_t dtype;
  std::int32_t channels_last, bias, relu;
  std::int32_t tf32, deterministic, benchmarked;
  std::int32_t device, alignment, causal;

  /// Sets `deterministic` to the program's setting. tf32 and benchmarked are false.
  Problem(Operation operation, const NdArray& in, const NdArray& out);

  void set_window(IntArrayRef sizes);
  void set_steps(IntArrayRef stride, IntArrayRef padding);
  void set_dilation(IntArrayRef dilation);
  /// Reduces `alignment` to the alignment of x, an array that the plan reads or writes.
  void take(const NdArray& x);

  DType type() const { return static_cast<DType>(dtype); }
};

/// The ids of a graph's tensors, by which memory is assigned to the tensors.
enum Uid : std::int64_t {
  kIn = 1,
  kWeight,
  kOut,
  kBias,
  kMean,
  kRstd,
  kEps,
  kInGrad,
  kOutGrad,
  kWeightGrad,
  kBiasGrad,
  kSum,
  kShifted,
  kQuery,
  kKey,
  kValue,
  kLogSum,
  kScale,
  kNever,
  kOne,
  kQueryGrad,
  kKeyGrad,
  kValueGrad,
  kQuerySum,
  kDelta,
  kFirstBetween  // and following: virtual tensors of an attention graph
};

/// An operation graph and the descriptors that it consists of.
struct Graph {
  std::vector<Descriptor> parts;
  Descriptor operations{CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR};
};

/// The device for which engines are requested: the device of a handle, or a device that is only described by
/// its properties.
struct Target {
  cudnnHandle_t handle = nullptr;
  const Descriptor* properties = nullptr;

  void give(Descriptor& to, cudnnBackendAttributeName_t handle_attribute,
            cudnnBackendAttributeName_t properties_attribute) const {
    if (handle)
      to.set(handle_attribute, handle);
    else
      to.set(properties_attribute, *properties);
  }
};

struct Task {
  Problem problem;
  Graph (*graph)(const Problem& problem, const Target& target);
  std::vector<std::int64_t> ids;
  std::vector<void*> memory;  // indexed by id

  void bind(Uid uid, const NdArray& array) { bind(uid, array.address()); }
  void bind(Uid uid, void* address) {
    ids.push_back(uid);
    memory.push_back(address);
  }
};

Task task_of(const DnnConvolution& convolution);
/// Returns the task of a batch norm. `norm` must outlive the task, which reads its eps.
Task task_of(const DnnBatchNorm& norm);
Task task_of(const DnnBatchNormBackward& norm);
/// Returns the task of attention. `attention` must outlive the task, which reads its scale.
Task task_of(const DnnAttention& attention);
Task task_of(const DnnAttentionBackward& attention);

/// Returns the descriptor of a task's memory for an execution; `workspace`, the plan's scratch memory, may be
/// null.
Descriptor variant_pack(const Task& task, void* workspace);

}  // namespace ebb::cuda::dnn
