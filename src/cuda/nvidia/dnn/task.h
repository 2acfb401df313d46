// A task for cuDNN: the problem that determines its plan, its operation graph and its memory. Each operation
// has a file: convolution.cpp, batch_norm.cpp, attention.cpp.
#pragma once

#include "cuda/nvidia/dnn/descriptor.h"
#include "cuda/nvidia/dnn/problem.h"
#include "kernel/cuda/dnn.h"

namespace ebb::cuda::dnn {

/// The tensors of a graph; the ids to which the program binds memory.
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

/// The device for which engines are requested: an existing one, by a handle, or a described one, by its
/// properties.
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
  std::vector<void*> memory;  // by id

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

/// Returns the descriptor of a task's memory for an execution; `workspace`, the plan's scratch memory, may be
/// null.
Descriptor variant_pack(const Task& task, void* workspace);

}  // namespace ebb::cuda::dnn
