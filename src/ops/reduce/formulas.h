// The formulas (kernel/reducers.h) of the reduction kernels, for both devices and for fused kernels. Each
// function object calls its argument `reduce` with the formula of the kernel of the same name.
#pragma once

#include <ebb/core/visit.h>

#include "kernel/reducer_kinds.h"
#include "kernel/reducers.h"

namespace ebb::reducers {

struct SumFormula {
  template <class F>
  void operator()(const F& reduce, const NdArray& out, const NdArray& x, DimMask, double divisor) const {
    const auto divided = [&](auto formula) {
      formula.divisor = divisor;
      reduce(formula);
    };
    if (out.dtype() == kDouble && x.dtype() != kDouble)
      return visit_numeric(stored(x.dtype()), "sum", [&]<class T> { divided(WideMean<T>()); });
    visit_numeric(stored(x.dtype()), "sum", [&]<class T> { divided(Sum<T>()); });
  }
};

struct NanSumFormula {
  template <class F>
  void operator()(const F& reduce, const NdArray& out, const NdArray& x, DimMask) const {
    if (out.dtype() == kDouble && x.dtype() != kDouble)
      return visit_floating(x.dtype(), "nansum", [&]<class T> { reduce(WideNanSum<T>()); });
    visit_floating(x.dtype(), "nansum", [&]<class T> { reduce(NanSum<T>()); });
  }
};

struct ProdFormula {
  template <class F>
  void operator()(const F& reduce, const NdArray& out, const NdArray& x, DimMask) const {
    if (out.dtype() == kDouble && x.dtype() != kDouble)
      return visit_numeric(stored(x.dtype()), "prod", [&]<class T> { reduce(WideProd<T>()); });
    visit_numeric(stored(x.dtype()), "prod", [&]<class T> { reduce(Prod<T>()); });
  }
};

template <bool largest>
struct ExtremeFormula {
  template <class F>
  void operator()(const F& reduce, const NdArray&, const NdArray& x, DimMask) const {
    visit_numeric(stored(x.dtype()), largest ? "amax" : "amin",
                  [&]<class T> { reduce(Extreme<T, largest>()); });
  }
};

/// any, all and count_nonzero share one count.
template <class Out, class F>
void with_count(const F& reduce, const NdArray& x, std::int64_t at_least) {
  with_zero_test_type(x.dtype(), [&]<class T> {
    CountNonzero<T, Out> formula;
    formula.at_least = at_least;
    reduce(formula);
  });
}
struct AnyFormula {
  template <class F>
  void operator()(const F& reduce, const NdArray&, const NdArray& x, DimMask) const {
    with_count<std::uint8_t>(reduce, x, 1);
  }
};
struct AllFormula {
  template <class F>
  void operator()(const F& reduce, const NdArray&, const NdArray& x, DimMask dims) const {
    with_count<std::uint8_t>(reduce, x, reduced_count(x, dims));
  }
};
struct CountNonzeroFormula {
  template <class F>
  void operator()(const F& reduce, const NdArray&, const NdArray& x, DimMask) const {
    with_count<std::int64_t>(reduce, x, 0);
  }
};

struct NormFormula {
  template <class F>
  void operator()(const F& reduce, const NdArray&, const NdArray& x, DimMask, double p) const {
    visit_floating(x.dtype(), "norm", [&]<class T> {
      with_norm_kind(p, [&]<NormKind kKind> {
        Norm<T, kKind> formula;
        formula.p = p;
        reduce(formula);
      });
    });
  }
};

}  // namespace ebb::reducers
