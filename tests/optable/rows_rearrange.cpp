// Rows of repeating, reversing, triangles, diagonals and grids.
#include "optable/reference.h"
#include "optable/table.h"

#include <cmath>

namespace optable {
namespace {

Row& matrix(const char* name, Variable (*f)(V)) { return unary(name, f).shapes({{{3, 4}}}); }
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
