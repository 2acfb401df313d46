// Scans along one dimension on the device: cumulative sums, products and log-sum-exps.
#include <ebb/core/visit.h>

#include "kernel/convert.h"
#include "kernel/cuda/scan.h"
#include "kernel/reduce_plan.h"
#include "kernel/scan_steps.h"
#include "ops/common/kernels.h"

namespace ebb::cuda {
namespace {

using scan_steps::Carry;
using scan_steps::Order;

template <class T, class Step>
struct Cumulate {
  using Element = T;
  using Acc = Carry<T>;
  T* out;
  const T* x;
  Order order;
  EBB_HD Acc of(T value) const { return static_cast<Acc>(value); }
  EBB_HD T element(Acc value) const { return static_cast<T>(value); }
  EBB_HD Acc load(std::int64_t start, std::int64_t i) const { return of(x[order.at(start, i)]); }
  EBB_HD Acc merge(Acc before, Acc next) const { return Step()(before, next); }
  EBB_HD void store(std::int64_t start, std::int64_t i, Acc value) const {
    out[order.at(start, i)] = element(value);
  }
};

}  // namespace

void scan(NdArray& out, const NdArray& x, std::int64_t dim, ScanKind kind, bool reverse) {
  if (x.numel() == 0) return;
  const Lines lines(x.sizes(), dim);
  const Order order{lines.n, lines.inner, reverse};
  if (kind == ScanKind::logsumexp)
    return visit_floating(x.dtype(), "logcumsumexp", [&]<class T> {
      scan_lines(out.device(),
                 Cumulate<T, scan_steps::LogAddExp<Carry<T>>>{out.address_as<T>(), x.address_as<T>(), order},
                 lines);
    });
  visit_numeric(stored(x.dtype()), kind == ScanKind::sum ? "cumsum" : "cumprod", [&]<class T> {
    T* const to = out.address_as<T>();
    const T* const from = x.address_as<T>();
    if (kind == ScanKind::sum)
      scan_lines(out.device(), Cumulate<T, scan_steps::Add<Carry<T>>>{to, from, order}, lines);
    else
      scan_lines(out.device(), Cumulate<T, scan_steps::Multiply<Carry<T>>>{to, from, order}, lines);
  });
}

}  // namespace ebb::cuda
