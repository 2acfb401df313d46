// How a call is read as a row.
#include "compile/element_call.h"

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
  operand.size = static_cast<std::size_t>(element_size(x.dtype()));
  operand.offset = static_cast<std::size_t>(x.offset()) * operand.size;
  return operand;
}

std::optional<ElementCall> element_call(const TapeCall& call, const Touches& touches) {
  if (!call.call->per_element() || !call.made.empty()) return std::nullopt;
  ElementCall found;
  const NdArray* const out = call.call->element_row(found.row);
  if (!out || !out->is_contiguous() || out->numel() == 0) return std::nullopt;
  found.count = out->numel();
  found.out = operand_of(*out, touches);
  for (int i = 0; i < found.row.count; ++i) {
    const detail::ElementRow::Operand& given = found.row.operands[i];
    ElementOperand& operand = found.in[i];
    const NdArray* const x = given.array ? given.array : given.read_from;
    if (x) {
      // A number that is read may be of another dtype, which rows do not convert.
      if (given.read_from && x->dtype() != found.row.dtype) return std::nullopt;
      operand = operand_of(*x, touches);
    }
    operand.still = found.count != 1 && (!x || is_still(*x));
    if (x && !operand.still && (x->numel() != found.count || !x->is_contiguous())) return std::nullopt;
    // What it writes it must not read at other elements.
    if (operand.place == found.out.place && !operand.same_elements(found.out)) return std::nullopt;
  }
  return found;
}

}  // namespace ebb::compiling
