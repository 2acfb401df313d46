// x.index({...}) and its variants, and operator<< of indices. All indices except tensors select a view; the
// tensors then index the view.
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/index/indexing.h>
#include <ebb/ops/shape.h>

#include "ops/common/arrays.h"
#include "ops/common/record.h"
#include "ops/index/common.h"

#include <ostream>
#include <string_view>

namespace ebb::indexing {

namespace {

using Tensors = std::vector<optional<Variable>>;  // one for each dimension of the view

bool is_mask(const Variable& x) { return x.dtype() == kBool || x.dtype() == kByte; }

// Returns the number of dimensions of x that the indices use.
std::int64_t dims_taken(ArrayRef<TensorIndex> indices) {
  std::int64_t taken = 0;
  for (const TensorIndex& index : indices) {
    if (index.is_tensor())
      taken += is_mask(index.tensor()) ? index.tensor().dim() : 1;
    else if (index.is_integer() || index.is_slice())
      ++taken;
  }
  return taken;
}

void record(Tensors& tensors, std::int64_t dim, Variable index) {
  tensors.resize(static_cast<std::size_t>(dim) + 1);
  tensors[dim] = std::move(index);
}

// Returns the index for a bool. It indexes a new dimension of size 1: `true` selects its element, and `false`
// selects no element.
Variable bool_index(bool value, Device device) {
  return Variable(ops::zeros_array({value ? 1 : 0}, kLong, device));
}

// A view of x, and the tensors that must still index this view.
struct Part {
  Variable view;
  Tensors tensors;
  DimVector names;  // for each dimension of the view: its number in x, or -1 for a new dimension

