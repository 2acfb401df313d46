// Matrix products: those that are added to something add by themselves, and those whose elements others go on
// with move there.
#include "compile/products.h"

#include "compile/row_source.h"
#include "compile/touches.h"

#include <ebb/core/parallel.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "ops/elementwise/foreach_kernels.h"
#include "ops/elementwise/formulas/arithmetic.h"
#include "ops/elementwise/kernels.h"
#include "ops/linalg/kernels.h"

namespace ebb::compiling {
namespace {

using KeptProduct =
    detail::KeptSlotCall<NdArray&, const NdArray&, const NdArray&, const NdArray&, const ProductArgs&>;

// The call, if it is a matrix product; else null.
KeptProduct* product_of(const TapeCall& call) {
  return call.call->name() == kernels::product.name() ? static_cast<KeptProduct*>(call.call.get()) : nullptr;
}

bool is_floating_on_cpu(const NdArray& x) {
  return x.device().is_cpu() && (x.dtype() == kFloat || x.dtype() == kDouble);
}

// Whether the kernels of the array's device add to a product in the rounding that an addition has, or may
// round once where two calls round twice.
bool adds(const NdArray& x, bool on_devices) {
  return is_floating_on_cpu(x) || (on_devices && !x.device().is_cpu() && is_floating(x.dtype()));
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

using KeptZeros = detail::KeptSlotCall<const EntryList&>;

// The entries of lists that set elements to zero.
class Zeros {
 public:
  explicit Zeros(Tape& tape) {
    for (std::size_t at = 0; at < tape.calls.size(); ++at) {
      TapeCall& call = tape.calls[at];
      if (call.call->name() != kernels::list_zero.name()) continue;
      detail::KeptEntries& list = std::get<0>(static_cast<KeptZeros&>(*call.call).arguments());
      std::unordered_map<void* const*, TensorEntry*> of;
      for (TensorEntry& entry : list.entries) of[&entry.at[0]] = &entry;
      for (const TapeCall::Address& address : call.addresses)
        if (const auto found = of.find(address.at); found != of.end())
          entries_[{static_cast<int>(at), address.place}].push_back(
              {address.offset, list.dtype, found->second});
    }
  }

  /// The entry of the list that set these elements to zero, if that call is the last to touch them before the
  /// call `before`; else null.
  TensorEntry* before(const Touches& touches, const NdArray& x, int before) const {
    const int place = touches.place(x), at = touches.last_before(place, before);
    const auto found = entries_.find({at, place});
    if (found == entries_.end()) return nullptr;
    const auto offset = static_cast<std::size_t>(x.offset() * element_size(x.dtype()));
    for (const Entry& each : found->second)
      if (each.offset == offset && each.dtype == x.dtype() && each.entry->count == x.numel())
        return each.entry;
    return nullptr;
  }

 private:
  struct Entry {
    std::size_t offset;
    DType dtype;
    TensorEntry* entry;
  };
  std::map<std::pair<int, int>, std::vector<Entry>> entries_;  // by call and place
};

}  // namespace

void accumulate_products(Tape& tape, bool on_devices) {
  const Touches touches(tape);
  const Zeros zeros(tape);
  for (std::size_t i = 0; i < tape.calls.size(); ++i) {
    KeptProduct* const product = product_of(tape.calls[i]);
    if (!product) continue;
    auto& arguments = product->arguments();
    NdArray &out = std::get<0>(arguments), &init = std::get<1>(arguments);
    const NdArray &a = std::get<2>(arguments), &b = std::get<3>(arguments);
    if (init.defined() || !adds(out, on_devices) || !out.is_contiguous()) continue;
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

    out = NdArray(sum.storage(), DimVector(out.sizes()), DimVector(out.strides()), sum.offset(), out.dtype());
    init = out;
    std::get<4>(arguments).beta = 1;
    later.left_out = true;
    if (TensorEntry* const entry = zeros.before(touches, sum, users[0])) {
      entry->count = 0;
      init = NdArray();
    }
  }
  std::erase_if(tape.calls, [](const TapeCall& call) { return call.left_out; });
}

namespace {

// The k of a product of m x k and k x n.
std::int64_t depth_of(const NdArray& a, const ProductArgs& args) {
  return a.sizes()[args.a_transposed ? 0 : 1];
}

NdArray narrowed(const NdArray& x, std::size_t dim, std::int64_t first, std::int64_t count) {
  DimVector sizes(x.sizes());
  sizes[dim] = count;
  return NdArray(x.storage(), sizes, DimVector(x.strides()), x.offset() + first * x.strides()[dim],
                 x.dtype());
}

// The rows of a product.
class ProductSource final : public RowSource {
 public:
  static constexpr std::int64_t kRows = 128;  // of a block: fewer make the kernel pack too often

  explicit ProductSource(KeptProduct& product) : product_(product) {}

  const NdArray& out() const override { return std::get<0>(product_.arguments()); }
  std::vector<const NdArray*> reads() const override {
    auto& [out, kept_init, kept_a, kept_b, args] = product_.arguments();
    const NdArray &init = kept_init, &a = kept_a, &b = kept_b;
    return {&init, &a, &b};
  }
  std::int64_t unit() const override { return out().sizes()[1]; }
  std::int64_t units() const override { return kRows; }
  std::int64_t grain() const override {
    auto& [out, init, a, b, args] = product_.arguments();
    constexpr std::int64_t kWork = 1 << 16;  // products of numbers
    return std::max<std::int64_t>(kWork / std::max<std::int64_t>(depth_of(a, args), 1), 1);
  }

  bool fits() const {
    auto& [kept_out, kept_init, a, b, args] = product_.arguments();
    const NdArray &out = kept_out, &init = kept_init;
    if (!is_floating_on_cpu(out) || out.dim() != 2 || !out.is_contiguous()) return false;
    if (init.defined() && init.storage() == out.storage()) return false;
    const std::int64_t rows = out.sizes()[0], columns = out.sizes()[1], rest = (rows - 1) % kRows + 1;
    return rows >= 2 * kRows * get_num_threads() && rest >= 2 && columns >= 8 &&
           rest * columns * depth_of(a, args) >= 512;
  }

  void bring(std::int64_t first, std::int64_t last, std::byte* to) const override {
    auto& [whole, kept_init, a, b, args] = product_.arguments();
    const NdArray& init = kept_init;
    NdArray rows = array_at(to, {last - first, unit()}, out().dtype());
    const bool by_rows = init.defined() && init.dim() == 2 && init.sizes()[0] != 1;
    product_.function()(rows, by_rows ? narrowed(init, 0, first, last - first) : init,
                        narrowed(a, args.a_transposed ? 1 : 0, first, last - first), b, args);
  }

 private:
  KeptProduct& product_;
};

}  // namespace

std::unique_ptr<RowSource> product_source(const TapeCall& call) {
  KeptProduct* const product = product_of(call);
  if (!product) return nullptr;
  auto source = std::make_unique<ProductSource>(*product);
  if (!source->fits()) return nullptr;
  return source;
}

}  // namespace ebb::compiling
