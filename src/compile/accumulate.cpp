// Products that are added to something are added by the product itself.
#include "compile/fuse.h"

#include "ops/elementwise/formulas/arithmetic.h"
#include "ops/elementwise/kernels.h"
#include "ops/linalg/kernels.h"

namespace ebb::compiling {
namespace {

using Product = detail::KeptSlotCall<NdArray&, const NdArray&, const NdArray&, const NdArray&, const ProductArgs&>;

bool is_floating_on_cpu(const NdArray& x) {
  return x.device().is_cpu() && (x.dtype() == kFloat || x.dtype() == kDouble);
}

bool same_elements(const NdArray& a, const NdArray& b) {
  return a.storage() == b.storage() && a.offset() == b.offset() && a.sizes() == b.sizes() &&
         a.strides() == b.strides();
}

// The sum that the call is: `sum += part`.
struct Addition {
  const NdArray* sum = nullptr;
  const NdArray* part = nullptr;

  explicit Addition(TapeCall& call) {
    if (call.call->name() != kernels::Binary<ops::Add>::slot.name()) return;
    detail::ElementRow row;
    const NdArray* const out = call.call->element_row(row);
    if (!out || row.count != 2 || !row.operands[0].array || !row.operands[1].array) return;
    if (same_elements(*out, *row.operands[0].array)) {
      sum = out;
      part = row.operands[1].array;
    } else if (same_elements(*out, *row.operands[1].array)) {
      sum = out;
      part = row.operands[0].array;
    }
  }
};

}  // namespace

void accumulate_products(Tape& tape, const Touches& touches) {
  for (std::size_t i = 0; i < tape.calls.size(); ++i) {
    detail::KeptCall& call = *tape.calls[i].call;
    if (call.name() != kernels::product.name()) continue;
    auto& arguments = static_cast<Product&>(call).arguments();
    NdArray &out = std::get<0>(arguments), &init = std::get<1>(arguments);
    const NdArray &a = std::get<2>(arguments), &b = std::get<3>(arguments);
    if (init.defined() || !is_floating_on_cpu(out) || !out.is_contiguous()) continue;
    const int place = touches.place(out);
    Place& made = tape.places[static_cast<std::size_t>(place)];
    const std::vector<int>& users = touches.calls(place);
    if (made.kind != Place::Kind::inner || users.size() != 2 || users[0] != static_cast<int>(i)) continue;

    TapeCall& later = tape.calls[static_cast<std::size_t>(users[1])];
    const Addition addition(later);
    if (!addition.sum || addition.part->storage() != out.storage()) continue;
    const NdArray& sum = *addition.sum;
    if (!sum.is_contiguous() || !addition.part->is_contiguous() || sum.numel() != out.numel() ||
        sum.dtype() != out.dtype() || addition.part->numel() != out.numel())
      continue;
    const int to = touches.place(sum);
    const Place& target = tape.places[static_cast<std::size_t>(to)];
    const bool there = target.kind != Place::Kind::inner || touches.calls(to).front() < users[0];
    const bool apart = a.storage() != sum.storage() && b.storage() != sum.storage();
    if (!there || !apart || touches.between(to, users[0], users[1])) continue;

    init = out = NdArray(sum.storage(), DimVector(out.sizes()), DimVector(out.strides()), sum.offset(), out.dtype());
    std::get<4>(arguments).beta = 1;
    later.left_out = true;
    made.first = made.last = -1;
  }
}

}  // namespace ebb::compiling
