// Shapes: views, joins, rearrangements, padding.
#include "optable/rows.h"

namespace optable {
namespace {

using In = const variable_list&;
using V = const Variable&;

Row& matrix(const char* name, Variable (*f)(V)) { return unary(name, f).shapes({{{3, 4}}}); }
Row& cube(const char* name, Variable (*f)(V)) { return unary(name, f).shapes({{{2, 3, 4}}}); }
Row& square(const char* name, Variable (*f)(V)) { return unary(name, f).shapes({{{3, 3}}}); }
/// Same elements in the same order.
Row::Reference resized(Sizes sizes) {
  return [sizes](const std::vector<Array>& in) { return std::vector<Array>{{sizes, in[0].values}}; };
}

std::vector<Array> transposed(const std::vector<Array>& in) {
  const std::size_t m = static_cast<std::size_t>(in[0].sizes[0]),
                    n = static_cast<std::size_t>(in[0].sizes[1]);
  Array out{{in[0].sizes[1], in[0].sizes[0]}, {}};
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t i = 0; i < m; ++i) out.values.push_back(in[0][i * n + j]);
  return {out};
}

std::vector<Array> joined(const std::vector<Array>& in) {
  Array out = in[0];
  out.sizes[0] += in[1].sizes[0];
  out.values.insert(out.values.end(), in[1].values.begin(), in[1].values.end());
  return {out};
}

void views() {
  matrix("reshape",
         [](V x) {
           return ebb::reshape(x, {2, 6});
         })
      .reference(resized({2, 6}))
      .error("shape", [] {
        ebb::reshape(ebb::ones({3}), {2, 2});
      });
  cube("flatten", [](V x) { return ebb::flatten(x, 1); }).reference(resized({2, 12}));
  matrix("unflatten", [](V x) { return ebb::unflatten(x, 1, {2, 2}); }).reference(resized({3, 2, 2}));
  matrix("ravel", ebb::ravel).reference(resized({12}));
  matrix("unsqueeze", [](V x) { return ebb::unsqueeze(x, 1); }).reference(resized({3, 1, 4}));
  unary("squeeze", [](V x) { return ebb::squeeze(x); }).shapes({{{3, 1, 4}}}).reference(resized({3, 4}));
  matrix("transpose", [](V x) { return ebb::transpose(x, 0, 1); }).reference(transposed);
  matrix("t", ebb::t).reference(transposed);
  matrix("permute", [](V x) { return ebb::permute(x, {1, 0}); }).reference(transposed);
  matrix("movedim", [](V x) { return ebb::movedim(x, 0, 1); }).reference(transposed);
  unary("expand", [](V x) { return ebb::expand(x, {2, 3, 4}); }).shapes({{{3, 1}}, {{4}}});
  unary("broadcast_to", [](V x) { return ebb::broadcast_to(x, {2, 3, 4}); }).shapes({{{3, 1}}, {{4}}});
  cube("select", [](V x) { return ebb::select(x, 1, -1); });
  matrix("slice", [](V x) { return ebb::slice(x, 1, 1, 4, 2); });
  matrix("narrow", [](V x) { return ebb::narrow(x, 1, 1, 2); });
  matrix("diagonal", [](V x) { return ebb::diagonal(x, 1); });
  matrix("unfold", [](V x) { return ebb::unfold(x, 1, 2, 1); });
  matrix("sum_to_size", [](V x) { return ebb::sum_to_size(x, {1, 4}); });
  cube("split", [](V x) { return ebb::split(x, 2, 2)[1]; });
  cube("chunk", [](V x) { return ebb::chunk(x, 2, 2)[0]; });
  cube("unbind", [](V x) { return ebb::unbind(x, 1)[1]; });
  cube("tensor_split", [](V x) { return ebb::tensor_split(x, 3, 2)[0]; });
}

void joins() {
  row("cat",
      [](In x) {
        return variable_list{ebb::cat({x[0], x[1]})};
      })
      .shapes({{{2, 3}, {4, 3}}})
      .reference(joined)
      .error("", [] {
        ebb::cat({ebb::ones({2, 3}), ebb::ones({2, 4})});
      });
  row("cat.last", [](In x) { return variable_list{ebb::cat({x[0], x[1]}, -1)}; }).shapes({{{2, 3}, {2, 1}}});
  row("stack", [](In x) { return variable_list{ebb::stack({x[0], x[1]}, 1)}; }).shapes({{{2, 3}, {2, 3}}});
  row("hstack", [](In x) { return variable_list{ebb::hstack({x[0], x[1]})}; }).shapes({{{2, 3}, {2, 1}}});
  row("vstack",
      [](In x) {
        return variable_list{ebb::vstack({x[0], x[1]})};
      })
      .shapes({{{2, 3}, {1, 3}}})
      .reference(joined);
  row("dstack", [](In x) { return variable_list{ebb::dstack({x[0], x[1]})}; }).shapes({{{2, 3}, {2, 3}}});
  row("block_diag", [](In x) {
    return variable_list{ebb::block_diag({x[0], x[1]})};
  }).shapes({{{2, 3}, {1, 3}}});
  row("select_scatter", [](In x) {
    return variable_list{ebb::select_scatter(x[0], x[1], 0, 1)};
  }).shapes({{{2, 3}, {3}}});
  row("slice_scatter", [](In x) {
    return variable_list{ebb::slice_scatter(x[0], x[1], 0, 1, 3)};
  }).shapes({{{4, 3}, {2, 3}}});
  row("diagonal_scatter", [](In x) {
    return variable_list{ebb::diagonal_scatter(x[0], x[1])};
  }).shapes({{{3, 3}, {3}}});
}

void rearrangements() {
  matrix("repeat", [](V x) { return ebb::repeat(x, {2, 1, 2}); });
  matrix("tile", [](V x) { return ebb::tile(x, {2}); });
  matrix("repeat_interleave", [](V x) { return ebb::repeat_interleave(x, 2, 1); });
  matrix("flip", [](V x) { return ebb::flip(x, {0, 1}); });
  matrix("fliplr", ebb::fliplr);
  matrix("flipud", ebb::flipud);
  matrix("roll", [](V x) { return ebb::roll(x, {1}, {1}); });
  matrix("rot90", [](V x) { return ebb::rot90(x); });
  square("tril", [](V x) { return ebb::tril(x); }).in_place([](In x) { return ebb::tril_(x[0]); });
  square("triu", [](V x) { return ebb::triu(x, 1); }).in_place([](In x) { return ebb::triu_(x[0], 1); });
  square("diag", [](V x) { return ebb::diag(x); });
  matrix("diag_embed", [](V x) { return ebb::diag_embed(x); });
  matrix("diagflat", [](V x) { return ebb::diagflat(x); });
  unary("pixel_shuffle", [](V x) { return ebb::pixel_shuffle(x, 2); }).shapes({{{1, 4, 2, 3}}});
  unary("pixel_unshuffle", [](V x) { return ebb::pixel_unshuffle(x, 2); }).shapes({{{1, 1, 4, 2}}});
  matrix("constant_pad_nd", [](V x) { return ebb::constant_pad_nd(x, {1, 2}, 3); });
  matrix("pad", [](V x) { return ebb::pad(x, {1, 0, -1, 2}); });
  cube("reflection_pad1d", [](V x) { return ebb::reflection_pad1d(x, {2, 1}); });
  cube("replication_pad1d", [](V x) { return ebb::replication_pad1d(x, {2, 1}); });
  unary("reflection_pad2d", [](V x) {
    return ebb::reflection_pad2d(x, {1, 1, 1, 0});
  }).shapes({{{1, 2, 3, 3}}});
  unary("replication_pad2d", [](V x) {
    return ebb::replication_pad2d(x, {1, 1, 1, 0});
  }).shapes({{{1, 2, 3, 3}}});
  unary("im2col", [](V x) {
    return ebb::im2col(x, {2, 2}, {1, 1}, {0, 0}, {1, 1});
  }).shapes({{{1, 2, 3, 3}}});
}

}  // namespace

void register_shape() {
  views();
  joins();
  rearrangements();
}

}  // namespace optable
