// Rows of convolutions and transposed convolutions: sums over windows.
#include "nn/module_rows.h"

namespace modules {

namespace {

template <class Array>
Sizes vec(const Array& a) {
  return Sizes(a->begin(), a->end());
}

// Returns the convolution of x (N, C, ...) and w (out, in / groups, ...) as one product over all windows.
template <std::size_t D>
Formula convolution(const nn::ConvOptions<D>& o, Sizes before = {}, Sizes behind = {},
                    const char* mode = "") {
  return [=](In in, const Tensors& t) -> variable_list {
    const bool whole = in[0].dim() == D + 2;
    Variable x = whole ? in[0] : in[0].unsqueeze(0);
    // Explicit padding: elements are selected by index, or are zeros.
    for (std::size_t d = 0; d < before.size(); ++d) {
      const auto dim = static_cast<std::int64_t>(d) + 2;
      const std::int64_t n = x.size(dim);
      variable_list parts;
      for (std::int64_t i = -before[d]; i < n + behind[d]; ++i) {
        const std::string m = mode;
        const std::int64_t at = m == "circular"    ? (i + n) % n
                                : m == "replicate" ? std::clamp<std::int64_t>(i, 0, n - 1)
                                : m == "reflect"   ? (i < 0    ? -i
                                                      : i >= n ? 2 * n - 2 - i
                                                               : i)
                                                   : i;
        parts.push_back(at >= 0 && at < n ? x.select(dim, at) : ebb::zeros_like(x.select(dim, 0)));
      }
      x = ebb::stack(parts, dim);
    }
    const Sizes padding = before.empty() ? vec(o.padding().sizes()) : Sizes(D, 0);
    const Variable w = windows(x, vec(o.kernel_size()), vec(o.stride()), padding, vec(o.dilation()));
    const std::int64_t g = o.groups(), k = w.size(0), n = x.size(0);
    Sizes sizes = w.sizes().vec();
    sizes.erase(sizes.begin());
    sizes[1] = o.out_channels();
    Variable y =
        ebb::einsum("kngip,goik->ngop", {w.reshape({k, n, g, x.size(1) / g, -1}),
                                         t["weight"].reshape({g, o.out_channels() / g, x.size(1) / g, k})})
            .reshape(sizes);
    if (o.bias())
      y = y + t["bias"].view([&] {
        Sizes s(D + 1, 1);
        s[0] = -1;
        return s;
      }());
    return {whole ? y : y[0]};
  };
}

// Each input element adds its kernel to the result.
template <std::size_t D>
Formula transposed(const nn::ConvTransposeOptions<D>& o, Sizes extra) {
  return [=](In in, const Tensors& t) -> variable_list {
    const bool whole = in[0].dim() == D + 2;
    const Variable x = whole ? in[0] : in[0].unsqueeze(0);
    const Sizes k = vec(o.kernel_size()), s = vec(o.stride()), p = vec(o.padding()), l = vec(o.dilation());
    const std::int64_t g = o.groups(), n = x.size(0);
    Sizes sizes{n, o.out_channels()};
    for (std::size_t d = 0; d < D; ++d)
      sizes.push_back((x.size(static_cast<std::int64_t>(d) + 2) - 1) * s[d] + l[d] * (k[d] - 1) + 1 +
                      extra[d]);
    const Variable y = ebb::zeros(sizes, ebb::kDouble);
    const Variable w = t["weight"].reshape({g, x.size(1) / g, o.out_channels() / g, -1});
    for (std::int64_t i = 0; i < w.size(3); ++i) {
      Variable target = y;
      std::int64_t rest = i;
      for (std::size_t d = D; d-- > 0; rest /= k[d]) {
        const auto dim = static_cast<std::int64_t>(d) + 2;
        const std::int64_t begin = rest % k[d] * l[d];
        target = target.slice(dim, begin, begin + (x.size(dim) - 1) * s[d] + 1, s[d]);
      }
      target.add_(ebb::einsum("ngip,gio->ngop", {x.reshape({n, g, x.size(1) / g, -1}), w.select(3, i)})
                      .reshape(target.sizes()));
    }
    Variable out = y;
    for (std::size_t d = 0; d < D; ++d) {
      const auto dim = static_cast<std::int64_t>(d) + 2;
      out = out.slice(dim, p[d], y.size(dim) - p[d]);
    }
    if (o.bias())
      out = out + t["bias"].view([&] {
        Sizes b(D + 1, 1);
        b[0] = -1;
        return b;
      }());
    return {whole ? out : out[0]};
  };
}

template <std::size_t D>
void add(std::vector<Row>& rows, const std::string& what, const Sizes& x, const nn::ConvOptions<D>& o,
         Formula formula = nullptr) {
  rows.push_back(row<nn::ModuleHolder<nn::ConvImpl<D>>>("Conv" + std::to_string(D) + "d" + what, {wave(x)},
                                                        formula ? formula : convolution<D>(o), o));
  rows.back().names =
      o.bias() ? std::vector<std::string>{"weight", "bias"} : std::vector<std::string>{"weight"};
  rows.back().batch = x.size() == D + 2 ? 0 : -1;
}

template <std::size_t D>
void add_transposed(std::vector<Row>& rows, const std::string& what, const Sizes& x,
                    const nn::ConvTransposeOptions<D>& o, Sizes output_size = {}, Sizes extra = {}) {
  using Holder = nn::ModuleHolder<nn::ConvTransposeImpl<D>>;
  const std::string name = "ConvTranspose" + std::to_string(D) + "d" + what;
  if (extra.empty()) extra = vec(o.output_padding());
  if (output_size.empty())
    rows.push_back(row<Holder>(name, {wave(x)}, transposed<D>(o, extra), o));
  else
    rows.push_back(row_called<Holder>(
        name, {wave(x)},
        [=](auto& m, In in) {
          return flat(nn::detail::call_module(m, in[0], ebb::IntArrayRef(output_size)));
        },
        transposed<D>(o, extra), o));
  rows.back().names =
      o.bias() ? std::vector<std::string>{"weight", "bias"} : std::vector<std::string>{"weight"};
  rows.back().batch = x.size() == D + 2 ? 0 : -1;
}

// Repeats the previous row with a lazy module, which infers its channels from the first input.
template <class Lazy, class Options>
void again_lazily(std::vector<Row>& rows, Options options) {
  rows.push_back(rows.back());
  rows.back().name = "Lazy" + rows.back().name.substr(0, rows.back().name.find(' '));
  lazy<Lazy>(rows.back(), options.in_channels(0));
}

}  // namespace

std::vector<Row> convolution_rows() {
  using O1 = nn::Conv1dOptions;
  using O2 = nn::Conv2dOptions;
  using O3 = nn::Conv3dOptions;
  using T1 = nn::ConvTranspose1dOptions;
  using T2 = nn::ConvTranspose2dOptions;
  using T3 = nn::ConvTranspose3dOptions;
  std::vector<Row> rows;
  add<1>(rows, "", {2, 3, 5}, O1(3, 2, 2));
  again_lazily<nn::LazyConv1d>(rows, O1(3, 2, 2));
  add<1>(rows, " in groups", {2, 4, 7}, O1(4, 6, 3).stride(2).padding(2).dilation(2).groups(2).bias(false));
  add<1>(rows, " without a batch", {2, 6}, O1(2, 3, 3).padding(1));
  add<1>(rows, " of the same size", {1, 2, 6}, O1(2, 3, 4).padding(ebb::kSame),
         convolution<1>(O1(2, 3, 4), {1}, {2}));
  add<1>(rows, " circular", {2, 2, 5}, O1(2, 3, 3).padding(2).padding_mode(ebb::kCircular),
         convolution<1>(O1(2, 3, 3), {2}, {2}, "circular"));
  add<2>(rows, "", {2, 3, 4, 5}, O2(3, 2, {2, 3}));
  again_lazily<nn::LazyConv2d>(rows, O2(3, 2, {2, 3}));
  add<2>(rows, " in groups", {1, 4, 6, 5},
         O2(4, 4, {2, 3}).stride({2, 1}).padding({1, 2}).dilation({2, 1}).groups(4));
  add<2>(rows, " without a batch", {2, 4, 3}, O2(2, 3, {1, 3}).stride({3, 2}).bias(false));
  add<2>(rows, " of the same size", {1, 2, 4, 5}, O2(2, 2, {2, 3}).dilation({1, 2}).padding(ebb::kSame),
         convolution<2>(O2(2, 2, {2, 3}).dilation({1, 2}), {0, 2}, {1, 2}));
  add<2>(rows, " reflected", {1, 2, 4, 5}, O2(2, 2, 3).padding({1, 2}).padding_mode(ebb::kReflect),
         convolution<2>(O2(2, 2, 3), {1, 2}, {1, 2}, "reflect"));
  add<2>(rows, " replicated", {1, 2, 3, 4}, O2(2, 2, 3).padding({1, 2}).padding_mode(ebb::kReplicate),
         convolution<2>(O2(2, 2, 3), {1, 2}, {1, 2}, "replicate"));
  add<2>(rows, " of one element", {2, 3, 1, 1}, O2(3, 2, 1).stride(2));
  add<3>(rows, "", {1, 2, 3, 4, 3}, O3(2, 2, {2, 1, 3}));
  again_lazily<nn::LazyConv3d>(rows, O3(2, 2, {2, 1, 3}));
  add<3>(rows, " in groups", {2, 2, 4, 3, 4},
         O3(2, 4, 2).stride({2, 1, 3}).padding({0, 1, 1}).dilation({1, 2, 1}).groups(2).bias(false));
  add<3>(rows, " without a batch", {1, 3, 2, 3}, O3(1, 2, 2).padding(1));
  add_transposed<1>(rows, "", {2, 3, 4}, T1(3, 2, 3));
  again_lazily<nn::LazyConvTranspose1d>(rows, T1(3, 2, 3));
  add_transposed<1>(rows, " in groups", {2, 4, 3},
                    T1(4, 6, 3).stride(3).padding(2).dilation(2).groups(2).output_padding(1));
  add_transposed<1>(rows, " without a batch", {2, 4}, T1(2, 3, 2).stride(2).bias(false));
  add_transposed<1>(rows, " of a size", {1, 2, 3}, T1(2, 2, 3).stride(3), {11}, {2});
  add_transposed<2>(rows, "", {2, 3, 2, 3}, T2(3, 2, {2, 3}));
  again_lazily<nn::LazyConvTranspose2d>(rows, T2(3, 2, {2, 3}));
  add_transposed<2>(
      rows, " in groups", {1, 4, 3, 2},
      T2(4, 2, {3, 2}).stride({2, 3}).padding({1, 0}).dilation({2, 1}).groups(2).output_padding({1, 2}));
  add_transposed<2>(rows, " without a batch", {2, 3, 2}, T2(2, 3, 2).stride({1, 2}).padding(1).bias(false));
  add_transposed<2>(rows, " of a size", {2, 2, 2, 3}, T2(2, 1, 2).stride({3, 2}), {7, 6}, {2, 0});
  add_transposed<3>(rows, "", {1, 2, 2, 2, 3}, T3(2, 2, {1, 2, 3}));
  again_lazily<nn::LazyConvTranspose3d>(rows, T3(2, 2, {1, 2, 3}));
  add_transposed<3>(
      rows, " in groups", {1, 2, 2, 3, 2},
      T3(2, 4, 2).stride({2, 1, 3}).padding({0, 1, 1}).groups(2).output_padding({1, 0, 2}).bias(false));
  add_transposed<3>(rows, " of a size", {2, 2, 2, 2, 1}, T3(2, 1, 2).stride(2), {2, 1, 5, 4, 3}, {1, 0, 1});
  return rows;
}

}  // namespace modules
