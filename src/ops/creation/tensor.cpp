// tensor(): converts nested lists of numbers to an array.
#include <ebb/core/visit.h>
#include <ebb/ops/creation.h>

#include "core/recorder.h"
#include "kernel/convert.h"
#include "ops/common/arrays.h"
#include "ops/common/checks.h"
#include "ops/common/factories.h"

namespace ebb {
namespace {

using detail::TensorData;
using Kind = TensorData::Kind;

// Appends the sizes of `data` to `sizes`. Below the first level it reads only the first element of each list;
// write() checks that the others have the same shape.
void append_sizes(DimVector& sizes, const TensorData& data) {
  if (data.kind() == Kind::array) sizes.push_back(static_cast<std::int64_t>(data.array_size()));
  if (data.kind() != Kind::list) return;
  sizes.push_back(static_cast<std::int64_t>(data.list().size()));
  if (!data.list().empty()) append_sizes(sizes, data.list()[0]);
}

// Returns the dtype of the first number in the nested lists, or Undefined if there is none.
DType number_type(const TensorData& data) {
  if (data.kind() != Kind::list) return data.dtype();
  return data.list().empty() ? DType::Undefined : number_type(data.list()[0]);
}

DType result_type(DType numbers) {
  if (numbers == DType::Undefined || numbers == kFloat || numbers == kDouble) return get_default_dtype();
  return numbers == kInt ? kLong : numbers;
}

struct Writer {
  NdArray& out;
  DType numbers;
  std::int64_t at = 0;

  void write(const TensorData& data, std::size_t depth) {
    const IntArrayRef sizes = out.sizes();
    const bool deepest = depth == sizes.size();
    if (data.kind() != Kind::list) {
      EBB_CHECK(data.dtype() == numbers, "tensor: the numbers have different types, ", numbers, " and ",
                data.dtype(), ". Write all of them with the same type, e.g. 1.0 instead of 1.");
    }
    const std::int64_t size = data.kind() == Kind::list    ? static_cast<std::int64_t>(data.list().size())
                              : data.kind() == Kind::array ? static_cast<std::int64_t>(data.array_size())
                                                           : -1;
    EBB_CHECK(deepest ? size < 0 : size == sizes[depth], "tensor: the list is ragged: shape ", sizes,
              " follows from its first elements, but another element differs at depth ",
              static_cast<std::int64_t>(depth), ".");
    if (data.kind() == Kind::list) {
      for (const TensorData& part : data.list()) write(part, depth + 1);
    } else if (data.kind() == Kind::number) {
      write_number(data.number());
    } else {
      write_array(data, size);
    }
  }

  void write_number(const Scalar& value) {
    if (is_integral(out.dtype()))
      ops::check_fits("tensor", value, out.dtype());  // for a floating dtype the value is rounded
    visit_all(out.dtype(), "tensor", [&]<class T> { out.address_as<T>()[at] = element<T>(value); });
    ++at;
  }

  void write_array(const TensorData& data, std::int64_t size) {
    EBB_CHECK(at + size <= out.numel(), "tensor: the list is ragged.");
    const detail::RecorderScope not_recorded(nullptr);  // a recording tape treats the list as a constant
    const std::size_t bytes = static_cast<std::size_t>(size * element_size(numbers));
    const NdArray source(Storage::adopt(const_cast<void*>(data.array()), bytes, kCPU, nullptr, nullptr),
                         {size}, {1}, 0, numbers);
    NdArray target = out.as_strided({size}, {1}, at);
    ops::copy_array(target, source);
    at += size;
  }
};

}  // namespace

Variable tensor(const detail::TensorData& data, const TensorOptions& options) {
  DimVector sizes;
  append_sizes(sizes, data);
  const DType numbers = number_type(data);
  NdArray out = NdArray::empty(sizes, options.dtype_or(result_type(numbers)));
  detail::host_access(out);
  Writer{out, numbers}.write(data, 0);
  const Device device = ops::resolve_device(options.device());
  if (!device.is_cpu()) {
    NdArray moved = NdArray::empty(sizes, out.dtype(), device);
    ops::copy_constant(moved, out);
    out = std::move(moved);
  }
  return ops::finish(std::move(out), options);
}

}  // namespace ebb
