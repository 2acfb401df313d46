// Normalisation by neighbouring channels of images.
#include <ebb/nn/modules/cross_map_lrn.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/pool.h>
#include <ebb/ops/shape.h>

#include "nn/stateless.h"

namespace ebb::nn {

static void check(const CrossMapLRN2dOptions& o) {
  EBB_CHECK(o.size() > 0, "CrossMapLRN2d: size must be positive, got ", o.size(), ".");
}
static void print(Fields& out, const CrossMapLRN2dOptions& o) {
  out(o.size())("alpha", o.alpha())("beta", o.beta())("k", o.k());
}
static Variable call(const CrossMapLRN2dImpl& m, const Variable& x) {
  EBB_CHECK(x.defined() && x.dim() == 4, "CrossMapLRN2d: expected an input (N, C, H, W), got shape ",
            x.defined() ? x.sizes() : IntArrayRef(), ".");
  const CrossMapLRN2dOptions& o = m.options;
  const std::int64_t side = (o.size() - 1) / 2, window = 2 * side + 1;
  const Variable squares = (x * x).reshape({x.size(0), 1, x.size(1), x.size(2) * x.size(3)});
  const Variable means = avg_pool2d(constant_pad_nd(squares, {0, 0, side, side}, 0), {window, 1}, 1);
  const double factor = o.alpha() * static_cast<double>(window) / static_cast<double>(o.size());
  return x * (means.view(x.sizes()) * factor + o.k()).pow(-o.beta());
}
EBB_STATELESS(CrossMapLRN2dImpl, CrossMapLRN2dOptions, Variable);

}  // namespace ebb::nn
