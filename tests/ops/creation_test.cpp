// Creation of tensors: values, dtypes, options, errors.
#include <ebb/ebb.h>
#include <ebb/ops/aten_factories.h>

#include "support/catch.h"

#include <limits>
#include <vector>

using namespace ebb;
using support::Contains;

namespace {

using Values = std::vector<double>;
using Shape = std::vector<std::int64_t>;

Values values(const Variable& x) {
  const Variable flat = x.detach().to(kFloat64).contiguous();
  return {flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel()};
}

Shape shape(const Variable& x) { return x.sizes().vec(); }

}  // namespace

TEST_CASE("tensor accepts numbers, nested lists and vectors") {
  CHECK(values(tensor({1.0, 2.0})) == Values{1, 2});
  CHECK(tensor({1.0, 2.0}).dtype() == kFloat);
  CHECK(tensor({1.5f}).dtype() == kFloat);
  CHECK(tensor({1, 2, 3}).dtype() == kLong);
  CHECK(tensor({std::int64_t{1} << 60}).item<std::int64_t>() == std::int64_t{1} << 60);
  CHECK(tensor({true, false}).dtype() == kBool);
  CHECK(tensor({std::int16_t{1}}).dtype() == kShort);
  CHECK(tensor({std::uint8_t{1}}).dtype() == kByte);
  CHECK(tensor({Half(1.5f)}).dtype() == kHalf);
  CHECK(shape(tensor(5.0)).empty());
  CHECK(tensor(5).item<std::int64_t>() == 5);
  CHECK(shape(tensor({})) == Shape{0});
  CHECK(shape(tensor({{1}})) == Shape{1, 1});
  CHECK(shape(tensor({{1, 2}})) == Shape{1, 2});
  CHECK(shape(tensor({{1.0, 2.0}, {3.0, 4.0}, {5.0, 6.0}})) == Shape{3, 2});
  CHECK(shape(tensor({{{{{1, 2, 3}}}, {{{4, 5, 6}}}}})) == Shape{1, 2, 1, 1, 3});
  CHECK(values(tensor({{{{{1, 2, 3}}}, {{{4, 5, 6}}}}})) == Values{1, 2, 3, 4, 5, 6});
  CHECK(shape(tensor({{}, {}})) == Shape{2, 0});
  CHECK(values(tensor(std::vector<double>{0.5, 0.25}, kFloat64)) == Values{0.5, 0.25});
  CHECK(tensor(std::vector<double>{0.5}).dtype() == kFloat);
  CHECK(tensor(std::vector<int>{4, 5}).dtype() == kLong);
  CHECK(values(tensor(IntArrayRef({7, 8}), kInt32)) == Values{7, 8});
  CHECK(values(tensor({1, 2}, kFloat16)) == Values{1, 2});
  CHECK(tensor({1.0}, requires_grad()).requires_grad());
  CHECK(tensor({1.0}, dtype(kFloat64).requires_grad(true)).is_leaf());
}

TEST_CASE("tensor throws for ragged lists, mixed types and integers that require grad") {
  CHECK_THROWS_WITH(tensor({{1, 2}, {3}}),
                    Contains("tensor: the list is ragged: shape [2, 2] follows from its"));
  CHECK_THROWS_WITH(tensor({{1}, {2, 3}}),
                    Contains("tensor: the list is ragged: shape [2, 1] follows from its"));
  CHECK_THROWS_WITH(tensor({{{1}}, {{2}, {3}}}),
                    Contains("tensor: the list is ragged: shape [2, 1, 1] follows from"));
  CHECK_THROWS_WITH(tensor({detail::TensorData(1), detail::TensorData({2})}),
                    Contains("tensor: the list is ragged: shape [2] follows from its"));
  CHECK_THROWS_WITH(tensor({detail::TensorData({2}), detail::TensorData(1)}),
                    Contains("tensor: the list is ragged: shape [2, 1] follows from its"));
  CHECK_THROWS_WITH(tensor({1, 2.0}), Contains("tensor: the numbers have different types, Int and Double"));
  CHECK_THROWS_WITH(tensor({1}, requires_grad()),
                    Contains("only Tensors of floating point dtype can require"));
  CHECK_THROWS_WITH(tensor({300}, kUInt8),
                    Contains("tensor: the value 300 cannot be converted to Byte without"));
}

