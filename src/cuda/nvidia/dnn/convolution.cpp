#include "cuda/nvidia/dnn/convolution.h"

#include <ebb/core/deterministic.h>
#include <ebb/cuda/cuda.h>

#include <algorithm>
#include <cstring>

namespace ebb::cuda::dnn {
namespace {

void read_sizes(std::int64_t (&to)[5], const NdArray& x, int axes) {
  const IntArrayRef sizes = x.sizes();
  to[0] = sizes[0];
  to[1] = sizes[1];
  const int given = static_cast<int>(sizes.size()) - 2;
  for (int a = 0; a < axes; ++a)
    to[2 + a] = a < axes - given ? 1 : sizes[static_cast<std::size_t>(2 + a - (axes - given))];
}

void read_axes(std::int64_t (&to)[3], IntArrayRef values, int axes, std::int64_t fill) {
  const int given = static_cast<int>(values.size());
  for (int a = 0; a < axes; ++a)
    to[a] = a < axes - given ? fill : values[static_cast<std::size_t>(a - (axes - given))];
}

constexpr std::int64_t kMostAligned = 16;  // bytes; cuDNN gains nothing from more

std::int32_t alignment_of(const NdArray& x) {
  const auto address = reinterpret_cast<std::uintptr_t>(x.data());
  std::int32_t alignment = kMostAligned;
  while (address % static_cast<std::uintptr_t>(alignment) != 0) alignment /= 2;
  return alignment;
}

cudnnDataType_t type_of(DType dtype) {
  switch (dtype) {
    case kDouble:
      return CUDNN_DATA_DOUBLE;
    case kHalf:
      return CUDNN_DATA_HALF;
    case kBFloat16:
      return CUDNN_DATA_BFLOAT16;
    default:
      return CUDNN_DATA_FLOAT;
  }
}

// Adds descriptors to a graph.
class Builder {
 public:
  Builder(const Problem& problem, Graph& graph) : p_(problem), graph_(graph) {}

  cudnnDataType_t compute_type() const {
    return p_.dtype == static_cast<std::int32_t>(kDouble) ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
  }

  const Descriptor& keep(Descriptor part) {
    part.finalize();
    return graph_.parts.emplace_back(std::move(part));
  }

  // A tensor in memory, or (virtual) one that is handed from one operation to the next, unrounded.
  const Descriptor& tensor(Uid uid, const std::int64_t* sizes, bool is_virtual = false) {
    const std::size_t dims = static_cast<std::size_t>(p_.axes) + 2;
    const std::vector<std::int64_t> shape(sizes, sizes + dims);
    const DimVector strides = p_.channels_last ? channels_last_strides(shape) : contiguous_strides(shape);
    Descriptor t(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    t.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, static_cast<std::int64_t>(uid));
    t.set(CUDNN_ATTR_TENSOR_DATA_TYPE, is_virtual ? compute_type() : type_of(static_cast<DType>(p_.dtype)));
    t.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, is_virtual ? kMostAligned : std::int64_t{p_.alignment});
    t.set(CUDNN_ATTR_TENSOR_DIMENSIONS, shape);
    t.set(CUDNN_ATTR_TENSOR_STRIDES, std::vector<std::int64_t>(strides.begin(), strides.end()));
    t.set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, is_virtual);
    return keep(std::move(t));
  }

