// The passes that reorder or replace calls: fuse_matmul_add, overwrite_zeros, sink_producers, hoist_scalars,
// hoist_reductions.

#include <ebb/core/parallel.h>

#include "compile/fuse.h"
#include "compile/programs.h"
#include "ops/elementwise/foreach_kernels.h"
#include "ops/elementwise/formulas/arithmetic.h"
#include "ops/elementwise/kernels.h"
#include "ops/linalg/kernels.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

namespace ebb::detail::compile {
namespace {

using KeptProduct = decltype(kernels::product)::Kept;
using KeptAddition = decltype(kernels::Binary<ops::Add>::slot)::Kept;

bool is_floating_on_cpu(const NdArray& x) {
  return x.device().is_cpu() && (x.dtype() == kFloat || x.dtype() == kDouble);
}

// Returns whether a product may be fused with an addition to x. On the CPU it always may, because the fused
// call rounds like a separate addition. On devices, one rounding replaces two, so `on_devices` must allow it.
bool adds(const NdArray& x, bool on_devices) {
  return is_floating_on_cpu(x) || (on_devices && !x.device().is_cpu() && is_floating(x.dtype()));
}

bool same_elements(const NdArray& a, const NdArray& b) {
  return a.storage() == b.storage() && a.offset() == b.offset() && a.sizes() == b.sizes() &&
         a.strides() == b.strides();
}

// An addition `sum += part`; `sum` is null if the call is not such an addition.
struct Addition {
  const NdArray* sum = nullptr;
  const NdArray* part = nullptr;