TEST_CASE("floating-point numbers without a dtype get the default dtype") {
  set_default_dtype(kDouble);
  const Variable a = tensor({1.0f}), b = zeros({1}), c = full({1}, 1.5), d = arange(0.0, 1.0, 0.5),
                 e = rand({1});
  set_default_dtype(kFloat);
  for (const Variable& x : {a, b, c, d, e}) CHECK(x.dtype() == kDouble);
}

TEST_CASE("zeros, ones, full, empty and scalar_tensor have the given shape, dtype and value") {
  CHECK(values(zeros({2, 2})) == Values(4, 0.0));
  CHECK(values(ones(3)) == Values(3, 1.0));
  CHECK(values(ones({2}, kHalf)) == Values(2, 1.0));
  CHECK(shape(zeros({})).empty());
  CHECK(full({2}, 3.5).dtype() == kFloat);
  CHECK(full({2}, 3).dtype() == kLong);
  CHECK(full({2}, true).dtype() == kBool);
  CHECK(full({2}, 3, kFloat64).dtype() == kDouble);
  CHECK(scalar_tensor(2).dtype() == kFloat);
  CHECK(shape(empty({2, 0, 3})) == Shape{2, 0, 3});
  const std::int64_t huge = std::int64_t{1} << 40;
  CHECK(zeros({huge, huge, 0}).numel() == 0);
  CHECK(empty({huge, 0, huge, huge}, MemoryFormat::ChannelsLast).numel() == 0);
  CHECK(empty({2, 3, 4, 5}, TensorOptions(), MemoryFormat::ChannelsLast).strides() ==
        IntArrayRef({60, 1, 15, 3}));
  CHECK(empty_strided({2, 3}, {1, 2}, kInt32).strides() == IntArrayRef({1, 2}));
  CHECK(zeros({1}, TensorOptions().dtype(kFloat64).device(kCPU).layout(kStrided).requires_grad(true))
            .requires_grad());
  CHECK_THROWS_WITH(zeros({-1}), Contains("a size is negative in shape [-1]; sizes must be at least"));
  CHECK_THROWS_WITH(zeros({std::int64_t{1} << 40, std::int64_t{1} << 40}),
                    Contains("shape [1099511627776, 1099511627776] has more elements"));
  CHECK_THROWS_WITH(zeros({2}, dtype(kInt32).requires_grad(true)),
                    Contains("only Tensors of floating point dtype can require"));
  CHECK_THROWS_WITH(full({1}, 256, kUInt8),
                    Contains("full: the value 256 cannot be converted to Byte without"));
  CHECK_THROWS_WITH(empty({2, 3}, MemoryFormat::ChannelsLast),
                    Contains("empty: this channels-last format needs 4 dimensions, got"));
  CHECK_THROWS_WITH(empty({2}, MemoryFormat::Preserve),
                    Contains("empty: there is no tensor whose memory format could be"));
  CHECK_THROWS_WITH(empty_strided({2, 3}, {1}),
                    Contains("empty_strided: sizes [2, 3] and strides [1] differ in"));
}