  const Descriptor& geometry() {
    Descriptor c(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
    c.set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, static_cast<std::int64_t>(p_.axes));
    c.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, compute_type());
    c.set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_CROSS_CORRELATION);
    c.set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, p_.stride, p_.axes);
    c.set(CUDNN_ATTR_CONVOLUTION_DILATIONS, p_.dilation, p_.axes);
    c.set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, p_.padding, p_.axes);
    // As much behind the input as before it, unless the output asks for more: padding "same" of an even
    // kernel.
    std::int64_t post[3];
    for (int a = 0; a < p_.axes; ++a) {
      const std::int64_t reach = (p_.weight[2 + a] - 1) * p_.dilation[a] + 1,
                         end = (p_.out[2 + a] - 1) * p_.stride[a] + reach;
      post[a] = std::max(p_.padding[a], end - p_.padding[a] - p_.in[2 + a]);
    }
    c.set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, post, p_.axes);
    return keep(std::move(c));
  }

  // alpha = 1, beta = 0, in the type that the scales of this dtype have.
  void set_scales(Descriptor& operation, cudnnBackendAttributeName_t alpha,
                  cudnnBackendAttributeName_t beta) {
    if (compute_type() == CUDNN_DATA_DOUBLE)
      operation.set(alpha, 1.0).set(beta, 0.0);
    else
      operation.set(alpha, 1.0F).set(beta, 0.0F);
  }

  const Descriptor& convolution(const Descriptor& out) {
    const Descriptor& c = geometry();
    switch (static_cast<DnnConv>(p_.kind)) {
      case DnnConv::input: {
        Descriptor op(CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR);
        op.set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC, c);
        op.set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY, out);
        op.set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W, tensor(kWeight, p_.weight));
        op.set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, tensor(kIn, p_.in));
        set_scales(op, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
                   CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA);
        return keep(std::move(op));
      }
      case DnnConv::weight: {
        Descriptor op(CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR);
        op.set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC, c);
        op.set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY, out);
        op.set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X, tensor(kIn, p_.in));
        op.set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW, tensor(kWeight, p_.weight));
        set_scales(op, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
                   CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA);
        return keep(std::move(op));
      }
      default: {
        Descriptor op(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
        op.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, c);
        op.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, tensor(kIn, p_.in));
        op.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, tensor(kWeight, p_.weight));
        op.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, out);
        set_scales(op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
                   CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA);
        return keep(std::move(op));
      }
    }
  }

  const Descriptor& pointwise(cudnnPointwiseMode_t mode, const Descriptor& x, const Descriptor* b,
                              const Descriptor& y) {
    Descriptor how(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
    how.set(CUDNN_ATTR_POINTWISE_MODE, mode).set(CUDNN_ATTR_POINTWISE_MATH_PREC, compute_type());
    const Descriptor& kept = keep(std::move(how));
    Descriptor op(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    op.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, kept);
    op.set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x);
    if (b) op.set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, *b);
    op.set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y);
    return keep(std::move(op));
  }

 private:
  const Problem& p_;
  Graph& graph_;
};

constexpr std::size_t kMostParts = 16;

}  // namespace

Problem::Problem(const DnnConvolution& c) {
  std::memset(this, 0, sizeof(*this));
  axes = std::max(2, static_cast<int>(c.in.dim()) - 2);
  read_sizes(in, c.in, axes);
  read_sizes(weight, c.weight, axes);
  read_sizes(out, c.out, axes);
  read_axes(stride, c.stride, axes, 1);
  read_axes(padding, c.padding, axes, 0);
  read_axes(dilation, c.dilation, axes, 1);
  kind = static_cast<std::int32_t>(c.kind);
  dtype = static_cast<std::int32_t>(c.in.dtype());
  channels_last = !(c.in.is_contiguous() && c.weight.is_contiguous() && c.out.is_contiguous());
  bias = c.bias != nullptr;
  relu = c.relu;
  tf32 = c.in.dtype() == kFloat && is_tf32_allowed();
  deterministic = are_deterministic_algorithms_enabled();
  benchmarked = are_convolutions_benchmarked();
  device = c.in.device().index();
  alignment = std::min({alignment_of(c.in), alignment_of(c.weight), alignment_of(c.out)});
  if (c.bias) alignment = std::min(alignment, alignment_of(*c.bias));
}

Graph convolution_graph(const Problem& p, const Target& target) {
  Graph graph;
  graph.parts.reserve(kMostParts);  // references into it are kept while it grows
  Builder build(p, graph);
  std::vector<cudnnBackendDescriptor_t> operations;
  const Descriptor& sum = build.tensor(p.bias ? kSum : kOut, p.out, p.bias != 0);
  operations.push_back(build.convolution(sum).raw());
  if (p.bias) {
    const std::int64_t channels[5] = {1, p.out[1], 1, 1, 1};
    const Descriptor& bias = build.tensor(kBias, channels);
    const Descriptor& shifted = build.tensor(p.relu ? kShifted : kOut, p.out, p.relu != 0);
    operations.push_back(build.pointwise(CUDNN_POINTWISE_ADD, sum, &bias, shifted).raw());
    if (p.relu) {
      const Descriptor& out = build.tensor(kOut, p.out);
      operations.push_back(build.pointwise(CUDNN_POINTWISE_RELU_FWD, shifted, nullptr, out).raw());
    }
  }
  if (target.handle) graph.operations.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, target.handle);
  graph.operations.set_descriptors(CUDNN_ATTR_OPERATIONGRAPH_OPS, operations);
  graph.operations.finalize();
  return graph;
}

Descriptor variant_pack(const DnnConvolution& c, void* workspace) {
  std::vector<std::int64_t> ids{kIn, kWeight, kOut};
  std::vector<void*> memory{c.in.data(), c.weight.data(), c.out.data()};
  if (c.bias) {
    ids.push_back(kBias);
    memory.push_back(c.bias->data());
  }
  Descriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, ids);
  pack.set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, memory);
  pack.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, workspace);
  pack.finalize();
  return pack;
}

}  // namespace ebb::cuda::dnn