  explicit Addition(TapeCall& call) {
    if (!call.call->as(kernels::Binary<ops::Add>::slot)) return;
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

// Returns whether the caller sees the elements of the buffer if a call throws.
bool is_visible(const Buffer& buffer) { return buffer.kind != Buffer::Kind::temporary; }

// Returns whether a call may throw because of values: an index, a target class, a singular matrix, an integer
// divisor.
bool may_throw(TapeCall& call) {
  if (call.call->as(kernels::product) || call.call->as(kernels::list_zero) || call.call->traits().reduction)
    return false;
  detail::ElementRow row;
  const NdArray* const out = call.call->element_row(row);
  return !out || !is_floating(out->dtype());
}

// The entries of calls of list_zero, which set the elements of a list of tensors to zero.
class Zeros {
 public:
  explicit Zeros(Tape& tape) {
    for (std::size_t at = 0; at < tape.calls.size(); ++at) {
      TapeCall& call = tape.calls[at];
      auto* const zeros = call.call->as(kernels::list_zero);
      if (!zeros) continue;
      detail::KeptEntries& list = std::get<0>(zeros->arguments());
      std::unordered_map<void* const*, TensorEntry*> entry_of;
      for (TensorEntry& entry : list.entries) entry_of[&entry.at[0]] = &entry;
      for (const TapeCall::Address& address : call.addresses)
        if (const auto found = entry_of.find(address.pointer); found != entry_of.end())
          entries_[{static_cast<int>(at), address.buffer}].push_back(
              {address.offset, list.dtype, found->second});
    }
  }

  /// Drops the entry that sets the elements of x to zero, because the call `before` will overwrite them.
  /// Returns false if there is no such entry, or if its call is not the last one before the call `before`
  /// that accesses the buffer of x.
  bool drop(Tape& tape, const AccessIndex& accesses, const NdArray& x, int before) const {
    const int buffer = accesses.buffer(x), at = accesses.last_before(buffer, before);
    const auto found = entries_.find({at, buffer});
    if (found == entries_.end()) return false;
    const auto offset = static_cast<std::size_t>(x.offset() * element_size(x.dtype()));
    for (const Entry& each : found->second) {
      if (each.offset != offset || each.dtype != x.dtype() || each.entry->count != x.numel()) continue;
      each.entry->count = 0;
      const auto number = [&](int call) { return tape.calls[static_cast<std::size_t>(call)].number; };
      if (is_visible(tape.buffers[static_cast<std::size_t>(buffer)]))
        tape.dropped_zeros.push_back({number(at), number(before), buffer, x});
      return true;
    }
    return false;
  }

 private:
  struct Entry {
    std::size_t offset;
    DType dtype;
    TensorEntry* entry;
  };
  std::map<std::pair<int, int>, std::vector<Entry>> entries_;  // keyed by call and buffer
};

}  // namespace

void fuse_matmul_add(Tape& tape, AccessIndex& accesses, bool on_devices) {
  const Zeros zeros(tape);
  struct Redirected {
    int call, from, to;
  };
  std::vector<Redirected> redirected;
  std::vector<bool> dropped(tape.calls.size());
  for (std::size_t i = 0; i < tape.calls.size(); ++i) {
    KeptProduct* const product = tape.calls[i].call->as(kernels::product);
    if (!product) continue;
    auto& arguments = product->arguments();
    NdArray &out = std::get<0>(arguments), &init = std::get<1>(arguments);
    const NdArray &a = std::get<2>(arguments), &b = std::get<3>(arguments);
    if (init.defined() || !adds(out, on_devices) || !out.is_contiguous()) continue;
    const int buffer = accesses.buffer(out);
    Buffer& made = tape.buffers[static_cast<std::size_t>(buffer)];
    const std::vector<int>& users = accesses.calls(buffer);
    if (made.kind != Buffer::Kind::temporary || users.size() != 2 || users[0] != static_cast<int>(i))
      continue;

    TapeCall& later = tape.calls[static_cast<std::size_t>(users[1])];
    const Addition addition(later);
    if (!addition.sum || addition.part->storage() != out.storage()) continue;
    const NdArray& sum = *addition.sum;
    if (!sum.is_contiguous() || !addition.part->is_contiguous() || sum.numel() != out.numel() ||
        sum.dtype() != out.dtype() || addition.part->numel() != out.numel())
      continue;
    const int to = accesses.buffer(sum);
    const Buffer& target = tape.buffers[static_cast<std::size_t>(to)];
    const bool available = target.kind != Buffer::Kind::temporary || accesses.calls(to).front() < users[0];
    const bool no_alias = a.storage() != sum.storage() && b.storage() != sum.storage();
    if (!available || !no_alias || accesses.between(to, users[0], users[1])) continue;
    // The addition becomes part of the product. A call between them must not throw before it.
    const auto between = tape.calls.begin() + users[0] + 1;
    if (is_visible(target) && std::any_of(between, tape.calls.begin() + users[1], may_throw)) continue;

    out = NdArray(sum.storage(), DimVector(out.sizes()), DimVector(out.strides()), sum.offset(), out.dtype());
    init = out;
    std::get<4>(arguments).beta = 1;
    dropped[static_cast<std::size_t>(users[1])] = true;
    redirected.push_back({users[0], buffer, to});
    if (zeros.drop(tape, accesses, sum, users[0])) init = NdArray();
  }
  if (redirected.empty()) return;
  for (const Redirected& each : redirected) accesses.redirect(each.call, each.from, each.to);
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < tape.calls.size(); ++i)
    if (!dropped[i]) order.push_back(i);
  reorder(tape, accesses, order);
}

void overwrite_zeros(Tape& tape, const AccessIndex& accesses) {
  const Zeros zeros(tape);
  for (std::size_t i = 0; i < tape.calls.size(); ++i) {
    TapeCall& call = tape.calls[i];
    const Addition addition(call);
    if (!addition.sum || !is_floating_on_cpu(*addition.sum) || !addition.sum->is_contiguous() ||
        addition.part->storage() == addition.sum->storage())
      continue;
    if (!zeros.drop(tape, accesses, *addition.sum, static_cast<int>(i))) continue;
    auto* const add = call.call->as(kernels::Binary<ops::Add>::slot);
    NdArray sum = *addition.sum;
    call.call =
        std::make_unique<KeptAddition>(kernels::Binary<ops::Add>::slot, add->function(), sum, sum.dtype(),
                                       Scalar(0), *addition.part, std::get<4>(add->arguments()));
  }
}

namespace {

// Returns the inner dimension k of a product of m x k and k x n.
std::int64_t depth_of(const NdArray& a, const ProductArgs& args) {
  return a.sizes()[args.a_transposed ? 0 : 1];
}

NdArray narrowed(const NdArray& x, std::size_t dim, std::int64_t first, std::int64_t count) {
  DimVector sizes(x.sizes());
  sizes[dim] = count;
  return NdArray(x.storage(), sizes, DimVector(x.strides()), x.offset() + first * x.strides()[dim],
                 x.dtype());
}

// Produces rows of a matrix product.
class ProductProducer final : public Producer {
 public:
  static constexpr std::int64_t kRows = 128;  // rows of a block; with fewer, the kernel packs too often

