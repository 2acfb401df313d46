// Padding, and windows as columns.
#include "optable/reference.h"
#include "optable/table.h"

#include <algorithm>

namespace optable {
namespace {

Row& matrix(const char* name, Variable (*f)(V)) { return unary(name, f).shapes({{{3, 4}}}); }

std::int64_t mirrored(std::int64_t i, std::int64_t n) { return i < 0 ? -i : i >= n ? 2 * n - 2 - i : i; }
std::int64_t nearest(std::int64_t i, std::int64_t n) { return std::clamp<std::int64_t>(i, 0, n - 1); }
std::int64_t around(std::int64_t i, std::int64_t n) { return (i + n) % n; }

/// Padding of the last dimensions: place i of the result is element of(i - before, n) of the input.
Row& padded(const char* name, Variable (*f)(V), Sizes from, Sizes to, Sizes before,
            std::int64_t (*of)(std::int64_t, std::int64_t)) {
  return unary(name, f).shapes({{from}}).roundings(4).reference(picked(to, [=](Index i) {
    const std::size_t skip = from.size() - before.size();
    for (std::size_t d = 0; d < before.size(); ++d) i[skip + d] = of(i[skip + d] - before[d], from[skip + d]);
    return i;
  }));
}

void pads() {
  matrix("constant_pad_nd",
         [](V x) {
           return ebb::constant_pad_nd(x, {1, 2}, 3);
         })
      .reference(picked(
          {3, 7},
          [](const Index& i) {
            return i[1] < 1 || i[1] > 4 ? Index{} : Index{i[0], i[1] - 1};
          },
          3))
      .error("pad", [] {
        ebb::constant_pad_nd(ebb::ones({3}), {1, 1, 1, 1});
      });
  matrix("pad",
         [](V x) {
           return ebb::pad(x, {1, 0, -1, 2});
         })
      .reference(picked({4, 5},
                        [](const Index& i) {
                          return i[1] < 1 || i[0] > 1 ? Index{} : Index{i[0] + 1, i[1] - 1};
                        }))
      .error("mode", [] {
        ebb::pad(ebb::ones({3}), {1, 1}, "mirror");
      });
  padded(
      "pad.circular",
      [](V x) {
        return ebb::pad(x, {2, 1}, "circular");
      },
      {2, 3, 4}, {2, 3, 7}, {2}, around);
  padded(
      "reflection_pad1d",
      [](V x) {
        return ebb::reflection_pad1d(x, {2, 1});
      },
      {2, 3, 4}, {2, 3, 7}, {2}, mirrored)
      .error("reflection_pad", [] {
        ebb::reflection_pad1d(ebb::ones({1, 1, 2}), {2, 0});
      });
  padded(
      "replication_pad1d",
      [](V x) {
        return ebb::replication_pad1d(x, {2, 1});
      },
      {2, 3, 4}, {2, 3, 7}, {2}, nearest)
      .error("replication_pad1d", [] {
        ebb::replication_pad1d(ebb::ones({2}), {1, 0});
      });
  padded(
      "reflection_pad2d",
      [](V x) {
        return ebb::reflection_pad2d(x, {2, 1, 1, 0});
      },
      {1, 2, 3, 3}, {1, 2, 4, 6}, {1, 2}, mirrored);
  padded(
      "replication_pad2d",
      [](V x) {
        return ebb::replication_pad2d(x, {2, 1, 1, 0});
      },
      {1, 2, 3, 3}, {1, 2, 4, 6}, {1, 2}, nearest);
  padded(
      "reflection_pad3d",
      [](V x) {
        return ebb::reflection_pad3d(x, {1, 0, 1, 1, 0, 1});
      },
      {1, 1, 2, 3, 2}, {1, 1, 3, 5, 3}, {0, 1, 1}, mirrored);
  padded(
      "replication_pad3d",
      [](V x) {
        return ebb::replication_pad3d(x, {1, 0, 1, 1, 0, 2});
      },
      {1, 1, 2, 2, 2}, {1, 1, 4, 4, 3}, {0, 1, 1}, nearest);
}

// 2 by 2 windows of a 3 by 4 image: along the rows dilated by 2 and padded by 1, along the columns 2 apart.
// Place k of window b, or nothing where that is padding.
Index spread(std::int64_t k, std::int64_t b) {
  const std::int64_t y = b / 2 + 2 * (k / 2) - 1, x = b % 2 * 2 + k % 2;
  return y < 0 || y > 2 ? Index{} : Index{0, 0, y, x};
}

void columns() {
  unary("im2col.spread",
        [](V x) {
          return ebb::im2col(x, {2, 2}, {2, 1}, {1, 0}, {1, 2});
        })
      .shapes({{{1, 1, 3, 4}}})
      .reference(picked({1, 4, 6}, [](const Index& i) { return spread(i[1], i[2]); }));
  unary("col2im.spread",
        [](V x) {
          return ebb::col2im(x, {3, 4}, {2, 2}, {2, 1}, {1, 0}, {1, 2});
        })
      .shapes({{{1, 4, 6}}})
      .roundings(4)
      .reference(built({1, 1, 3, 4}, [](const Arrays& in, const Index& i) {
        double s = 0;
        for (std::int64_t k = 0; k < 4; ++k)
          for (std::int64_t b = 0; b < 6; ++b)
            if (spread(k, b) == i) s += in[0]({0, k, b});
        return s;
      }));
  // 2 by 2 windows, stride 1, of a 3 by 3 image: window b at (b / 2, b % 2).
  unary("im2col",
        [](V x) {
          return ebb::im2col(x, {2, 2}, {1, 1}, {0, 0}, {1, 1});
        })
      .shapes({{{1, 2, 3, 3}}})
      .reference(picked({1, 8, 4},
                        [](const Index& i) {
                          return Index{0, i[1] / 4, i[2] / 2 + i[1] % 4 / 2, i[2] % 2 + i[1] % 2};
                        }))
      .error("im2col", [] {
        ebb::im2col(ebb::ones({1, 2, 3, 3}), {4, 4}, {1, 1}, {0, 0}, {1, 1});
      });
  unary("col2im",
        [](V x) {
          return ebb::col2im(x, {3, 3}, {2, 2}, {1, 1}, {0, 0}, {1, 1});
        })
      .shapes({{{1, 8, 4}}})
      .roundings(4)
      .reference(built({1, 2, 3, 3},
                       [](const Arrays& in, const Index& i) {
                         double s = 0;
                         for (std::int64_t k = 0; k < 4; ++k)
                           for (std::int64_t b = 0; b < 4; ++b)
                             if (b / 2 + k / 2 == i[2] && b % 2 + k % 2 == i[3])
                               s += in[0]({0, i[1] * 4 + k, b});
                         return s;
                       }))
      .error("col2im", [] {
        ebb::col2im(ebb::ones({1, 8, 5}), {3, 3}, {2, 2}, {1, 1}, {0, 0}, {1, 1});
      });
}

}  // namespace

void register_pad() {
  family("shape");
  pads();
  columns();
}

}  // namespace optable
