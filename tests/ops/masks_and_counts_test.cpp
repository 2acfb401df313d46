// Selection by masks and counts of distinct values against plain loops, with lengths around the sizes of
// vectors and blocks, in contiguous and strided rows.
#include <ebb/ebb.h>

#include "check.h"
#include "support/catch.h"
#include "support/scopes.h"

#include <algorithm>
#include <limits>
#include <map>
#include <vector>

namespace {

using ebb::Tensor;

const std::vector<std::int64_t> kLengths = {1, 2, 7, 8, 15, 16, 17, 31, 33, 64, 100, 511, 512, 513, 1025};
const std::vector<ebb::DType> kTypes = {ebb::kByte, ebb::kShort, ebb::kInt,   ebb::kLong,
                                        ebb::kHalf, ebb::kFloat, ebb::kDouble};

// Returns the same values with a stride of three elements.
Tensor with_gaps(const Tensor& x) {
  const Tensor wide = ebb::zeros({x.size(0), x.size(1), 3}, x.options());
  wide.select(2, 1).copy_(x);
  return wide.select(2, 1);
}

double at(const Tensor& x, std::int64_t i, std::int64_t j) { return x[i][j].item<double>(); }

void check_choices(const Tensor& x, const Tensor& y, const Tensor& mask) {
  const Tensor chosen = ebb::where(mask, x, y), filled = x.masked_fill(mask, 3),
               selected = x.masked_select(mask), places = mask.nonzero();
  const Tensor in_place = x.clone();
  in_place.masked_fill_(mask, 3);
  CHECK(ebb::equal(in_place, filled));
  std::int64_t found = 0;
  bool same = true;
  for (std::int64_t i = 0; i < x.size(0); ++i)
    for (std::int64_t j = 0; j < x.size(1); ++j) {
      const bool m = mask[i][j].item<bool>();
      same = same && at(chosen, i, j) == (m ? at(x, i, j) : at(y, i, j));
      same = same && at(filled, i, j) == (m ? 3 : at(x, i, j));
      if (!m) continue;
      REQUIRE(found < selected.numel());
      same = same && selected[found].item<double>() == at(x, i, j);
      same = same && places[found][0].item<std::int64_t>() == i && places[found][1].item<std::int64_t>() == j;
      ++found;
    }
  CHECK(same);
  CHECK(found == selected.numel());
  CHECK(found == places.size(0));
}

// Compares unique of a line with a std::map, which is also sorted.
template <class T>
void check_kinds(const std::vector<T>& values) {
  const Tensor x = ebb::empty({static_cast<std::int64_t>(values.size())}, ebb::dtype<T>());
  std::copy(values.begin(), values.end(), x.data_ptr<T>());
  std::map<T, std::int64_t> counts;
  for (const T v : values) ++counts[v];
  const auto [kinds, inverse, sizes] = ebb::_unique2(x, true, true, true);
  REQUIRE(kinds.numel() == static_cast<std::int64_t>(counts.size()));
  std::int64_t k = 0;
  for (const auto& [value, count] : counts) {
    CHECK(kinds.template data_ptr<T>()[k] == value);
    CHECK(sizes.template data_ptr<std::int64_t>()[k] == count);
    ++k;
  }
  CHECK(ebb::equal(kinds.index_select(0, inverse), x));
}

}  // namespace

TEST_CASE("where accepts a 0-dimensional Byte condition") {
  const support::Warnings warnings;  // catches the warning for a Byte condition
  for (const ebb::DType dtype : kTypes)
    for (const std::int64_t n : {1, 7, 5000}) {
      const Tensor x = ebb::full({n}, 5, dtype), y = ebb::full({n}, 7, dtype);
      CHECK(ebb::equal(ebb::where(ebb::full({}, 0, ebb::kByte), x, y), y));
      CHECK(ebb::equal(ebb::where(ebb::full({}, 1, ebb::kByte), x, y), x));
      CHECK(ebb::equal(ebb::where(ebb::full({}, 4, ebb::kByte), x, y), x));
    }
}

TEST_CASE("where, masked_fill, masked_select and nonzero agree with plain loops") {
  for (const std::int64_t n : kLengths) {
    const ebb::DType type = kTypes[static_cast<std::size_t>(n) % kTypes.size()];
    const Tensor x = ebb::randint(100, {3, n}, ebb::kLong).to(type),
                 y = ebb::randint(100, {3, n}, ebb::kLong).to(type), mask = ebb::rand({3, n}) < 0.4;
    INFO(n << " elements a row, " << type);
    check_choices(x, y, mask);
    check_choices(with_gaps(x), y, mask);
    check_choices(x, with_gaps(y), with_gaps(mask));
    check_choices(x.narrow(1, n / 2, n - n / 2), y.narrow(1, 0, n - n / 2), mask.narrow(1, n / 2, n - n / 2));
  }
  for (const ebb::DType type : kTypes) {
    const Tensor x = ebb::randint(100, {2, 40}, ebb::kLong).to(type);
    check_choices(x, x.flip({1}), ebb::rand({2, 40}) < 0.5);
    check_choices(x, x + 1, ebb::zeros({2, 40}, ebb::kBool));
    check_choices(x, x + 1, ebb::ones({2, 40}, ebb::kBool));
  }
}