  explicit ProductProducer(KeptProduct& product) : product_(product) {}

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
    constexpr std::int64_t kWork = 1 << 16;  // multiplications that justify one more thread
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

  void produce(std::int64_t first, std::int64_t last, std::byte* to) const override {
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

std::unique_ptr<Producer> product_producer(const TapeCall& call) {
  KeptProduct* const product = call.call->as(kernels::product);
  if (!product) return nullptr;
  auto producer = std::make_unique<ProductProducer>(*product);
  if (!producer->fits()) return nullptr;
  return producer;
}

void sink_producers(Tape& tape, AccessIndex& accesses) {
  std::vector<std::vector<std::size_t>> before(tape.calls.size());
  std::vector<bool> moved(tape.calls.size());
  for (std::size_t i = 0; i < tape.calls.size(); ++i) {
    const std::unique_ptr<Producer> producer = producer_of(tape.calls[i]);
    if (!producer) continue;
    const int buffer = accesses.buffer(producer->out()), from = static_cast<int>(i);
    const std::vector<int>& users = accesses.calls(buffer);
    if (tape.buffers[static_cast<std::size_t>(buffer)].kind != Buffer::Kind::temporary) continue;
    if (users.front() != from || users.size() < 2 || users[1] == from + 1) continue;
    const int to = users[1];
    if (!tape.calls[static_cast<std::size_t>(to)].call->per_element()) continue;
    bool written_between = false;
    for (const NdArray* x : producer->reads())
      written_between =
          written_between || (x->defined() && accesses.written_between(accesses.buffer(*x), from, to));
    if (written_between) continue;
    before[static_cast<std::size_t>(to)].push_back(i);
    moved[i] = true;
  }
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < tape.calls.size(); ++i) {
    order.insert(order.end(), before[i].begin(), before[i].end());
    if (!moved[i]) order.push_back(i);
  }
  reorder(tape, accesses, order);
}

namespace {

// The buffers that a call reads (`read`) and writes (`made`). `all` is true if all arrays of the call are
// single elements, no earlier call accesses the buffers in `made`, the function has allocated them, and no
// argument of the call is an address or the state of a random generator. On the CPU the elements are
// floating, because kernels for integers may throw.
struct Scalars final : detail::ArgumentVisitor {
  const Tape& tape;
  const AccessIndex& accesses;
  const int call;
  bool all = true, on_cpu = false;
  std::vector<int> read, made;

  Scalars(const Tape& in, const AccessIndex& of, int at) : tape(in), accesses(of), call(at) {}
  void array(NdArray& array) override {
    if (!array.defined()) return;
    const int buffer = accesses.buffer(array);
    on_cpu = on_cpu || array.device().is_cpu();
    all = all && array.numel() == 1 && (!array.device().is_cpu() || is_floating(array.dtype())) &&
          (!written || (accesses.calls(buffer).front() == call && is_own(buffer)));
    (written ? made : read).push_back(buffer);
  }
  // The caller sees writes to other memory also if a call throws.
  bool is_own(int buffer) const {
    const Buffer::Kind kind = tape.buffers[static_cast<std::size_t>(buffer)].kind;
    return kind != Buffer::Kind::input && kind != Buffer::Kind::captured;
  }
  void address(void*&) override { all = false; }
  void words(Philox&) override { all = false; }
  void plain(const void*, std::size_t) override {}
  void number(const void*, std::size_t, const std::type_info& type) override {
    all = all && type != typeid(Generator);
  }
};

enum class When : std::uint8_t { first, in_order, last };

class Order {
 public:
  Order(const Tape& tape, const AccessIndex& accesses)
      : accesses_(accesses), when_(tape.calls.size(), When::in_order) {
    std::vector<Scalars> scalars;
    for (std::size_t i = 0; i < when_.size(); ++i) {
      const TapeCall& call = tape.calls[i];
      Scalars& of = scalars.emplace_back(tape, accesses_, static_cast<int>(i));
      call.call->visit(of);
      of.all = of.all && !of.made.empty() && call.allocated.empty();
      if (of.all && can_begin(of)) when_[i] = When::first;
    }
    for (std::size_t i = when_.size(); i-- > 0;)
      if (scalars[i].all && !scalars[i].on_cpu && when_[i] == When::in_order && can_end(scalars[i]))
        when_[i] = When::last;
  }
  When of(std::size_t call) const { return when_[call]; }

