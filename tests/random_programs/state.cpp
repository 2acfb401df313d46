// Makes tensors of known numbers.
#include "random_programs/state.h"

#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/index.h>
#include <ebb/ops/shape.h>

#include "random_programs/bounds.h"

namespace programs {

namespace {
thread_local ebb::Device current_home = ebb::kCPU;
}

ebb::Device home() { return current_home; }
Home::Home(ebb::Device device) : before_(current_home) { current_home = device; }
Home::~Home() { current_home = before_; }

ebb::nn::Module& State::module(int i) const {
  EBB_CHECK((*this)[i].module, "slot ", i, " has no module.");
  return *(*this)[i].module;
}
ebb::optim::Optimizer& State::optimizer(int i) const {
  EBB_CHECK((*this)[i].optimizer, "slot ", i, " has no optimizer.");
  return *(*this)[i].optimizer;
}

Variable make(const Sizes& sizes, ebb::DType dtype, std::int64_t seed, Layout layout) {
  const ebb::NoGradGuard no_grad;
  Sizes spread = sizes;  // as they are made
  const bool has_dims = !sizes.empty();
  if (layout == kTransposed && sizes.size() > 1) std::swap(spread.front(), spread.back());
  if (layout == kStepped && has_dims) spread.back() *= 2;
  if (layout == kOffset && has_dims) spread.front() += 1;
  if (layout == kExpanded && has_dims) spread.front() = std::min<std::int64_t>(spread.front(), 1);
  std::int64_t count = 1;
  for (const std::int64_t n : spread) count *= n;
  const Variable places = ebb::remainder(ebb::arange(count, ebb::kLong) * 37 + 11 * seed, 101);
  Variable x;
  if (ebb::is_floating(dtype))
    x = ((places - 50).to(ebb::kDouble) / 32).to(dtype);
  else
    x = ebb::remainder(places, dtype == ebb::kBool ? 2 : 5).to(dtype);
  x = x.view(spread).to(home());
  if (layout == kTransposed && sizes.size() > 1)
    x = x.transpose(0, static_cast<std::int64_t>(sizes.size()) - 1);
  if (layout == kStepped && has_dims) x = x.slice(-1, 0, spread.back(), 2);
  if (layout == kOffset && has_dims) x = x.narrow(0, 1, sizes.front());
  if (layout == kExpanded && has_dims) x = x.expand(sizes);
  return x.detach();  // no view of what it was cut from
}

Variable fit(const Variable& x, const Sizes& sizes, double low, double high, ebb::DType dtype) {
  std::int64_t count = 1;
  for (const std::int64_t n : sizes) count *= n;
  Variable y = x.to(dtype);
  if (y.numel() != count)
    y = y.reshape({-1}).index_select(
        0, ebb::remainder(ebb::arange(count, ebb::kLong).to(y.device()), y.numel()));
  y = y.reshape(sizes).sin() * 0.5 + 0.5;
  perturb(y);
  y = y * (high - low) + low;
  perturb(y);
  return y;
}

}  // namespace programs