TEST_CASE("arange, linspace and logspace have the right values and sizes") {
  CHECK(values(arange(3)) == Values{0, 1, 2});
  CHECK(arange(3).dtype() == kLong);
  CHECK(values(arange(5, 0, -2)) == Values{5, 3, 1});
  CHECK(values(arange(0, 10, 3)) == Values{0, 3, 6, 9});
  CHECK(values(arange(0, 1, 0.25)) == Values{0, 0.25, 0.5, 0.75});
  CHECK(arange(0, 1, 0.25).dtype() == kFloat);
  CHECK(arange(0, 1, 0.1, kFloat64).numel() == 10);
  CHECK(values(arange(2.5)) == Values{0, 1, 2});
  CHECK(arange(3, 3).numel() == 0);
  const std::int64_t big = (std::int64_t{1} << 53) + 1;
  CHECK(arange(big, big + 1).item<std::int64_t>() == big);
  const std::int64_t most = std::numeric_limits<std::int64_t>::max(), quarter = std::int64_t{1} << 62;
  CHECK(arange(most - 1, most, quarter).numel() == 1);
  const Variable wide = arange(-most - 1, most, quarter);
  REQUIRE(wide.numel() == 4);
  CHECK(wide.select(0, 3).item<std::int64_t>() == quarter);
  CHECK(arange(most, -most - 1, -quarter).numel() == 4);
  CHECK_THROWS_WITH(arange(0, 1e30, 1e29, kInt64),
                    Contains("arange: end 1e+30 does not fit into an integer. Use a"));
  CHECK_THROWS_WITH(arange(quarter + 1, quarter),
                    Contains("arange: upper bound and lower bound inconsistent with"));
  CHECK(values(range(1, 2, 0.5)) == Values{1, 1.5, 2});
  CHECK(range(1, 4).dtype() == kFloat);
  CHECK(values(linspace(0, 1, 5)) == Values{0, 0.25, 0.5, 0.75, 1});
  CHECK(values(linspace(3, 9, 1)) == Values{3});
  CHECK(linspace(3, 9, 0).numel() == 0);
  CHECK(values(linspace(0, 10, 5, kInt64)) == Values{0, 2, 5, 7, 10});
  CHECK(linspace(0, 0.1, 101, kFloat64).select(0, 100).item<double>() == 0.1);
  CHECK(values(logspace(0, 3, 4, 2, kFloat64)) == Values{1, 2, 4, 8});
  CHECK_THROWS_WITH(arange(0, 5, -1), Contains("arange: upper bound and lower bound inconsistent with"));
  CHECK_THROWS_WITH(arange(0, 5, 0), Contains("arange: step must be nonzero"));
  CHECK_THROWS_WITH(arange(0, INFINITY), Contains("arange: unsupported range: 0 -> inf"));
  CHECK_THROWS_WITH(linspace(0, 1, -1), Contains("linspace: number of steps must be non-negative, got -1"));
}

TEST_CASE("eye, tril_indices and triu_indices have the right values and dtypes") {
  CHECK(values(eye(2)) == Values{1, 0, 0, 1});
  CHECK(values(eye(2, 3, kInt64)) == Values{1, 0, 0, 0, 1, 0});
  CHECK(values(eye(3, 1)) == Values{1, 0, 0});
  CHECK(shape(eye(0)) == Shape{0, 0});
  CHECK(eye(2, requires_grad()).is_leaf());
  CHECK(values(tril_indices(2, 3)) == Values{0, 1, 1, 0, 0, 1});
  CHECK(values(triu_indices(2, 3, 1)) == Values{0, 0, 1, 1, 2, 2});
  CHECK(values(tril_indices(3, 2, -1, kInt32)) == Values{1, 2, 2, 0, 0, 1});
  CHECK(triu_indices(2, 2, 5).numel() == 0);
  CHECK_THROWS_WITH(eye(-1), Contains("eye: rows and columns must be at least 0, got -1 and -1"));
}

TEST_CASE("the _like and new_ functions copy dtype, device and layout but not requires_grad") {
  const Variable x = ones({2, 3}, dtype(kFloat64).requires_grad(true));
  const Variable t = x.t();
  CHECK(zeros_like(x).dtype() == kDouble);
  CHECK_FALSE(zeros_like(x).requires_grad());
  CHECK(ones_like(t).strides() == t.strides());
  CHECK(ones_like(t, TensorOptions(), MemoryFormat::Contiguous).is_contiguous());
  CHECK(ones_like(x, kInt32).dtype() == kInt);
  CHECK(values(full_like(x, 2.5)) == Values(6, 2.5));
  CHECK(zeros_like(x, requires_grad()).requires_grad());
  CHECK(empty_like(x, kHalf).dtype() == kHalf);
  CHECK(x.new_zeros({3}).dtype() == kDouble);
  CHECK(x.new_ones({2}, kInt64).dtype() == kLong);
  CHECK(values(x.new_full({2}, 1.25)) == Values{1.25, 1.25});
  CHECK(shape(x.new_empty({0})) == Shape{0});
  CHECK(x.new_empty_strided({2, 2}, {1, 2}).strides() == IntArrayRef({1, 2}));
}

TEST_CASE("empty_strided throws for negative strides and for a wrong number of strides") {
  CHECK_THROWS_WITH(empty_strided({2, 3}, {3, -1}), Contains("negative strides are not supported"));
  CHECK_THROWS_WITH(empty_strided({2, 3}, {1}), Contains("differ in length"));
}

