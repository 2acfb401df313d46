// Convolution on the device straight from its definition: a thread a result, sums in a fixed order, any
// geometry and dtype.
#include "ops/conv/cuda.h"

#include <ebb/core/visit.h>

#include "kernel/convert.h"
#include "kernel/cuda/walk.h"

namespace ebb::cuda {
namespace {

// Which volume, and where in it, the i-th element of volumes of these sizes is.
struct At {
  std::int64_t volume, at[3];
  EBB_HD At(std::int64_t i, const std::int64_t (&sizes)[3])
      : volume(i / sizes[2] / sizes[1] / sizes[0]),
        at{i / sizes[2] / sizes[1] % sizes[0], i / sizes[2] % sizes[1], i % sizes[2]} {}
};

EBB_HD inline std::int64_t volume_of(const std::int64_t (&s)[3]) { return s[0] * s[1] * s[2]; }

// The values o of an axis for which 0 <= o * stride + offset < in, within [0, out).
struct Reach {
  std::int64_t first, last;
  EBB_HD Reach(std::int64_t offset, std::int64_t stride, std::int64_t in, std::int64_t out) {
    first = offset >= 0 ? 0 : (-offset + stride - 1) / stride;
    last = offset >= in ? 0 : (in - offset + stride - 1) / stride;
    if (last > out) last = out;
  }
};

template <class T>
struct Forward {
  T* out;
  const T *in, *weight, *bias;
  ConvGeometry g;
  __device__ void operator()(std::int64_t i) const {
    using C = Compute<T>;
    const At q(i, g.out);
    const std::int64_t n = q.volume / g.out_channels, o = q.volume % g.out_channels,
                       group = o / (g.out_channels / g.groups);
    const std::int64_t each = g.in_channels / g.groups, taps = volume_of(g.kernel), volume = volume_of(g.in);
    const T* const from = in + (n * g.in_channels + group * each) * volume;
    const T* const w = weight + o * each * taps;
    C sum = bias ? static_cast<C>(bias[o]) : C(0);
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
            sum += static_cast<C>(from[((c * g.in[0] + p0) * g.in[1] + p1) * g.in[2] + p2]) *
                   static_cast<C>(w[((c * g.kernel[0] + k0) * g.kernel[1] + k1) * g.kernel[2] + k2]);
          }
        }
      }
    out[i] = static_cast<T>(sum);
  }
};

// The place along an axis of the result whose tap k reads p, or -1.
EBB_HD inline std::int64_t reader(const ConvGeometry& g, int axis, std::int64_t p, std::int64_t k) {
  const std::int64_t at = p + g.padding[axis] - k * g.dilation[axis];
  if (at < 0 || at % g.stride[axis] != 0) return -1;
  const std::int64_t q = at / g.stride[axis];
  return q < g.out[axis] ? q : -1;
}

template <class T>
struct Input {
  T* in;
  const T *out, *weight, *bias;
  ConvGeometry g;
  __device__ void operator()(std::int64_t i) const {
    using C = Compute<T>;
    const At p(i, g.in);
    const std::int64_t n = p.volume / g.in_channels, channel = p.volume % g.in_channels;
    const std::int64_t each_in = g.in_channels / g.groups, each_out = g.out_channels / g.groups;
    const std::int64_t group = channel / each_in, c = channel % each_in, taps = volume_of(g.kernel);
    C sum = bias ? static_cast<C>(bias[channel]) : C(0);
    for (std::int64_t k0 = 0; k0 < g.kernel[0]; ++k0) {
      const std::int64_t q0 = reader(g, 0, p.at[0], k0);
      if (q0 < 0) continue;
      for (std::int64_t k1 = 0; k1 < g.kernel[1]; ++k1) {
        const std::int64_t q1 = reader(g, 1, p.at[1], k1);
        if (q1 < 0) continue;
        for (std::int64_t k2 = 0; k2 < g.kernel[2]; ++k2) {
          const std::int64_t q2 = reader(g, 2, p.at[2], k2);
          if (q2 < 0) continue;
          const std::int64_t tap = (k0 * g.kernel[1] + k1) * g.kernel[2] + k2;
          for (std::int64_t o = group * each_out; o < (group + 1) * each_out; ++o)
            sum += static_cast<C>(
                       out[(((n * g.out_channels + o) * g.out[0] + q0) * g.out[1] + q1) * g.out[2] + q2]) *
                   static_cast<C>(weight[(o * each_in + c) * taps + tap]);
        }
      }
    }
    in[i] = static_cast<T>(sum);
  }
};