 private:
  bool are(When when, std::vector<int>::const_iterator from, std::vector<int>::const_iterator to) const {
    return std::all_of(from, to, [&](int call) { return when_[static_cast<std::size_t>(call)] == when; });
  }

  // Returns whether the call's operands are available at the start of the tape.
  bool can_begin(const Scalars& of) const {
    return std::all_of(of.read.begin(), of.read.end(), [&](int buffer) {
      const std::vector<int>& writers = accesses_.writers(buffer);
      return are(When::first, writers.begin(), std::lower_bound(writers.begin(), writers.end(), of.call));
    });
  }
  // Returns whether the call can move to the end of the tape: no later call that stays accesses its results
  // or writes to its operands.
  bool can_end(const Scalars& of) const {
    const auto after = [&](const std::vector<int>& calls) {
      return are(When::last, std::upper_bound(calls.begin(), calls.end(), of.call), calls.end());
    };
    return std::all_of(of.made.begin(), of.made.end(),
                       [&](int buffer) { return after(accesses_.calls(buffer)); }) &&
           std::all_of(of.read.begin(), of.read.end(),
                       [&](int buffer) { return after(accesses_.writers(buffer)); });
  }

  const AccessIndex& accesses_;
  std::vector<When> when_;
};

}  // namespace

void hoist_scalars(Tape& tape, AccessIndex& accesses) {
  const Order placement(tape, accesses);
  std::vector<std::size_t> order;
  for (const When when : {When::first, When::in_order, When::last})
    for (std::size_t i = 0; i < tape.calls.size(); ++i)
      if (placement.of(i) == when) order.push_back(i);
  reorder(tape, accesses, order);
}

void hoist_reductions(Tape& tape, AccessIndex& accesses) {
  std::vector<std::vector<std::size_t>> behind(tape.calls.size());
  std::vector<bool> moved(tape.calls.size());
  for (std::size_t i = 0; i < tape.calls.size(); ++i) {
    const std::optional<ElementReductionCall> found = element_reduction_call(tape.calls[i], accesses);
    const auto at = static_cast<int>(i);
    if (!found || found->device.is_cpu() || accesses.calls(found->output.buffer).front() != at) continue;
    const std::vector<int>& writers = accesses.writers(found->input.buffer);
    const auto next = std::lower_bound(writers.begin(), writers.end(), at);
    if (next == writers.begin()) continue;
    auto last = static_cast<std::size_t>(*std::prev(next));
    if (!tape.calls[last].call->per_element()) continue;
    // The reduction moves behind the whole chain of elementwise calls. In the middle, it would split the
    // chain if it could not join the fused group.
    const auto goes_on = [&](std::size_t call) {
      const std::optional<ElementCall> row = element_call(tape.calls[call], accesses);
      return row && row->count == found->count;
    };
    const std::size_t furthest = std::min(i, last + DeviceChain::kMostCalls);
    while (last + 1 < furthest && goes_on(last + 1)) ++last;
    behind[last].push_back(i);
    moved[i] = true;
  }
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < tape.calls.size(); ++i) {
    if (!moved[i]) order.push_back(i);
    order.insert(order.end(), behind[i].begin(), behind[i].end());
  }
  reorder(tape, accesses, order);
}

}  // namespace ebb::detail::compile
