// How calls are read.
#include "compile/element_call.h"

#include "ops/norm/kernels.h"
#include "ops/reduce/kernels.h"

namespace ebb::compiling {
namespace {

// Whether all elements are the same one.
bool is_still(const NdArray& x) {
  for (std::size_t d = 0; d < static_cast<std::size_t>(x.dim()); ++d)
    if (x.sizes()[d] != 1 && x.strides()[d] != 0) return false;
  return true;
}

}  // namespace

std::vector<const ElementOperand*> ElementCall::in_memory() const {
  std::vector<const ElementOperand*> all;
  for (int i = 0; i < row.count; ++i)
    if (in[i].place >= 0) all.push_back(&in[i]);
  all.push_back(&out);
  return all;
}

ElementOperand operand_of(const NdArray& x, const Touches& touches) {
  ElementOperand operand;
  operand.place = touches.place(x);
  operand.dtype = x.dtype();
  operand.offset = static_cast<std::size_t>(x.offset() * element_size(x.dtype()));
  return operand;
}

std::optional<ElementCall> element_call(const TapeCall& call, const Touches& touches) {
  if (!call.call->per_element() || !call.made.empty()) return std::nullopt;
  ElementCall found;
  const NdArray* const out = call.call->element_row(found.row);
  if (!out || !out->is_contiguous() || out->numel() == 0) return std::nullopt;
  if (!found.row.function && !found.row.type) return std::nullopt;
  found.count = out->numel();
  found.device = out->device();
  found.out = operand_of(*out, touches);
  for (int i = 0; i < found.row.count; ++i) {
    const detail::ElementRow::Operand& given = found.row.operands[i];
    ElementOperand& operand = found.in[i];
    operand.dtype = given.dtype;
    const NdArray* const x = given.array ? given.array : given.read_from;
    if (x) {
      // A number that is read may be of another dtype, which rows do not convert.
      if (given.read_from && x->dtype() != found.row.dtype) return std::nullopt;
      if (x->device() != found.device) return std::nullopt;
      operand = operand_of(*x, touches);
    }
    operand.still = found.count != 1 && (!x || is_still(*x));
    if (x && !operand.still && (x->numel() != found.count || !x->is_contiguous())) return std::nullopt;
    // What it writes it must not read at other elements.
    if (operand.place == found.out.place && !operand.same_elements(found.out)) return std::nullopt;
  }
  return found;
}

namespace {

// The matrix whose rows or columns are reduced, where the dimensions in `dims` are the last or the first ones
// of x.
std::optional<ReducedMatrix> matrix_of(const NdArray& x, DimMask dims) {
  std::int64_t reduced = 1, kept = 1;
  bool last = true, first = true;
  for (std::size_t d = x.sizes().size(); d-- > 0;) {
    if (x.sizes()[d] == 1) continue;
    if ((dims >> d) & 1) {
      last = last && kept == 1;
      reduced *= x.sizes()[d];
    } else {
      first = first && reduced == 1;
      kept *= x.sizes()[d];
    }
  }
  if (last) return ReducedMatrix{kept, false};
  if (first) return ReducedMatrix{reduced, true};
  return std::nullopt;
}

// Asks the call, if it is one of the slot's, what it does. On the CPU only sums can tell.
template <class... More>
bool ask(const KernelSlot<void(NdArray&, const NdArray&, DimMask, More...)>& slot, const TapeCall& call,
         const Touches& touches, ElementReductionCall& found) {
  const detail::AnySlot* const self = &slot;
  if (call.call->slot() != self) return false;
  using Kept = detail::KeptSlotCall<NdArray&, const NdArray&, DimMask, More...>;
  auto& kept = static_cast<Kept&>(*call.call);
  const auto read = [&](NdArray& out, const NdArray& x, DimMask dims, const More&... more) {
    const std::optional<ReducedMatrix> matrix = matrix_of(x, dims);
    if (!matrix || !x.is_contiguous() || x.numel() == 0) return false;
    found.shape = *matrix;
    if (x.device().is_cpu() && (out.numel() != 1 || self != &kernels::sum || out.dtype() != x.dtype()))
      return false;
    found.count = x.numel();
    found.device = x.device();
    found.of = operand_of(x, touches);
    found.to = operand_of(out, touches);
    NdArray nothing = NdArray::empty({0}, out.dtype(), out.device());
    const detail::AskReduction scope(found.steps);
    kept.function()(nothing, x, dims, more...);
    return found.steps.described();
  };
  return std::apply(read, kept.arguments());
}

}  // namespace

std::optional<ElementReductionCall> element_reduction_call(const TapeCall& call, const Touches& touches) {
  ElementReductionCall found;
  const auto is = [&](const auto&... slots) { return (ask(slots, call, touches, found) || ...); };
  if (is(kernels::sum, kernels::nansum, kernels::prod, kernels::amax, kernels::amin, kernels::any,
         kernels::all, kernels::count_nonzero, kernels::norm))
    return found;
  return std::nullopt;
}

namespace {

// Of the CPU's kernels, those that read a row before they write it.
bool works_by_rows(const detail::KeptCall& call) {
  return call.name() == kernels::layer_norm_backward.name();
}

struct Arrays final : detail::ArgumentVisitor {
  std::vector<NdArray> all;
  void array(NdArray& array) override {
    if (all.empty() || array.defined()) all.push_back(array);
  }
  void address(void*&) override {}
  void words(Philox&) override {}
  void plain(const void*, std::size_t) override {}
};

}  // namespace

std::vector<std::pair<int, int>> in_place(const TapeCall& call, int at, const Touches& touches) {
  if (!call.call->per_element() && !works_by_rows(*call.call)) return {};
  Arrays arrays;
  call.call->visit(arrays);
  const NdArray& out = arrays.all.front();  // the first is the one that is written
  if (!out.defined() || (!call.call->per_element() && !out.device().is_cpu())) return {};
  const auto fits = [&](const NdArray& x) {
    return x.offset() == out.offset() && x.sizes() == out.sizes() && x.strides() == out.strides() &&
           element_size(x.dtype()) == element_size(out.dtype());
  };
  std::vector<std::pair<int, int>> pairs;
  const int to = touches.place(out);
  for (const NdArray& x : arrays.all) {
    const int from = touches.place(x);
    if (from == to || touches.calls(to).front() != at || touches.calls(from).back() != at) continue;
    bool all = true;
    for (const NdArray& other : arrays.all) all = all && (other.storage() != x.storage() || fits(other));
    if (all) pairs.emplace_back(from, to);
  }
  return pairs;
}

}  // namespace ebb::compiling
