// Work as cuDNN sees it: what its plan depends on, its operation graph and its memory. A file an operation:
// convolution.cpp, batch_norm.cpp, attention.cpp.
#pragma once

#include "cuda/nvidia/dnn/descriptor.h"
#include "cuda/nvidia/dnn/problem.h"
#include "kernel/cuda/dnn.h"

namespace ebb::cuda::dnn {

/// The tensors of a graph by the names that the program binds memory to.
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
  kFirstBetween  // and on: what is handed on within a graph of attention
};

/// Operations and all that they are made of.
struct Graph {
  std::vector<Descriptor> parts;
  Descriptor operations{CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR};
};

/// What engines are asked for: those of a device that is there, by a handle, or of one that is only
/// described.
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
  std::vector<void*> memory;  // of each id

  void bind(Uid uid, const NdArray& array) { bind(uid, array.address()); }
  void bind(Uid uid, void* address) {
    ids.push_back(uid);
    memory.push_back(address);
  }
};

Task task_of(const DnnConvolution& convolution);
/// `norm` must outlive the task, which reads its eps.
Task task_of(const DnnBatchNorm& norm);
Task task_of(const DnnBatchNormBackward& norm);
/// `attention` must outlive the task, which reads its scale.
Task task_of(const DnnAttention& attention);
Task task_of(const DnnAttentionBackward& attention);

/// The memory of a task, and scratch (may be null) for its plan, as an execution takes them.
Descriptor variant_pack(const Task& task, void* workspace);

}  // namespace ebb::cuda::dnn