TEST_CASE("masked_select and masked_scatter broadcast the mask") {
  const Tensor x = ebb::arange(12).view({3, 4}), row = ebb::arange(4) % 2 == 1, column = ebb::arange(3) == 1;
  CHECK(ebb::equal(x.masked_select(row), ebb::tensor({1, 3, 5, 7, 9, 11}, ebb::kLong)));
  CHECK(ebb::equal(x.masked_select(column.unsqueeze(1)), ebb::tensor({4, 5, 6, 7}, ebb::kLong)));
  CHECK(ebb::equal(x.t().masked_select(column), ebb::tensor({4, 5, 6, 7}, ebb::kLong)));
  CHECK(ebb::equal(x[0].masked_select(column.unsqueeze(1)), ebb::arange(4)));
  CHECK(x.masked_select(column.unsqueeze(1) & false).numel() == 0);
  const Tensor scattered = ebb::zeros({3, 4}, ebb::kLong).masked_scatter(row, ebb::arange(6));
  CHECK(ebb::equal(scattered, ebb::tensor({0, 0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5}, ebb::kLong).view({3, 4})));
  CHECK(ebb::ones({0, 3}).masked_select(ebb::ones({0, 3}, ebb::kBool)).numel() == 0);
}

TEST_CASE("unique of integers has the same result for small and for large value ranges") {
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min(), most = -(least + 1);
  check_kinds<std::int64_t>({5});
  check_kinds<std::int64_t>({3, 1, 2});
  check_kinds<std::int64_t>({3, 1, 3, 1, 2});  // as many distinct values as fit
  check_kinds<std::int64_t>({3, 0, 3});        // one more than fits
  check_kinds<std::int64_t>({least, most, 0, -1, most});
  check_kinds<std::int64_t>({most, most - 1, most});
  check_kinds<std::int64_t>({least + 1, least, least, least});
  check_kinds<std::int8_t>({-3, 2, -3, -128, 127, 0});
  check_kinds<std::uint8_t>({255, 254, 255, 253});
  std::vector<std::int32_t> many;
  for (std::int32_t i = 0; i < 5000; ++i) many.push_back(i * 7919 % 613 - 300);
  check_kinds(many);
  for (std::int32_t& v : many) v *= 1000;
  check_kinds(many);
  const Tensor none = std::get<0>(ebb::_unique2(ebb::empty({0}, ebb::kLong)));
  CHECK(none.numel() == 0);
}

TEST_CASE("index ops accept rows of a single element") {
  const Tensor x = ebb::arange(10).to(ebb::kFloat), places = ebb::tensor({7, 0, 7, 3}, ebb::kLong);
  CHECK(ebb::equal(x.take(places), places.to(ebb::kFloat)));
  CHECK(ebb::equal(x.view({10, 1}).index_select(0, places), places.to(ebb::kFloat).view({4, 1})));
  const Tensor added = ebb::zeros({10, 1}).index_add(0, places, ebb::ones({4, 1}));
  CHECK(added[7].item<float>() == 2);
  CHECK(added.sum().item<float>() == 4);
  const Tensor counted = ebb::zeros({10}).scatter_add(0, places, ebb::ones({1}).expand({4}));
  CHECK(ebb::equal(counted, added.flatten()));
}

// isin: values of other dtypes, NaN, empty inputs.

using namespace op_tests;
using namespace ebb;

TEST_CASE("isin finds values of other dtypes and never NaN") {
  const Variable x = tensor({1.0, std::nan(""), 2.5, -1.0}, kDouble);
  const auto is = [](std::vector<bool> v) {
    Variable t = zeros({static_cast<std::int64_t>(v.size())}, kBool);
    for (std::size_t i = 0; i < v.size(); ++i) t[static_cast<std::int64_t>(i)].fill_(Scalar(bool(v[i])));
    return t;
  };
  CHECK(isin(x, tensor({std::nan(""), 2.5, 1.0}, kDouble)).equal(is({true, false, true, false})));
  CHECK(isin(x, longs({1, 2})).equal(is({true, false, false, false})));
  CHECK(isin(x, longs({1, 2}), false, true).equal(is({false, true, true, true})));
  CHECK(isin(x, zeros({0})).equal(is({false, false, false, false})));
  CHECK(isin(x, 2.5).equal(is({false, false, true, false})));
  CHECK(isin(1, longs({3, 1})).item<bool>());
  CHECK(isin(zeros({0, 2}), longs({1})).sizes() == IntArrayRef({0, 2}));
}
