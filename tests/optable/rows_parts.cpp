// Rows of ops on parts of tensors: joining, splitting, replacing, reducing and listing.
#include "optable/reference.h"
#include "optable/table.h"

#include <algorithm>

// Ops that replace, reduce and list parts of tensors, and shapes from lists of dimensions.

namespace optable {
namespace {

void shapes() {
  unary("alias", ebb::alias).shapes({{{3, 4}}}).node("AliasBackward0").reference(resized({3, 4}));
  unary("squeeze.dims", [](V x) { return ebb::squeeze(x, {0, -1, 1}); })
      .shapes({{{1, 3, 1, 1}}})
      .reference(resized({3, 1}))
      .reshaping([](In x) { return ebb::squeeze_(x[0], {0, -1, 1}); })
      .error("multiple times", [] { ebb::squeeze(ebb::ones({1, 1}), {0, -2}); });
  unary("fill_diagonal", [](V x) { return ebb::fill_diagonal(x, 2.5, true); })
      .shapes({{{7, 3}}})
      .reference(picked(
          {7, 3}, [](const Index& i) { return i[0] % 4 == i[1] ? Index{} : i; }, 2.5))
      .error("fill_diagonal_", [] { ebb::fill_diagonal(ebb::ones({3}), 1); });
  // Every second element of the first two rows, as a matrix whose rows do not overlap.
  binary("as_strided_scatter", [](V x, V s) { return ebb::as_strided_scatter(x, s, {2, 2}, {4, 2}, 1); })
      .shapes({{{3, 4}, {2, 2}}})
      .reference(built_like([](const Arrays& in, const Index& i) {
        return i[0] < 2 && i[1] % 2 == 1 ? in[1]({i[0], i[1] / 2}) : in[0](i);
      }))
      .error("as_strided_scatter", [] { ebb::as_strided_scatter(ebb::ones({4}), ebb::ones({3}), {2}, {1}); });
  unary("resize_as", [](V x) { return ebb::resize_as(x, ebb::zeros({2, 5})); })
      .shapes({{{3, 4}}})
      .order(0, "elements beyond the old ones are undefined")
      .no_layouts("the result depends on the memory layout")
      .reference(picked({2, 5}, [](const Index& i) {
        const std::int64_t at = i[0] * 5 + i[1];
        return Index{at / 4, at % 4};
      }));
  binary("flatten_dense_tensors", [](V x, V y) { return ebb::flatten_dense_tensors({x, y}); })
      .shapes({{{2, 3}, {4}}})
      .reference(built({10},
                       [](const Arrays& in, const Index& i) {
                         return i[0] < 6 ? in[0][static_cast<std::size_t>(i[0])]
                                         : in[1][static_cast<std::size_t>(i[0] - 6)];
                       }))
      .error("one dtype", [] { ebb::flatten_dense_tensors({ebb::ones({2}), ebb::ones({2}, ebb::kLong)}); });
  row("unflatten_dense_tensors",
      [](In x) { return ebb::unflatten_dense_tensors(x[0], {ebb::zeros({2, 3}), ebb::zeros({4})}); })
      .shapes({{{10}}})
      .reference([](const Arrays& in) {
        return Arrays{
            build({2, 3}, [&](const Index& i) { return in[0]({i[0] * 3 + i[1]}); }),
            build({4}, [&](const Index& i) { return in[0]({6 + i[0]}); }),
        };
      })
      .error("at least 4", [] { ebb::unflatten_dense_tensors(ebb::ones({3}), {ebb::zeros({2, 2})}); });
  row("empty_permuted",
      [](In) { return variable_list{ebb::empty_permuted({2, 3, 4}, {1, 2, 0}, ebb::kDouble).fill_(7)}; })
      .shapes({{}})
      .order(0, "it has no inputs")
      .cpu_only("it has no inputs")
      .reference([](const Arrays&) { return Arrays{build({2, 3, 4}, [](const Index&) { return 7.0; })}; })
      .error("physical_layout", [] { ebb::empty_permuted({2, 3}, {0, 0}); });
}

// Rows 1, 0, 1 of x are the targets of the three rows of the source.
Variable rows_twice(std::size_t, std::size_t input) {
  return input == 1 ? ebb::tensor({1, 0, 1}) : Variable();
}

Row::Reference into_rows(double (*two)(double, double), double (*whole)(double, double, double)) {
  return built_like([=](const Arrays& in, const Index& i) {
    const double x = in[0](i);
    if (i[0] == 0) return two(x, in[2]({1, i[1]}));
    if (i[0] == 1) return whole(x, in[2]({0, i[1]}), in[2]({2, i[1]}));
    return x;
  });
}

void reductions_into() {
  const auto reduce = [](const char* name, const char* how, bool with_self) -> Row& {
    return row(name,
               [=](In x) { return variable_list{ebb::index_reduce(x[0], 0, x[1], x[2], how, with_self)}; })
        .shapes({{{3, 4}, {3}, {3, 4}}})
        .special(rows_twice)
        .roundings(4)
        .in_place([=](In x) { return ebb::index_reduce_(x[0], 0, x[1], x[2], how, with_self); });
  };
  reduce("index_reduce", "prod", true)
      .range(0.5, 2)
      .reference(into_rows([](double x, double a) { return x * a; },
                           [](double x, double a, double b) { return x * a * b; }))
      .error("either prod, mean, amax or amin",
             [] { ebb::index_reduce(ebb::ones({2}), 0, ebb::tensor({0}), ebb::ones({1}), "sum"); });
  reduce("index_reduce.mean", "mean", true)
      .reference(into_rows([](double x, double a) { return (x + a) / 2; },
                           [](double x, double a, double b) { return (x + a + b) / 3; }));
  reduce("index_reduce.amax", "amax", false)
      .reference(into_rows([](double, double a) { return a; },
                           [](double, double a, double b) { return std::max(a, b); }));
  reduce("index_reduce.amin", "amin", true)
      .reference(into_rows([](double x, double a) { return std::min(x, a); },
                           [](double x, double a, double b) { return std::min({x, a, b}); }));
}

void lists() {
  const auto found = [](std::int64_t size) {
    return [=](const Arrays& in) {
      std::vector<Index> places;
      for (std::int64_t i = 0; i < 3; ++i)
        for (std::int64_t j = 0; j < 4; ++j)
          if (in[0]({i, j}) != 0) places.push_back({i, j});
      return Arrays{build({size, 2}, [&](const Index& i) {
        const auto at = static_cast<std::size_t>(i[0]);
        return at < places.size() ? static_cast<double>(places[at][static_cast<std::size_t>(i[1])]) : -7.0;
      })};
    };
  };
  for (const std::int64_t size : {2, 12})
    row(size == 2 ? "nonzero_static" : "nonzero_static.filled",
        [=](In x) { return variable_list{ebb::nonzero_static(x[0], size, -7)}; })
        .shapes({{{3, 4}}})
        .booleans(0)
        .order(0, "indices have no derivative")
        .reference(found(size))
        .error("non-negative", [] { ebb::nonzero_static(ebb::ones({2}), -1); });
  // Runs of equal rows of a matrix of two columns.
  row("unique_dim_consecutive",
      [](In x) {
        const auto [values, inverse, counts] = ebb::unique_dim_consecutive(x[0], 0, true, true);
        return variable_list{values, inverse, counts};
      })
      .shapes({{{9, 2}}})
      .integers(0, 0, 2)
      .order(0, "counts have no derivative")
      .reference([](const Arrays& in) {
        Array values{{0, 2}, {}}, inverse{{9}, {}}, counts{{0}, {}};
        for (std::int64_t i = 0; i < 9; ++i) {
          if (i == 0 || in[0]({i, 0}) != in[0]({i - 1, 0}) || in[0]({i, 1}) != in[0]({i - 1, 1})) {
            values.values.insert(values.values.end(), {in[0]({i, 0}), in[0]({i, 1})});
            counts.values.push_back(0);
          }
          inverse.values.push_back(static_cast<double>(counts.values.size()) - 1);
          ++counts.values.back();
        }
        values.sizes[0] = counts.sizes[0] = static_cast<std::int64_t>(counts.values.size());
        return Arrays{values, inverse, counts};
      });
}

}  // namespace

void register_parts() {
  family("nn");
  family("shape");
  shapes();
  family("index");
  reductions_into();
  lists();
}

// Joining and splitting tensors, and replacing parts.

namespace {

using Lists = std::vector<std::vector<Sizes>>;

Row& of_two(const char* name, Variable (*f)(ebb::TensorList), Sizes a, Sizes b) {
  return row(name, [f](In x) { return variable_list{f({x[0], x[1]})}; }).shapes({{a, b}});
}

/// Concatenates arrays along `dim`.
Row::Reference joined(std::size_t dim) {
  return [dim](const Arrays& in) {
    Sizes sizes = in[0].sizes;
    sizes[dim] += in[1].sizes[dim];
    return Arrays{build(sizes, [&](Index i) {
      if (i[dim] < in[0].sizes[dim]) return in[0](i);
      i[dim] -= in[0].sizes[dim];
      return in[1](i);
    })};
  };
}

/// Splits the first input along `dim` into pieces of these sizes.
Row::Reference pieces(std::size_t dim, Sizes sizes) {
  return [=](const Arrays& in) {
    Arrays out;
    std::int64_t start = 0;
    for (const std::int64_t n : sizes) {
      Sizes shape = in[0].sizes;
      shape[dim] = n;
      out.push_back(build(shape, [&](Index i) {
        i[dim] += start;
        return in[0](i);
      }));
      start += n;
    }
    return out;
  };
}

void joins() {
  of_two("cat", [](ebb::TensorList x) { return ebb::cat(x); }, {2, 3}, {4, 3})
      .reference(joined(0))
      .error("cat", [] { ebb::cat({ebb::ones({2, 3}), ebb::ones({2, 4})}); });
  of_two("cat.empty", [](ebb::TensorList x) { return ebb::cat(x); }, {0, 3}, {2, 3}).reference(joined(0));
  of_two("cat.last", [](ebb::TensorList x) { return ebb::cat(x, -1); }, {2, 3}, {2, 1}).reference(joined(1));
  of_two("hstack", ebb::hstack, {2, 3}, {2, 1}).reference(joined(1));
  of_two("vstack", ebb::vstack, {2, 3}, {1, 3}).reference(joined(0));
  of_two("dstack", ebb::dstack, {2, 3}, {2, 3})
      .reference(built({2, 3, 2}, [](const Arrays& in, const Index& i) {
        return in[static_cast<std::size_t>(i[2])]({i[0], i[1]});
      }));
  of_two("column_stack", ebb::column_stack, {3}, {3, 2})
      .reference(built({3, 3}, [](const Arrays& in, const Index& i) {
        return i[1] == 0 ? in[0]({i[0]}) : in[1]({i[0], i[1] - 1});
      }));
  of_two("stack", [](ebb::TensorList x) { return ebb::stack(x, 1); }, {2, 3}, {2, 3})
      .reference(built(
          {2, 2, 3},
          [](const Arrays& in, const Index& i) { return in[static_cast<std::size_t>(i[1])]({i[0], i[2]}); }))
      .error("stack", [] { ebb::stack({ebb::ones({2}), ebb::ones({3})}); });
  of_two("block_diag", ebb::block_diag, {2, 3}, {1, 3})
      .reference(built({3, 6}, [](const Arrays& in, const Index& i) {
        if (i[0] < 2) return i[1] < 3 ? in[0](i) : 0;
        return i[1] < 3 ? 0 : in[1]({i[0] - 2, i[1] - 3});
      }));
}

void splits() {
  const auto cut = [](const char* name, std::vector<Variable> (*f)(V), std::size_t dim, Sizes sizes) -> Row& {
    return row(name, [f](In x) { return f(x[0]); }).shapes({{{4, 4, 5}}}).reference(pieces(dim, sizes));
  };
  cut("split", [](V x) { return ebb::split(x, 2, 2); }, 2, {2, 2, 1}).error("split", [] {
    ebb::split(ebb::ones({3}), -1);
  });
  cut("split_with_sizes", [](V x) { return ebb::split_with_sizes(x, {1, 4}, 2); }, 2, {1, 4})
      .error("split", [] { ebb::split_with_sizes(ebb::ones({3}), {1, 1}); });
  cut("unsafe_split", [](V x) { return ebb::unsafe_split(x, 3, 1); }, 1, {3, 1});
  cut("unsafe_split_with_sizes", [](V x) { return ebb::unsafe_split_with_sizes(x, {3, 1}, 1); }, 1, {3, 1});
  cut("chunk", [](V x) { return ebb::chunk(x, 2, 2); }, 2, {3, 2}).error("chunk", [] {
    ebb::chunk(ebb::ones({3}), 0);
  });
  cut("unsafe_chunk", [](V x) { return ebb::unsafe_chunk(x, 2, 2); }, 2, {3, 2});
  cut("tensor_split", [](V x) { return ebb::tensor_split(x, 3, 2); }, 2, {2, 2, 1});
  cut("tensor_split.indices", [](V x) { return ebb::tensor_split(x, {1, 4}, 2); }, 2, {1, 3, 1});
  cut("hsplit", [](V x) { return ebb::hsplit(x, 2); }, 1, {2, 2}).error("hsplit", [] {
    ebb::hsplit(ebb::ones({3}), 2);
  });
  cut("vsplit", [](V x) { return ebb::vsplit(x, {1, 3}); }, 0, {1, 2, 1});
  cut("dsplit", [](V x) { return ebb::dsplit(x, {2, 3}); }, 2, {2, 1, 2}).error("dsplit", [] {
    ebb::dsplit(ebb::ones({3}), 2);
  });
  row("unbind", [](In x) { return ebb::unbind(x[0], 1); })
      .shapes({{{2, 3, 4}}})
      .reference([](const Arrays& in) {
        Arrays out;
        for (std::int64_t k = 0; k < 3; ++k)
          out.push_back(build({2, 4}, [&](const Index& i) { return in[0]({i[0], k, i[1]}); }));
        return out;
      });
}

void replacements() {
  binary("select_scatter", [](V x, V s) { return ebb::select_scatter(x, s, 0, 1); })
      .shapes({{{2, 3}, {3}}})
      .reference(
          built_like([](const Arrays& in, const Index& i) { return i[0] == 1 ? in[1]({i[1]}) : in[0](i); }))
      .error("select_scatter", [] { ebb::select_scatter(ebb::ones({2, 3}), ebb::ones({2}), 0, 1); });
  binary("slice_scatter", [](V x, V s) { return ebb::slice_scatter(x, s, 0, 1, 4, 2); })
      .shapes({{{4, 3}, {2, 3}}})
      .reference(built_like(
          [](const Arrays& in, const Index& i) { return i[0] % 2 ? in[1]({i[0] / 2, i[1]}) : in[0](i); }))
      .error("slice_scatter", [] { ebb::slice_scatter(ebb::ones({2, 3}), ebb::ones({2}), 0, 1); });
  binary("diagonal_scatter", [](V x, V s) { return ebb::diagonal_scatter(x, s); })
      .shapes({{{3, 3}, {3}}})
      .reference(built_like(
          [](const Arrays& in, const Index& i) { return i[0] == i[1] ? in[1]({i[0]}) : in[0](i); }))
      .error("diagonal_scatter", [] { ebb::diagonal_scatter(ebb::ones({2, 3}), ebb::ones({3})); });
}

}  // namespace

void register_join() {
  family("shape");
  joins();
  splits();
  replacements();
}

}  // namespace optable