template <class T>
struct Weight {
  T* weight;
  const T *out, *in;
  ConvGeometry g;
  __device__ void operator()(std::int64_t i) const {
    using C = Compute<T>;
    const At k(i, g.kernel);
    const std::int64_t each = g.in_channels / g.groups, o = k.volume / each, c = k.volume % each;
    const std::int64_t channel = o / (g.out_channels / g.groups) * each + c;
    std::int64_t offset[3];
    for (int a = 0; a < 3; ++a) offset[a] = k.at[a] * g.dilation[a] - g.padding[a];
    const Reach r0(offset[0], g.stride[0], g.in[0], g.out[0]), r1(offset[1], g.stride[1], g.in[1], g.out[1]),
        r2(offset[2], g.stride[2], g.in[2], g.out[2]);
    C sum = 0;
    for (std::int64_t n = 0; n < g.batch; ++n) {
      const T* const from_out = out + (n * g.out_channels + o) * volume_of(g.out);
      const T* const from_in = in + (n * g.in_channels + channel) * volume_of(g.in);
      C part = 0;  // a sum a sample, then over samples: shorter sums round less
      for (std::int64_t q0 = r0.first; q0 < r0.last; ++q0)
        for (std::int64_t q1 = r1.first; q1 < r1.last; ++q1)
          for (std::int64_t q2 = r2.first; q2 < r2.last; ++q2)
            part += static_cast<C>(from_out[(q0 * g.out[1] + q1) * g.out[2] + q2]) *
                    static_cast<C>(
                        from_in[((q0 * g.stride[0] + offset[0]) * g.in[1] + q1 * g.stride[1] + offset[1]) *
                                    g.in[2] +
                                q2 * g.stride[2] + offset[2]]);
      sum += part;
    }
    weight[i] = static_cast<T>(sum);
  }
};

}  // namespace

void conv_forward(NdArray& out, const NdArray& in, const NdArray& weight, const NdArray& bias,
                  const ConvGeometry& g) {
  visit_floating(out.dtype(), "convolution", [&]<class T> {
    for_each(out.device(), out.numel(),
             Forward<T>{out.data_as<T>(), in.data_as<T>(), weight.data_as<T>(),
                        bias.defined() ? bias.data_as<T>() : nullptr, g});
  });
}

void conv_input(NdArray& in, const NdArray& out, const NdArray& weight, const NdArray& bias,
                const ConvGeometry& g) {
  visit_floating(in.dtype(), "convolution_backward", [&]<class T> {
    for_each(in.device(), in.numel(),
             Input<T>{in.data_as<T>(), out.data_as<T>(), weight.data_as<T>(),
                      bias.defined() ? bias.data_as<T>() : nullptr, g});
  });
}

void conv_weight(NdArray& weight, const NdArray& out, const NdArray& in, const ConvGeometry& g) {
  visit_floating(weight.dtype(), "convolution_backward", [&]<class T> {
    for_each(weight.device(), weight.numel(),
             Weight<T>{weight.data_as<T>(), out.data_as<T>(), in.data_as<T>(), g});
  });
}

void register_conv() {
  kernels::conv_forward.set_cuda(&conv_forward);
  kernels::conv_input.set_cuda(&conv_input);
  kernels::conv_weight.set_cuda(&conv_weight);
}

}  // namespace ebb::cuda
