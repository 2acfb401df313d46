// Convolution on a CUDA device. If cuDNN has an algorithm, cuDNN is used. Otherwise a direct kernel computes
// the convolution, for any geometry, dtype and layout. Each thread of the direct kernel computes one result
// and adds its terms in a fixed order.
#include <ebb/core/visit.h>

#include "kernel/call/arguments.h"
#include "kernel/convert.h"
#include "kernel/cuda/map.h"
#include "kernel/cuda/walk.h"
#include "ops/conv/cuda_library.h"
#include "ops/conv/kernels.h"

namespace ebb::cuda {
namespace {

using convolving::by_library;

EBB_HD inline std::int64_t volume_of(const std::int64_t (&s)[3]) { return s[0] * s[1] * s[2]; }

// The elements of a dense array [rows, channels, spatial...], contiguous or channels-last.
template <class T>
struct Volumes {
  T* data;
  std::int64_t row, channel, place;  // strides; `place` is the stride of row-major positions in the volume

  explicit Volumes(const NdArray& x) : data(x.address_as<T>()) {
    const bool channels_last = !x.is_contiguous();
    const std::int64_t channels = x.sizes()[1];
    row = x.sizes()[0] == 0 ? 0 : x.numel() / x.sizes()[0];
    place = channels_last ? channels : 1;
    channel = channels_last || channels == 0 ? 1 : row / channels;
  }
  EBB_HD T& operator()(std::int64_t r, std::int64_t c, std::int64_t p) const {
    return data[r * row + c * channel + p * place];
  }
};

// The row, the channel and the position of the i-th element in memory.
struct At {
  std::int64_t row, channel, place, at[3];
  EBB_HD At(std::int64_t i, std::int64_t channels, const std::int64_t (&sizes)[3], bool channels_last) {
    const std::int64_t volume = volume_of(sizes);
    if (channels_last) {
      channel = i % channels;
      place = i / channels % volume;
    } else {
      channel = i / volume % channels;
      place = i % volume;
    }
    row = i / (channels * volume);
    at[0] = place / (sizes[1] * sizes[2]);
    at[1] = place / sizes[2] % sizes[1];
    at[2] = place % sizes[2];
  }
};

// The range [first, last) of all o in [0, out) for which 0 <= o * stride + offset < in.
struct Reach {
  std::int64_t first, last;
  EBB_HD Reach(std::int64_t offset, std::int64_t stride, std::int64_t in, std::int64_t out) {
    first = offset >= 0 ? 0 : (-offset + stride - 1) / stride;
    last = offset >= in ? 0 : (in - offset + stride - 1) / stride;
    if (last > out) last = out;
  }
};

// A sum of any length. After every kRun terms the float accumulator is added to a double accumulator, because
// longer float sums lose digits.
template <class C>
class LongSum {
 public:
  __device__ explicit LongSum(C first) : part_(first) {}
  __device__ void add(C term) {
    part_ += term;
    if constexpr (std::is_same_v<C, float>) {
      if (++terms_ < kRun) return;
      total_ += part_;
      part_ = 0;
      terms_ = 0;
    }
  }
  __device__ C value() const { return static_cast<C>(total_ + part_); }