  void insert(std::int64_t dim) {
    view = unsqueeze(view, dim);
    names.insert(names.begin() + dim, -1);
  }
  void select(std::int64_t dim, std::int64_t index, const Variable& x) {
    const std::int64_t size = view.size(dim), name = names[dim];
    EBB_CHECK_INDEX(index >= -size && index < size, "index: index ", index,
                    " is out of bounds for dimension ", name, " with size ", size, " (shape ", x.sizes(),
                    ").");
    view = ebb::select(view, dim, index);
    names.erase(names.begin() + dim);
  }
};

// Applies all indices except the tensors.
Part part_of(const Variable& x, ArrayRef<TensorIndex> indices) {
  const std::int64_t taken = dims_taken(indices);
  EBB_CHECK_INDEX(taken <= x.dim(), "index: too many indices for tensor of dimension ", x.dim(), " (got ",
                  taken, ", shape ", x.sizes(), ").");
  Part part{x, {}, {}};
  for (std::int64_t d = 0; d < x.dim(); ++d) part.names.push_back(d);
  std::int64_t dim = 0;
  bool ellipsis = false;
  for (const TensorIndex& index : indices) {
    if (index.is_none()) {
      part.insert(dim++);
    } else if (index.is_ellipsis()) {
      EBB_CHECK_INDEX(!ellipsis, "index: an index can only have a single ellipsis (\"...\").");
      ellipsis = true;
      dim += x.dim() - taken;
    } else if (index.is_integer()) {
      part.select(dim, index.integer(), x);
    } else if (index.is_boolean()) {
      part.insert(dim);
      record(part.tensors, dim++, bool_index(index.boolean(), x.device()));
    } else if (index.is_slice()) {
      const Slice& s = index.slice();
      const bool whole = s.start() == 0 && s.stop() == INDEX_MAX && s.step() == 1 && indices.size() > 1;
      if (!whole) part.view = slice(part.view, dim, s.start(), s.stop(), s.step());
      ++dim;
    } else {
      const Variable& tensor = index.tensor();
      EBB_CHECK(tensor.defined(),
                "index: a tensor among the indices is undefined. Use None for a new dimension.");
      if (tensor.dim() == 0 && is_integral(tensor.dtype(), true)) {
        if (!is_mask(tensor)) {
          part.select(dim, tensor.item<std::int64_t>(), x);
          continue;
        }
        ops::warn_of_byte_mask("index", tensor);
        part.insert(dim);
        record(part.tensors, dim++, bool_index(tensor.item<bool>(), x.device()));
      } else {
        record(part.tensors, dim++,
               tensor.device() == x.device() ? tensor : to(tensor, TensorOptions(x.device())));
      }
    }
  }
  return part;
}

// Returns the assigned value without leading dimensions of size 1, which have no effect.
Variable without_leading_ones(const Variable& value) {
  std::size_t ones = 0;
  const IntArrayRef sizes = value.sizes();
  while (ones < sizes.size() && sizes[ones] == 1) ++ones;
  return ones == 0 ? value : reshape(value, sizes.slice(ones));
}

void check_not_empty(const char* op, ArrayRef<TensorIndex> indices) {
  EBB_CHECK(!indices.empty(), op, ": Passing an empty index list to Tensor::", op,
            "() is not valid syntax. Use {\"...\"} for the whole tensor.");
}

void assign(const Variable& place, const Variable& value) {
  copy_(place, place.sizes() == value.sizes() ? value : without_leading_ones(value));
}

}  // namespace

TensorIndex::TensorIndex(const char* text) : kind_(Kind::ellipsis) {
  EBB_CHECK(text && std::string_view(text) == "...",
            "TensorIndex: expected \"...\" to represent an ellipsis index, ", "but got \"", text ? text : "",
            "\".");
}

Variable get_item(const Variable& x, ArrayRef<TensorIndex> indices) {
  check_not_empty("index", indices);
  const Part part = part_of(x, indices);
  if (!part.tensors.empty()) return ops::index_part(part.view, part.tensors, part.names);
  return part.view.impl() == x.impl() ? alias(x) : part.view;
}

void set_item(const Variable& x, ArrayRef<TensorIndex> indices, const Variable& value, bool accumulate) {
  check_not_empty("index_put_", indices);
  // As in torch, x[false] = value does nothing.
  if (indices.size() == 1 && indices[0].is_boolean() && !indices[0].boolean()) return;
  const Part part = part_of(x, indices);
  if (!part.tensors.empty()) {
    ops::put_part_(part.view, part.tensors, without_leading_ones(value), accumulate, part.names);
  } else {
    assign(part.view, accumulate ? add(part.view, value) : value);
  }
}

void set_item(const Variable& x, ArrayRef<TensorIndex> indices, const Scalar& value) {
  set_item(x, indices, Variable(ops::scalar_array(value, x.dtype(), x.device())));
}

Variable put_item(const Variable& x, ArrayRef<TensorIndex> indices, const Variable& value, bool accumulate) {
  check_not_empty("index_put", indices);
  bool only_tensors = true;
  Tensors tensors;
  for (const TensorIndex& i : indices) {
    only_tensors &= i.is_tensor();
    if (only_tensors) tensors.emplace_back(i.tensor());
  }
  if (only_tensors) return index_put(x, tensors, without_leading_ones(value), accumulate);
  Variable out = clone(x, MemoryFormat::Contiguous);
  set_item(out, indices, value, accumulate);
  return out;
}

std::ostream& operator<<(std::ostream& out, const Slice& slice) {
  return out << slice.start() << ":" << slice.stop() << ":" << slice.step();
}

std::ostream& operator<<(std::ostream& out, const TensorIndex& index) {
  if (index.is_none()) return out << "None";
  if (index.is_ellipsis()) return out << "...";
  if (index.is_integer()) return out << index.integer();
  if (index.is_boolean()) return out << (index.boolean() ? "true" : "false");
  if (index.is_slice()) return out << index.slice();
  return out << index.tensor();
}

std::ostream& operator<<(std::ostream& out, const std::vector<TensorIndex>& indices) {
  const char* before = "(";
  for (const TensorIndex& index : indices) {
    out << before << index;
    before = ", ";
  }
  return out << (indices.empty() ? "()" : ")");
}

}  // namespace ebb::indexing