TEST_CASE("from_blob does not copy the memory and calls its deleter once") {
  double data[] = {1, 2, 3, 4, 5, 6};
  const Variable x = from_blob(data, {2, 3}, kFloat64);
  data[4] = 50;
  CHECK(values(x) == Values{1, 2, 3, 4, 50, 6});
  CHECK(values(from_blob(data, {3, 2}, {1, 3}, kFloat64)) == Values{1, 4, 2, 50, 3, 6});
  int released = 0;
  {
    Variable owned = from_blob(data, {6}, [&released](void* p) { released += p != nullptr; }, kFloat64);
    const Variable part = owned.slice(0, 0, 2);
    owned = Variable();
    CHECK(released == 0);
  }
  CHECK(released == 1);
  {
    const Variable s = from_blob(data, {2}, {2}, [&released](void*) { ++released; }, kFloat64);
  }
  CHECK(released == 2);
  CHECK_THROWS_WITH(from_blob(nullptr, {2}),
                    Contains("from_blob: null data for shape [2]. Pass the address of"));
  CHECK_THROWS_WITH(from_blob(data, {2}, {1, 1}),
                    Contains("from_blob: sizes [2] and strides [1, 1] differ in length"));
}

TEST_CASE("copy_ into an integer tensor is not recorded") {
  const Variable x = ebb::ones({2}).requires_grad_(), whole = ebb::zeros({2}, kLong);
  whole.copy_(x * 3);
  CHECK_FALSE(whole.grad_fn());
  CHECK(whole.eq(3).all().item<bool>());
}

TEST_CASE("fill_ throws for a value with dimensions, and full throws for a value out of range") {
  const Variable x = ebb::zeros({2});
  CHECK_THROWS_WITH(x.fill_(ebb::ones({1})), Contains("only a 0-dimensional value tensor"));
  CHECK_THROWS_WITH(ebb::full({1}, -200, kChar), Contains("without overflow"));
  CHECK(ebb::full({1}, -128, kChar).item<int>() == -128);
}

TEST_CASE("empty_like of an expanded tensor orders its dimensions by the non-zero strides") {
  const Variable rows = ebb::ones({3}).expand({2, 3});
  CHECK(ebb::empty_like(rows).strides() == IntArrayRef({3, 1}));
  const Variable between = ebb::ones({4, 2}).t().unsqueeze(1).expand({2, 3, 4});
  CHECK(ebb::empty_like(between).strides() == IntArrayRef({1, 2, 6}));
}

TEST_CASE("from_blob makes a storage as large as the strides span and accepts null for an empty tensor") {
  float numbers[6] = {};
  const Variable x = ebb::from_blob(numbers, {2, 2}, {3, 2});
  CHECK(x.array().storage()->bytes() == 6 * sizeof(float));
  CHECK(ebb::from_blob(nullptr, {0, 3}).numel() == 0);
}

TEST_CASE("tril_indices and triu_indices return the positions that tril and triu keep, for every offset") {
  for (const auto& [rows, columns] :
       {std::pair(4, 4), std::pair(3, 5), std::pair(5, 2), std::pair(1, 3), std::pair(0, 2)})
    for (std::int64_t offset = -7; offset <= 7; ++offset) {
      INFO(rows << " by " << columns << ", offset " << offset);
      const Variable all = ebb::ones({rows, columns});
      CHECK(values(ebb::tril_indices(rows, columns, offset)) == values(all.tril(offset).nonzero().t()));
      CHECK(values(ebb::triu_indices(rows, columns, offset)) == values(all.triu(offset).nonzero().t()));
    }
}

TEST_CASE("triu_indices with a negative offset begin at column 0") {
  CHECK(ebb::triu_indices(3, 3, -2).sizes() == IntArrayRef({2, 9}));
  CHECK(ebb::triu_indices(3, 3, -2).min().item<int>() == 0);
}

// Factories with dtype, layout, device and pin_memory as separate arguments, and short forms of reductions.

