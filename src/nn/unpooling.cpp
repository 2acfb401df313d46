// Functions and modules of max unpooling and fractional max pooling.
#include <ebb/nn/modules/unpooling.h>
#include <ebb/ops/pool.h>
#include <ebb/ops/random.h>
#include <ebb/ops/shape.h>

#include "nn/fields.h"
#include "nn/module_tools.h"

#include <string>
#include <utility>

namespace ebb::nn {

namespace functional {

namespace {

/// Returns the spatial size of the result of an unpooling.
template <std::size_t D>
DimVector unpooled_size(const char* op, const Variable& input, const Variable& indices,
                        const MaxUnpoolFuncOptions<D>& o) {
  EBB_CHECK(input.defined() && indices.defined(), op,
            ": expected an input and its indices, got an undefined tensor.");
  EBB_CHECK(input.dim() == D + 1 || input.dim() == D + 2, op, ": expected an input of ", std::uint64_t{D + 1},
            " or ", std::uint64_t{D + 2}, " dimensions, got shape ", input.sizes(), ".");
  EBB_CHECK(input.sizes() == indices.sizes(), op, ": input of shape ", input.sizes(),
            " and indices of shape ", indices.sizes(), " must have the same shape.");
  DimVector sizes;
  const std::size_t given = o.output_size() ? o.output_size()->size() : D;
  EBB_CHECK(given == D || given == D + 2, op, ": output_size should be a sequence containing ",
            std::uint64_t{D}, " or ", std::uint64_t{D + 2}, " elements, but it has a length of ",
            std::uint64_t{given}, ".");
  for (std::size_t d = 0; d < D; ++d) {
    const std::int64_t stride = (*o.stride())[d];
    const std::int64_t usual =
        (input.size(static_cast<std::int64_t>(d) - static_cast<std::int64_t>(D)) - 1) * stride +
        (*o.kernel_size())[d] - 2 * (*o.padding())[d];
    sizes.push_back(o.output_size() ? (*o.output_size())[given - D + d] : usual);
    EBB_CHECK(!o.output_size() || (sizes[d] > usual - stride && sizes[d] < usual + stride), op,
              ": invalid output_size ", IntArrayRef(*o.output_size()), ": dim ", std::uint64_t{d},
              " must be between ", usual - stride, " and ", usual + stride, ".");
  }
  return sizes;
}

/// Returns the size of the result: output_size, or output_ratio times the input's size.
template <std::size_t D>
DimVector fractional_size(const char* op, const Variable& input, const FractionalMaxPoolOptions<D>& o) {
  EBB_CHECK(o.output_size().has_value() != o.output_ratio().has_value(), op,
            ": requires specifying either an output_size or an output_ratio.");
  if (o.output_size()) return DimVector(IntArrayRef(**o.output_size()));
  DimVector sizes;
  for (std::size_t d = 0; d < D; ++d) {
    const double share = (**o.output_ratio())[d];
    EBB_CHECK(share > 0 && share < 1, op, ": output_ratio must be between 0 and 1, got ", share, ".");
    const std::int64_t in = input.size(static_cast<std::int64_t>(d) - static_cast<std::int64_t>(D));
    sizes.push_back(static_cast<std::int64_t>(static_cast<double>(in) * share));
  }
  return sizes;
}

template <std::size_t D>
Variable samples_for(const char* op, const Variable& input, const FractionalMaxPoolOptions<D>& o) {
  if (o._random_samples().defined()) return o._random_samples().to(input.device(), input.dtype());
  EBB_CHECK(input.dim() == D + 1 || input.dim() == D + 2, op, ": expected an input of ", std::uint64_t{D + 1},
            " or ", std::uint64_t{D + 2}, " dimensions, got shape ", input.sizes(), ".");
  const bool batched = input.dim() == D + 2;
  return rand({batched ? input.size(0) : 1, input.size(batched ? 1 : 0), static_cast<std::int64_t>(D)},
              TensorOptions(input.dtype()).device(input.device()));
}

}  // namespace

Variable max_unpool1d(const Variable& input, const Variable& indices, const MaxUnpool1dFuncOptions& o) {
  const DimVector sizes = unpooled_size("max_unpool1d", input, indices, o);
  return ebb::max_unpool2d(input.unsqueeze(-2), indices.unsqueeze(-2), {1, sizes[0]}).squeeze(-2);
}
Variable max_unpool2d(const Variable& input, const Variable& indices, const MaxUnpool2dFuncOptions& o) {
  return ebb::max_unpool2d(input, indices, unpooled_size("max_unpool2d", input, indices, o));
}
Variable max_unpool3d(const Variable& input, const Variable& indices, const MaxUnpool3dFuncOptions& o) {
  return ebb::max_unpool3d(input, indices, unpooled_size("max_unpool3d", input, indices, o), o.stride(),
                           o.padding());
}

std::tuple<Variable, Variable> fractional_max_pool2d_with_indices(const Variable& input,
                                                                  const FractionalMaxPool2dFuncOptions& o) {
  const char* op = "fractional_max_pool2d";
  return ebb::fractional_max_pool2d(input, o.kernel_size(), fractional_size(op, input, o),
                                    samples_for(op, input, o));
}
std::tuple<Variable, Variable> fractional_max_pool3d_with_indices(const Variable& input,
                                                                  const FractionalMaxPool3dFuncOptions& o) {
  const char* op = "fractional_max_pool3d";
  return ebb::fractional_max_pool3d(input, o.kernel_size(), fractional_size(op, input, o),
                                    samples_for(op, input, o));
}
Variable fractional_max_pool2d(const Variable& input, const FractionalMaxPool2dFuncOptions& o) {
  return std::get<0>(fractional_max_pool2d_with_indices(input, o));
}
Variable fractional_max_pool3d(const Variable& input, const FractionalMaxPool3dFuncOptions& o) {
  return std::get<0>(fractional_max_pool3d_with_indices(input, o));
}

}  // namespace functional

namespace F = functional;

template <std::size_t D>
void MaxUnpoolImpl<D>::pretty_print(std::ostream& stream) const {
  Fields(stream, typeid(MaxUnpoolImpl))("kernel_size", options.kernel_size())("stride", options.stride())(
      "padding", options.padding());
}
template <std::size_t D>
Variable MaxUnpoolImpl<D>::forward(const Variable& input, const Variable& indices,
                                   const optional<std::vector<std::int64_t>>& output_size) {
  return at_path(*this, [&] {
    const auto o = F::MaxUnpoolFuncOptions<D>(options).output_size(output_size);
    if constexpr (D == 1) return F::max_unpool1d(input, indices, o);
    if constexpr (D == 2) return F::max_unpool2d(input, indices, o);
    if constexpr (D == 3) return F::max_unpool3d(input, indices, o);
  });
}
template class MaxUnpoolImpl<1>;
template class MaxUnpoolImpl<2>;
template class MaxUnpoolImpl<3>;
template class Cloneable<MaxUnpool1dImpl>;
template class Cloneable<MaxUnpool2dImpl>;
template class Cloneable<MaxUnpool3dImpl>;

template <std::size_t D>
FractionalMaxPoolImpl<D>::FractionalMaxPoolImpl(FractionalMaxPoolOptions<D> options_)
    : options(std::move(options_)) {
  FractionalMaxPoolImpl::reset();
}
template <std::size_t D>
void FractionalMaxPoolImpl<D>::reset() {
  const std::string name = "FractionalMaxPool" + std::to_string(D) + "d";
  for (const std::int64_t size : *options.kernel_size())
    EBB_CHECK(D == 2 || size > 0, name, ": kernel_size must be greater than 0, got ", size, ".");
  EBB_CHECK(options.output_size().has_value() != options.output_ratio().has_value(), name,
            " requires specifying either an output size, or a pooling ratio.");
  if (options.output_ratio())
    for (const double share : **options.output_ratio())
      EBB_CHECK(share > 0 && share < 1, name, ": output_ratio must be between 0 and 1, got ", share, ".");
  _random_samples =
      this->register_buffer("_random_samples", own_handle(options._random_samples(), _random_samples));
}
template <std::size_t D>
void FractionalMaxPoolImpl<D>::pretty_print(std::ostream& stream) const {
  Fields(stream, typeid(FractionalMaxPoolImpl));
}
template <std::size_t D>
std::tuple<Variable, Variable> FractionalMaxPoolImpl<D>::forward_with_indices(const Variable& input) {
  return at_path(*this, [&] {
    const auto o = FractionalMaxPoolOptions<D>(options)._random_samples(_random_samples);
    if constexpr (D == 2) return F::fractional_max_pool2d_with_indices(input, o);
    if constexpr (D == 3) return F::fractional_max_pool3d_with_indices(input, o);
  });
}
template <std::size_t D>
Variable FractionalMaxPoolImpl<D>::forward(const Variable& input) {
  return std::get<0>(forward_with_indices(input));
}
template class FractionalMaxPoolImpl<2>;
template class FractionalMaxPoolImpl<3>;
template class Cloneable<FractionalMaxPool2dImpl>;
template class Cloneable<FractionalMaxPool3dImpl>;

}  // namespace ebb::nn
