// Rows of views, and of repeating, reversing, triangles, diagonals and grids.
#include "optable/reference.h"
#include "optable/table.h"

#include <cmath>

namespace optable {
namespace {

Row& matrix(const char* name, Variable (*f)(V)) { return unary(name, f).shapes({{{3, 4}}}); }
Row& cube(const char* name, Variable (*f)(V)) { return unary(name, f).shapes({{{2, 3, 4}}}); }

Index swapped(const Index& i) { return {i[1], i[0]}; }

void reshapes() {
  matrix("reshape", [](V x) { return ebb::reshape(x, {2, 6}); })
      .reference(resized({2, 6}))
      .error("shape", [] { ebb::reshape(ebb::ones({3}), {2, 2}); });
  matrix("view", [](V x) { return ebb::view(x, {2, -1}); })
      .reference(resized({2, 6}))
      .no_layouts("a view exists only for some strides")
      .error("view", [] { ebb::view(ebb::ones({3, 4}).t(), {12}); });
  matrix("view_as", [](V x) { return ebb::view_as(x, ebb::zeros({2, 6})); })
      .reference(resized({2, 6}))
      .no_layouts("a view exists only for some strides");
  cube("flatten", [](V x) { return ebb::flatten(x, 1); }).reference(resized({2, 12})).error("flatten", [] {
    ebb::flatten(ebb::ones({2, 3, 4}), 2, 1);
  });
  matrix("unflatten", [](V x) { return ebb::unflatten(x, 1, {2, 2}); })
      .reference(resized({3, 2, 2}))
      .error("unflatten", [] { ebb::unflatten(ebb::ones({3, 4}), 1, {3, 2}); });
  matrix("ravel", ebb::ravel).reference(resized({12}));
  matrix("unsqueeze", [](V x) { return ebb::unsqueeze(x, 1); })
      .reference(resized({3, 1, 4}))
      .reshaping([](In x) { return ebb::unsqueeze_(x[0], 1); })
      .error("range", [] { ebb::unsqueeze(ebb::ones({3}), 3); });
  unary("squeeze", [](V x) { return ebb::squeeze(x); })
      .shapes({{{3, 1, 4}}})
      .reference(resized({3, 4}))
      .reshaping([](In x) { return ebb::squeeze_(x[0]); });
  unary("squeeze.dim", [](V x) { return ebb::squeeze(x, 1); })
      .shapes({{{3, 1, 4, 1}}})
      .reference(resized({3, 4, 1}))
      .reshaping([](In x) { return ebb::squeeze_(x[0], 1); });
  unary("atleast_1d", [](V x) { return ebb::atleast_1d(x); }).shapes({{{}}}).reference(resized({1}));
  unary("atleast_2d", [](V x) { return ebb::atleast_2d(x); }).shapes({{{3}}}).reference(resized({1, 3}));
  unary("atleast_3d", [](V x) { return ebb::atleast_3d(x); })
      .shapes({{{3, 4}}})
      .reference(resized({3, 4, 1}));
}

void permutations() {
  matrix("transpose", [](V x) { return ebb::transpose(x, 0, 1); })
      .reference(picked({4, 3}, swapped))
      .reshaping([](In x) { return ebb::transpose_(x[0], 0, 1); })
      .error("range", [] { ebb::transpose(ebb::ones({3}), 0, 1); });
  matrix("t", ebb::t)
      .reference(picked({4, 3}, swapped))
      .reshaping([](In x) { return ebb::t_(x[0]); })
      .error("t", [] { ebb::t(ebb::ones({2, 3, 4})); });
  cube("numpy_T", [](V x) {
    return ebb::numpy_T(x);
  }).reference(picked({4, 3, 2}, [](const Index& i) { return Index{i[2], i[1], i[0]}; }));
  cube("permute", [](V x) { return ebb::permute(x, {1, 2, 0}); })
      .reference(picked({3, 4, 2}, [](const Index& i) { return Index{i[2], i[0], i[1]}; }))
      .error("permute", [] { ebb::permute(ebb::ones({2, 3}), {0, 0}); });
  cube("movedim", [](V x) {
    return ebb::movedim(x, 0, 2);
  }).reference(picked({3, 4, 2}, [](const Index& i) { return Index{i[2], i[0], i[1]}; }));
  unary("expand", [](V x) { return ebb::expand(x, {2, 3, 4}); })
      .shapes({{{3, 1}}})
      .reference(picked({2, 3, 4}, [](const Index& i) { return Index{i[1], 0}; }))
      .error("expand", [] { ebb::expand(ebb::ones({3}), {2}); });
  unary("expand.vector", [](V x) { return ebb::expand(x, {2, 3, -1}); })
      .shapes({{{4}}})
      .reference(picked({2, 3, 4}, [](const Index& i) { return Index{i[2]}; }));
  unary("broadcast_to", [](V x) { return ebb::broadcast_to(x, {2, 3, 4}); })
      .shapes({{{3, 1}}})
      .reference(picked({2, 3, 4}, [](const Index& i) { return Index{i[1], 0}; }));
  row("broadcast_tensors", [](In x) { return ebb::broadcast_tensors({x[0], x[1]}); })
      .shapes({{{3, 1}, {4}}})
      .reference([](const Arrays& in) {
        return Arrays{build({3, 4}, [&](const Index& i) { return in[0]({i[0], 0}); }),
                      build({3, 4}, [&](const Index& i) { return in[1]({i[1]}); })};
      })
      .error("broadcast", [] { ebb::broadcast_tensors({ebb::ones({2}), ebb::ones({3})}); });
}

void parts() {
  cube("select", [](V x) { return ebb::select(x, 1, -1); })
      .reference(picked({2, 4}, [](const Index& i) { return Index{i[0], 2, i[1]}; }))
      .error("select", [] { ebb::select(ebb::ones({3}), 0, 3); });
  matrix("slice", [](V x) { return ebb::slice(x, 1, 1, 4, 2); })
      .reference(picked({3, 2}, [](const Index& i) { return Index{i[0], 1 + 2 * i[1]}; }))
      .error("step", [] { ebb::slice(ebb::ones({3}), 0, 0, 3, 0); });
  matrix("narrow", [](V x) { return ebb::narrow(x, 1, 1, 2); })
      .reference(picked({3, 2}, [](const Index& i) { return Index{i[0], 1 + i[1]}; }))
      .error("narrow", [] { ebb::narrow(ebb::ones({3}), 0, 2, 2); });
  matrix("diagonal", [](V x) {
    return ebb::diagonal(x, 1);
  }).reference(picked({3}, [](const Index& i) { return Index{i[0], i[0] + 1}; }));
  cube("diagonal.dims", [](V x) { return ebb::diagonal(x, -1, 2, 0); })
      .reference(picked({3, 2}, [](const Index& i) { return Index{i[1], i[0], i[1] + 1}; }))
      .error("diagonal", [] { ebb::diagonal(ebb::ones({2, 2}), 0, 1, 1); });
  matrix("unfold", [](V x) { return ebb::unfold(x, 1, 2, 1); })
      .reference(picked({3, 3, 2}, [](const Index& i) { return Index{i[0], i[1] + i[2]}; }))
      .error("unfold", [] { ebb::unfold(ebb::ones({3}), 0, 4, 1); });
  matrix("as_strided", [](V x) { return ebb::as_strided(x, {2, 3}, {4, 2}, 1); })
      .reference(picked({2, 3},
                        [](const Index& i) {
                          const std::int64_t at = 1 + 4 * i[0] + 2 * i[1];
                          return Index{at / 4, at % 4};
                        }))
      .reshaping([](In x) { return ebb::as_strided_(x[0], {2, 3}, {4, 2}, 1); })
      .no_layouts("the result depends on the memory layout")
      .error("as_strided", [] { ebb::as_strided(ebb::ones({3}), {4}, {1}); });
  matrix("as_strided.overlap", [](V x) { return ebb::as_strided(x, {4, 3}, {1, 2}); })
      .no_layouts("the result depends on the memory layout")
      .reference(picked({4, 3}, [](const Index& i) {
        const std::int64_t at = i[0] + 2 * i[1];
        return Index{at / 4, at % 4};
      }));
  matrix("sum_to_size", [](V x) { return ebb::sum_to_size(x, {1, 4}); })
      .roundings(4)
      .reference(built({1, 4},
                       [](const Arrays& in, const Index& i) {
                         return in[0]({0, i[1]}) + in[0]({1, i[1]}) + in[0]({2, i[1]});
                       }))
      .error("sum_to_size", [] { ebb::sum_to_size(ebb::ones({3, 4}), {2, 4}); });
}

// The gradients of views: zeros that contain the gradient at its position.
void placed() {
  unary("select_backward", [](V g) { return ebb::select_backward(g, {2, 3, 4}, 1, 2); })
      .shapes({{{2, 4}}})
      .reference(picked({2, 3, 4}, [](const Index& i) { return i[1] == 2 ? Index{i[0], i[2]} : Index{}; }))
      .error("select_backward", [] { ebb::select_backward(ebb::ones({2, 5}), {2, 3, 4}, 1, 2); })
      .error("select_backward", [] { ebb::select_backward(ebb::ones({2, 4}), {2, 3, 4}, 1, 3); });
  unary("slice_backward", [](V g) { return ebb::slice_backward(g, {3, 5}, 1, 1, 5, 2); })
      .shapes({{{3, 2}}})
      .reference(picked({3, 5}, [](const Index& i) { return i[1] % 2 ? Index{i[0], i[1] / 2} : Index{}; }))
      .error("slice_backward", [] { ebb::slice_backward(ebb::ones({3, 2}), {3, 5}, 2, 1, 5, 2); });
  unary("diagonal_backward", [](V g) { return ebb::diagonal_backward(g, {3, 4}, 1, 0, 1); })
      .shapes({{{3}}})
      .reference(picked({3, 4}, [](const Index& i) { return i[1] == i[0] + 1 ? Index{i[0]} : Index{}; }))
      .error("diagonal_backward", [] { ebb::diagonal_backward(ebb::ones({3}), {3, 4}, 1, 1, 1); });
  unary("unfold_backward", [](V g) { return ebb::unfold_backward(g, {3, 4}, 1, 2, 1); })
      .shapes({{{3, 3, 2}}})
      .reference(built({3, 4},
                       [](const Arrays& in, const Index& i) {
                         double s = 0;
                         for (std::int64_t w = 0; w < 3; ++w)
                           if (i[1] >= w && i[1] < w + 2) s += in[0]({i[0], w, i[1] - w});
                         return s;
                       }))
      .error("unfold_backward", [] { ebb::unfold_backward(ebb::ones({18}), {3, 4}, 1, 2, 1); });
}

}  // namespace

void register_views() {
  family("shape");
  reshapes();
  permutations();
  parts();
  placed();
}

// Rows of repeating, reversing, triangles, diagonals and grids.

namespace {

Row& square(const char* name, Variable (*f)(V)) { return unary(name, f).shapes({{{3, 3}}}); }

void repeats() {
  matrix("repeat", [](V x) { return ebb::repeat(x, {2, 1, 2}); })
      .roundings(4)
      .reference(picked({2, 3, 8}, [](const Index& i) { return Index{i[1], i[2] % 4}; }))
      .error("repeat", [] { ebb::repeat(ebb::ones({3, 4}), {2}); });
  matrix("tile", [](V x) {
    return ebb::tile(x, {2});
  }).reference(picked({3, 8}, [](const Index& i) { return Index{i[0], i[1] % 4}; }));
  matrix("repeat_interleave", [](V x) { return ebb::repeat_interleave(x, 2, 1); })
      .reference(picked({3, 8}, [](const Index& i) { return Index{i[0], i[1] / 2}; }))
      .error("repeat_interleave", [] { ebb::repeat_interleave(ebb::ones({3}), -1); });
  matrix("repeat_interleave.tensor", [](V x) {
    return ebb::repeat_interleave(x, ebb::tensor({2, 0, 1}).to(x.device(), ebb::kLong), 0);
  }).reference(picked({3, 4}, [](const Index& i) { return Index{i[0] < 2 ? 0 : 2, i[1]}; }));
  matrix("flip", [](V x) { return ebb::flip(x, {0, 1}); })
      .reference(picked({3, 4}, [](const Index& i) { return Index{2 - i[0], 3 - i[1]}; }))
      .error("flip", [] { ebb::flip(ebb::ones({3}), {0, 0}); });
  matrix("fliplr", ebb::fliplr).reference(picked({3, 4}, [](const Index& i) {
    return Index{i[0], 3 - i[1]};
  }));
  matrix("flipud", ebb::flipud).reference(picked({3, 4}, [](const Index& i) {
    return Index{2 - i[0], i[1]};
  }));
  matrix("roll", [](V x) { return ebb::roll(x, {1}, {1}); })
      .reference(picked({3, 4}, [](const Index& i) { return Index{i[0], (i[1] + 3) % 4}; }))
      .error("roll", [] { ebb::roll(ebb::ones({3}), {1, 2}, {0}); });
  matrix("roll.flat", [](V x) { return ebb::roll(x, {-2}); }).reference(picked({3, 4}, [](const Index& i) {
    const std::int64_t at = (4 * i[0] + i[1] + 2) % 12;
    return Index{at / 4, at % 4};
  }));
  matrix("rot90", [](V x) {
    return ebb::rot90(x);
  }).reference(picked({4, 3}, [](const Index& i) { return Index{i[1], 3 - i[0]}; }));
}

void triangles() {
  square("tril", [](V x) { return ebb::tril(x); })
      .in_place([](In x) { return ebb::tril_(x[0]); })
      .reference(picked({3, 3}, [](const Index& i) { return i[1] <= i[0] ? i : Index{}; }))
      .error("tril", [] { ebb::tril(ebb::ones({3})); });
  square("triu", [](V x) {
    return ebb::triu(x, 1);
  }).in_place([](In x) {
      return ebb::triu_(x[0], 1);
    }).reference(picked({3, 3}, [](const Index& i) { return i[1] > i[0] ? i : Index{}; }));
  square("diag", [](V x) {
    return ebb::diag(x);
  }).reference(picked({3}, [](const Index& i) { return Index{i[0], i[0]}; }));
  unary("diag.vector", [](V x) { return ebb::diag(x, -1); })
      .shapes({{{2}}})
      .reference(picked({3, 3}, [](const Index& i) { return i[0] == i[1] + 1 ? Index{i[1]} : Index{}; }))
      .error("diag", [] { ebb::diag(ebb::ones({2, 2, 2})); });
  matrix("diag_embed", [](V x) {
    return ebb::diag_embed(x);
  }).reference(picked({3, 4, 4}, [](const Index& i) { return i[1] == i[2] ? Index{i[0], i[1]} : Index{}; }));
  unary("diagflat", [](V x) { return ebb::diagflat(x); })
      .shapes({{{2, 2}}})
      .reference(
          picked({4, 4}, [](const Index& i) { return i[0] == i[1] ? Index{i[0] / 2, i[0] % 2} : Index{}; }));
  unary("fill_diagonal_", [](V x) { return Variable(ebb::fill_diagonal_(x.clone(), 2.5, true)); })
      .shapes({{{7, 3}}})
      .reference(picked(
          {7, 3}, [](const Index& i) { return i[0] % 4 == i[1] ? Index{} : i; }, 2.5))
      .error("fill_diagonal_", [] { ebb::fill_diagonal_(ebb::ones({3}), 1); });
}

void grids() {
  row("meshgrid", [](In x) { return ebb::meshgrid({x[0], x[1]}); })
      .shapes({{{3}, {2}}})
      .reference([](const Arrays& in) {
        return Arrays{build({3, 2}, [&](const Index& i) { return in[0]({i[0]}); }),
                      build({3, 2}, [&](const Index& i) { return in[1]({i[1]}); })};
      })
      .error("indexing", [] { ebb::meshgrid({ebb::ones({3})}, "yx"); });
  row("meshgrid.xy", [](In x) { return ebb::meshgrid({x[0], x[1]}, "xy"); })
      .shapes({{{3}, {2}}})
      .reference([](const Arrays& in) {
        return Arrays{build({2, 3}, [&](const Index& i) { return in[0]({i[1]}); }),
                      build({2, 3}, [&](const Index& i) { return in[1]({i[0]}); })};
      });
  row("cartesian_prod", [](In x) { return variable_list{ebb::cartesian_prod({x[0], x[1]})}; })
      .shapes({{{3}, {2}}})
      .reference(built({6, 2}, [](const Arrays& in, const Index& i) {
        return i[1] == 0 ? in[0]({i[0] / 2}) : in[1]({i[0] % 2});
      }));
  unary("combinations", [](V x) { return ebb::combinations(x); })
      .shapes({{{3}}})
      .reference(picked({3, 2},
                        [](const Index& i) {
                          const std::int64_t pairs[3][2] = {{0, 1}, {0, 2}, {1, 2}};
                          return Index{pairs[i[0]][i[1]]};
                        }))
      .error("combinations", [] { ebb::combinations(ebb::ones({2, 2})); });
  unary("vander", [](V x) { return ebb::vander(x); })
      .shapes({{{3}}})
      .range(0.5, 2)
      .roundings(4)
      .reference(built({3, 3},
                       [](const Arrays& in, const Index& i) {
                         return std::pow(in[0]({i[0]}), static_cast<double>(2 - i[1]));
                       }))
      .error("vander", [] { ebb::vander(ebb::ones({2, 2})); });
  unary("pixel_shuffle", [](V x) { return ebb::pixel_shuffle(x, 2); })
      .shapes({{{1, 4, 2, 3}}})
      .reference(picked({1, 1, 4, 6},
                        [](const Index& i) { return Index{0, i[2] % 2 * 2 + i[3] % 2, i[2] / 2, i[3] / 2}; }))
      .error("pixel_shuffle", [] { ebb::pixel_shuffle(ebb::ones({1, 3, 2, 2}), 2); });
  unary("pixel_unshuffle", [](V x) { return ebb::pixel_unshuffle(x, 2); })
      .shapes({{{1, 1, 4, 2}}})
      .reference(picked({1, 4, 2, 1}, [](const Index& i) {
        return Index{0, 0, i[2] * 2 + i[1] / 2, i[3] * 2 + i[1] % 2};
      }));
  unary("channel_shuffle", [](V x) { return ebb::channel_shuffle(x, 2); })
      .shapes({{{1, 6, 2, 2}}})
      .reference(
          picked({1, 6, 2, 2}, [](const Index& i) { return Index{0, i[1] % 2 * 3 + i[1] / 2, i[2], i[3]}; }))
      .error("channel_shuffle", [] { ebb::channel_shuffle(ebb::ones({1, 3, 2, 2}), 2); });
}

}  // namespace

void register_rearrange() {
  family("shape");
  repeats();
  triangles();
  grids();
}

}  // namespace optable
