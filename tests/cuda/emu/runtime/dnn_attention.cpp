// Stands in for cuDNN's attention.
#include <ebb/core/visit.h>

#include <algorithm>
#include <limits>

#include "cuda/emu/runtime/dnn.h"
#include "ops/attention/kernels.h"

namespace ebb::cuda {
namespace {

using emu::on_cpu;

// The call on the CPU, of memory that an action of a stream may touch.
ops::AttentionSaved on_cpu(const DnnAttention& a) {
  ops::AttentionSaved call{on_cpu(a.query),  on_cpu(a.key),     on_cpu(a.value),
                           on_cpu(a.result), on_cpu(a.log_sum), {}};
  call.rule.scale = a.scale;
  call.rule.causal = a.causal;
  return call;
}

// What the library asks of its arrays.
bool is_taken(const DnnAttention& a) {
  const auto fits = [](const NdArray& x) {
    const IntArrayRef strides = x.strides();
    return reinterpret_cast<std::uintptr_t>(x.data()) % 16 == 0 && x.sizes()[3] % 8 == 0 &&
           x.sizes()[3] <= 256 && strides[3] == 1 &&
           std::ranges::all_of(strides.slice(0, 3), [](auto s) { return s > 0; });
  };
  return fits(a.query) && fits(a.key) && fits(a.value);
}

void spoil(const NdArray& x) {
  std::fill_n(x.address_as<float>(), x.numel(), std::numeric_limits<float>::quiet_NaN());
}

// The library sums the gradient of the queries in `sum`, over whatever that holds before.
void add_to(const NdArray& out, const NdArray& sum) {
  visit_floating(out.dtype(), "attention", [&]<class T> {
    T* const to = out.address_as<T>();
    const float* const from = sum.address_as<float>();
    for (std::int64_t i = 0; i < out.numel(); ++i)
      to[i] = static_cast<T>(static_cast<float>(to[i]) + from[i]);
  });
}

}  // namespace

bool dnn_attention(const DnnAttention& a) {
  if (!dnn_is_used() || !is_taken(a)) return false;
  const DeviceScope scope(a.query.device());
  emu::enqueue(current_stream(a.query.device()),
               [call = on_cpu(a)]() mutable { kernels::attention(Device(kCPU), call); });
  return true;
}

bool dnn_attention_backward(const DnnAttentionBackward& b) {
  if (!dnn_is_used() || !is_taken(b.forward)) return false;
  EBB_CHECK(reinterpret_cast<std::uintptr_t>(b.grad.address()) % 16 == 0,
            "attention: a library was given a gradient that does not begin at 16 bytes.");
  const DeviceScope scope(b.grad.device());
  emu::enqueue(
      current_stream(b.grad.device()),
      [call = on_cpu(b.forward), grad = on_cpu(b.grad), query = on_cpu(b.dquery), key = on_cpu(b.dkey),
       value = on_cpu(b.dvalue), sum = on_cpu(b.query_sum), delta = on_cpu(b.delta)] {
        ops::AttentionGrads out{query, key, value};
        kernels::attention_backward(Device(kCPU), out, grad, call);
        add_to(query, sum);
        spoil(sum);
        spoil(delta);
      });
  return true;
}

}  // namespace ebb::cuda