TEST_CASE("factories accept dtype, layout, device and pin_memory as separate arguments") {
  const auto same = [](const Tensor& a, const Tensor& b) {
    return a.scalar_type() == b.scalar_type() && a.equal(b);
  };
  CHECK(same(zeros({2, 3}, kLong, kStrided, kCPU, false), zeros({2, 3}, kLong)));
  CHECK(same(ones({2}, nullopt, nullopt, nullopt, nullopt), ones({2})));
  CHECK(same(full({2}, 3, kDouble, kStrided, Device("cpu"), nullopt), full({2}, 3., kDouble)));
  CHECK(same(full({2}, 3, nullopt, nullopt, nullopt, nullopt), full({2}, 3)));
  CHECK(same(arange(4, kFloat, kStrided, kCPU, false), arange(4, kFloat)));
  CHECK(same(arange(1, 4, nullopt, nullopt, nullopt, nullopt), arange(1, 4)));
  CHECK(same(linspace(0, 1, 3, kDouble, kStrided, kCPU, false), linspace(0, 1, 3, kDouble)));
  CHECK(same(eye(2, kInt, kStrided, kCPU, false), eye(2, kInt)));
  CHECK(empty({1, 2, 3, 4}, kFloat, kStrided, kCPU, false, MemoryFormat::ChannelsLast).stride(1) == 1);
  const Tensor x = ones({2, 2}, kDouble);
  CHECK(same(zeros_like(x, nullopt, nullopt, nullopt, nullopt), zeros({2, 2}, kDouble)));
  CHECK(same(full_like(x, 4, kLong, kStrided, kCPU, false), full({2, 2}, 4)));
  CHECK(same(x.new_zeros({3}, kInt, kStrided, kCPU, false), zeros({3}, kInt)));
  CHECK(same(x.new_full({3}, 2, nullopt, nullopt, nullopt, nullopt), full({3}, 2., kDouble)));
  CHECK(same(x.to(kFloat, kStrided, kCPU, false, false, false, nullopt), ones({2, 2})));
  manual_seed(5);
  const Tensor drawn = randn({3}, kDouble);
  manual_seed(5);
  CHECK(same(randn({3}, kDouble, kStrided, kCPU, false), drawn));
}

TEST_CASE("all, any and squeeze accept lists of dimensions") {
  const Tensor x = tensor({{{1, 1}, {1, 0}}, {{1, 1}, {1, 1}}}, kBool);
  CHECK(all(x, {1, 2}).equal(tensor({false, true})));
  CHECK(x.all({1, 2}, true).sizes() == IntArrayRef({2, 1, 1}));
  CHECK(any(~x, {0, 2}).equal(tensor({false, true})));
  CHECK((~x).any({0, 1}).equal(tensor({false, true})));
  CHECK(x.all(OptionalIntArrayRef(nullopt)).item<bool>() == false);
  CHECK_THROWS_WITH(all(x, {0, 0}), support::Contains("all"));
  CHECK(ones({1, 2, 1}).squeeze({0, 1}).sizes() == IntArrayRef({2, 1}));
  CHECK(ones({1, 2, 1}).squeeze_({0, -1}).sizes() == IntArrayRef({2}));
}

TEST_CASE("var and std accept any number as correction") {
  const Tensor x = tensor({1., 2., 4., 8.}, kDouble);  // the squared deviations sum to 28.75
  CHECK(var(x, {0}, Scalar(1.5)).item<double>() == Approx(28.75 / 2.5).epsilon(1e-15));
  CHECK(x.var({0}, Scalar(1.5)).item<double>() == Approx(28.75 / 2.5).epsilon(1e-15));
  CHECK(x.std({0}, Scalar(-0.5), true).sizes() == IntArrayRef({1}));
  CHECK(x.std({0}, Scalar(-0.5)).item<double>() == Approx(std::sqrt(28.75 / 4.5)).epsilon(1e-15));
  CHECK(std::get<0>(var_mean(x, {0}, Scalar(0.25))).item<double>() == Approx(28.75 / 3.75).epsilon(1e-15));
  CHECK(var(x, {0}, make_optional<std::int64_t>(2)).item<double>() == Approx(28.75 / 2).epsilon(1e-15));
  CHECK(var(x, {0}, nullopt, false).item<double>() == Approx(28.75 / 3).epsilon(1e-15));
  CHECK(var(x, {0}, Scalar(4.5)).item<double>() == INFINITY);
  const Tensor leaf = x.clone().requires_grad_();
  CHECK(gradcheck([](const Tensor& t) { return t.std({0}, Scalar(0.5)); }, {leaf}));
}
