// Joining tensors, taking them apart, and replacing parts.
#include "optable/reference.h"
#include "optable/table.h"

namespace optable {
namespace {

using Lists = std::vector<std::vector<Sizes>>;

Row& of_two(const char* name, Variable (*f)(ebb::TensorList), Sizes a, Sizes b) {
  return row(name, [f](In x) { return variable_list{f({x[0], x[1]})}; }).shapes({{a, b}});
}

/// One array after the other along `dim`.
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

/// Pieces of the first input along `dim`, of these sizes.
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
      .error("cat", [] {
        ebb::cat({ebb::ones({2, 3}), ebb::ones({2, 4})});
      });
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
      .reference(built({2, 2, 3},
                       [](const Arrays& in, const Index& i) {
                         return in[static_cast<std::size_t>(i[1])]({i[0], i[2]});
                       }))
      .error("stack", [] {
        ebb::stack({ebb::ones({2}), ebb::ones({3})});
      });
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
  cut("split_with_sizes",
      [](V x) {
        return ebb::split_with_sizes(x, {1, 4}, 2);
      },
      2, {1, 4})
      .error("split", [] {
        ebb::split_with_sizes(ebb::ones({3}), {1, 1});
      });
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
  cut("dsplit",
      [](V x) {
        return ebb::dsplit(x, {2, 3});
      },
      2, {2, 1, 2})
      .error("dsplit", [] { ebb::dsplit(ebb::ones({3}), 2); });
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
      .error("select_scatter", [] {
        ebb::select_scatter(ebb::ones({2, 3}), ebb::ones({2}), 0, 1);
      });
  binary("slice_scatter", [](V x, V s) { return ebb::slice_scatter(x, s, 0, 1, 4, 2); })
      .shapes({{{4, 3}, {2, 3}}})
      .reference(built_like([](const Arrays& in, const Index& i) {
        return i[0] % 2 ? in[1]({i[0] / 2, i[1]}) : in[0](i);
      }))
      .error("slice_scatter", [] {
        ebb::slice_scatter(ebb::ones({2, 3}), ebb::ones({2}), 0, 1);
      });
  binary("diagonal_scatter", [](V x, V s) { return ebb::diagonal_scatter(x, s); })
      .shapes({{{3, 3}, {3}}})
      .reference(built_like(
          [](const Arrays& in, const Index& i) { return i[0] == i[1] ? in[1]({i[0]}) : in[0](i); }))
      .error("diagonal_scatter", [] {
        ebb::diagonal_scatter(ebb::ones({2, 3}), ebb::ones({3}));
      });
}

}  // namespace

void register_join() {
  family("shape");
  joins();
  splits();
  replacements();
}

}  // namespace optable