 private:
  static constexpr int kRun = 64;
  C part_;
  double total_ = 0;
  int terms_ = 0;
};

template <class T>
struct Forward {
  Volumes<T> out;
  Volumes<const T> in, weight;
  const T* bias;
  ConvGeometry g;
  bool relu;
  __device__ void operator()(std::int64_t i) const {
    using C = Compute<T>;
    const At q(i, g.out_channels, g.out, out.place != 1);
    const std::int64_t each = g.in_channels / g.groups,
                       first = q.channel / (g.out_channels / g.groups) * each;
    LongSum<C> sum(bias ? static_cast<C>(bias[q.channel]) : C(0));
    for (std::int64_t c = 0; c < each; ++c)
      for (std::int64_t k0 = 0; k0 < g.kernel[0]; ++k0) {
        const std::int64_t p0 = q.at[0] * g.stride[0] + k0 * g.dilation[0] - g.padding[0];
        if (p0 < 0 || p0 >= g.in[0]) continue;
        for (std::int64_t k1 = 0; k1 < g.kernel[1]; ++k1) {
          const std::int64_t p1 = q.at[1] * g.stride[1] + k1 * g.dilation[1] - g.padding[1];
          if (p1 < 0 || p1 >= g.in[1]) continue;
          for (std::int64_t k2 = 0; k2 < g.kernel[2]; ++k2) {
            const std::int64_t p2 = q.at[2] * g.stride[2] + k2 * g.dilation[2] - g.padding[2];
            if (p2 < 0 || p2 >= g.in[2]) continue;
            sum.add(static_cast<C>(in(q.row, first + c, (p0 * g.in[1] + p1) * g.in[2] + p2)) *
                    static_cast<C>(weight(q.channel, c, (k0 * g.kernel[1] + k1) * g.kernel[2] + k2)));
          }
        }
      }
    const C result = sum.value();
    out.data[i] = static_cast<T>(relu && result < C(0) ? C(0) : result);
  }
};

// Returns the position of the result whose tap k reads position p along `axis`, or -1 if there is none.
EBB_HD inline std::int64_t reader(const ConvGeometry& g, int axis, std::int64_t p, std::int64_t k) {
  const std::int64_t at = p + g.padding[axis] - k * g.dilation[axis];
  if (at < 0 || at % g.stride[axis] != 0) return -1;
  const std::int64_t q = at / g.stride[axis];
  return q < g.out[axis] ? q : -1;
}

template <class T>
struct Input {
  Volumes<T> in;
  Volumes<const T> out, weight;
  const T* bias;
  ConvGeometry g;
  __device__ void operator()(std::int64_t i) const {
    using C = Compute<T>;
    const At p(i, g.in_channels, g.in, in.place != 1);
    const std::int64_t each_in = g.in_channels / g.groups, each_out = g.out_channels / g.groups;
    const std::int64_t group = p.channel / each_in, c = p.channel % each_in;
    LongSum<C> sum(bias ? static_cast<C>(bias[p.channel]) : C(0));
    for (std::int64_t k0 = 0; k0 < g.kernel[0]; ++k0) {
      const std::int64_t q0 = reader(g, 0, p.at[0], k0);
      if (q0 < 0) continue;
      for (std::int64_t k1 = 0; k1 < g.kernel[1]; ++k1) {
        const std::int64_t q1 = reader(g, 1, p.at[1], k1);
        if (q1 < 0) continue;
        for (std::int64_t k2 = 0; k2 < g.kernel[2]; ++k2) {
          const std::int64_t q2 = reader(g, 2, p.at[2], k2);
          if (q2 < 0) continue;
          const std::int64_t tap = (k0 * g.kernel[1] + k1) * g.kernel[2] + k2,
                             place = (q0 * g.out[1] + q1) * g.out[2] + q2;
          for (std::int64_t o = group * each_out; o < (group + 1) * each_out; ++o)
            sum.add(static_cast<C>(out(p.row, o, place)) * static_cast<C>(weight(o, c, tap)));
        }
      }
    }
    in.data[i] = static_cast<T>(sum.value());
  }
};

template <class T>
struct Weight {
  Volumes<T> weight;
  Volumes<const T> out, in;
  ConvGeometry g;
  __device__ void operator()(std::int64_t i) const {
    using C = Compute<T>;
    const std::int64_t each = g.in_channels / g.groups;
    const At k(i, each, g.kernel, weight.place != 1);
    const std::int64_t channel = k.row / (g.out_channels / g.groups) * each + k.channel;
    std::int64_t offset[3];
    for (int axis = 0; axis < 3; ++axis) offset[axis] = k.at[axis] * g.dilation[axis] - g.padding[axis];
    const Reach r0(offset[0], g.stride[0], g.in[0], g.out[0]), r1(offset[1], g.stride[1], g.in[1], g.out[1]),
        r2(offset[2], g.stride[2], g.in[2], g.out[2]);
    LongSum<C> sum(C(0));
    for (std::int64_t n = 0; n < g.batch; ++n)
      for (std::int64_t q0 = r0.first; q0 < r0.last; ++q0)
        for (std::int64_t q1 = r1.first; q1 < r1.last; ++q1)
          for (std::int64_t q2 = r2.first; q2 < r2.last; ++q2) {
            const std::int64_t p0 = q0 * g.stride[0] + offset[0], p1 = q1 * g.stride[1] + offset[1],
                               p2 = q2 * g.stride[2] + offset[2];
            sum.add(static_cast<C>(out(n, k.row, (q0 * g.out[1] + q1) * g.out[2] + q2)) *
                    static_cast<C>(in(n, channel, (p0 * g.in[1] + p1) * g.in[2] + p2)));
          }
    weight.data[i] = static_cast<T>(sum.value());
  }
};

// Computes x + bias and, if `relu`, relu of this sum. A bias of -0 changes no x.
struct Finish {
  bool relu;
  template <class C>
  EBB_HD C operator()(C x, C bias) const {
    const C sum = x + bias;
    return relu && sum < C(0) ? C(0) : sum;
  }
};
template <class T>
constexpr MapKernels<3> kFinish = map_kernels<Finish, T, T, T>();

// Applies bias and relu in place.
void finish(NdArray& x, const NdArray& bias, bool relu) {
  if (!bias.defined() && !relu) return;
  Operand shift(Scalar(-0.0));
  NdArray channels;
  if (bias.defined()) {
    DimVector shape(x.sizes().size() - 1, 1), steps(x.sizes().size() - 1, 0);
    shape[0] = bias.numel();
    steps[0] = 1;
    channels = bias.as_strided(shape, steps, bias.offset());
    shift = channels;
  }
  const Finish op{relu};
  visit_floating(x.dtype(), "convolution",
                 [&]<class T> { launch_map<3>("convolution", kFinish<T>, x, {x, shift}, &op, sizeof(op)); });
}

}  // namespace

void conv_forward(NdArray& out, const NdArray& in, const NdArray& weight, const NdArray& bias,
                  const ConvGeometry& g, bool relu) {
  // For a depthwise convolution another kernel applies bias and relu, because cuDNN's fast engine for
  // depthwise convolutions supports no epilogue. With a bias cuDNN would use a generic engine.
  const bool depthwise = g.groups > 1 && g.groups == g.in_channels;
  if (bias.defined() && !depthwise && by_library(DnnConv::forward, in, weight, out, g, &bias, relu)) return;
  if (by_library(DnnConv::forward, in, weight, out, g)) return finish(out, bias, relu);
  visit_floating(out.dtype(), "convolution", [&]<class T> {
    using From = Volumes<const T>;
    for_each(out.device(), out.numel(),
             Forward<T>{Volumes<T>(out), From(in), From(weight), data_or_null<T>(bias), g, relu});
  });
}

void conv_input(NdArray& in, const NdArray& out, const NdArray& weight, const NdArray& bias,
                const ConvGeometry& g) {
  if (by_library(DnnConv::input, in, weight, out, g)) return finish(in, bias, false);
  visit_floating(in.dtype(), "convolution_backward", [&]<class T> {
    using From = Volumes<const T>;
    for_each(in.device(), in.numel(),
             Input<T>{Volumes<T>(in), From(out), From(weight), data_or_null<T>(bias), g});
  });
}

void conv_weight(NdArray& weight, const NdArray& out, const NdArray& in, const ConvGeometry& g) {
  if (by_library(DnnConv::weight, in, weight, out, g)) return;
  visit_floating(weight.dtype(), "convolution_backward", [&]<class T> {
    using From = Volumes<const T>;
    for_each(weight.device(), weight.numel(), Weight<T>{Volumes<T>(weight), From(out), From(in), g});
  });
}

}  // namespace ebb::cuda
