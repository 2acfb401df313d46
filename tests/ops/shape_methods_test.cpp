// Methods and overloads of shape, index, reduction and sorting ops equal the functions of the same name.
#include "check.h"

using namespace op_tests;
using ebb::kDouble, ebb::kLong;

TEST_CASE("methods that change shapes equal the functions") {
  const Variable x = ramp({2, 3, 4}).requires_grad_(), line = ramp({4}).requires_grad_();
  const Variable plain = ramp({4, 6}), m = plain.clone().requires_grad_();
  METHOD(x, swapaxes, 0, 2);
  same("mH", x.mH(), x.transpose(-2, -1));
  same("adjoint", x.adjoint(), x.transpose(-2, -1));
  METHOD(x, moveaxis, 0, 2);
  METHOD(x, moveaxis, {0, 1}, {2, 0});
  METHOD(x, narrow, 2, longs({1}, {}), 2);
  same("narrow", x.narrow(2, longs({-3}, {}), 2), x.narrow(2, 1, 2));
  METHOD(m, as_strided_scatter, ramp({2, 2}, 0.9), {2, 2}, {3, 2}, 1);
  METHOD(m, fliplr);
  METHOD(line, diagflat, 1);
  METHOD(x, select_scatter, ramp({2, 4}, 0.9), 1, 2);
  METHOD(x, slice_scatter, ramp({2, 3, 2}, 0.9), 2, 0, 3, 2);
  METHOD(x, diagonal_scatter, ramp({4, 2}, 0.9), 1, 0, 1);
  METHOD(m, unsafe_split, 4, 1);
  METHOD(m, unsafe_split_with_sizes, {1, 3, 2}, 1);
  METHOD(m, tensor_split, longs({1, 4}), 1);
  METHOD(m, tensor_split, longs({4}, {}), 1);
  METHOD(m, hsplit, {1, 4});
  METHOD(m, vsplit, 2);
  METHOD(m, vsplit, {1, 3});
  METHOD(x, dsplit, 2);
  METHOD(x, dsplit, {1, 3});
  same("tensor_split", plain.tensor_split(longs({1, 4}), 1), plain.split_with_sizes({1, 3, 2}, 1));
  CHECK(m.is_same_size(m + 1));
  CHECK(ebb::is_same_size(m, m + 1));
  CHECK_FALSE(m.is_same_size(m.t()));
  Variable turned = ramp({2, 3, 4});
  same("swapaxes_", turned.swapaxes_(0, 2), ramp({2, 3, 4}).transpose(0, 2));
  same("swapdims_", turned.swapdims_(0, 2), ramp({2, 3, 4}));
  same("vsplit", plain.vsplit(2), plain.split(2, 0));
  same("dsplit", x.detach().dsplit({1, 3}), x.detach().split_with_sizes({1, 2, 1}, 2));
}

TEST_CASE("new_ methods accept each option as a separate argument") {
  const Variable x = ramp({2, 3});
  const Variable empty = x.new_empty({4, 2}, kLong, std::nullopt, std::nullopt, false);
  CHECK((shape(empty) == Shape{4, 2} && empty.dtype() == kLong));
  const Variable strided = x.new_empty_strided({3, 2}, {1, 4}, ebb::kFloat, std::nullopt, ebb::kCPU, false);
  CHECK((shape(strided) == Shape{3, 2} && strided.stride(1) == 4 && strided.dtype() == ebb::kFloat));
  same("new_ones", x.new_ones({2}, kLong, std::nullopt, std::nullopt, false), longs({1, 1}));
}

TEST_CASE("index methods equal the functions") {
  const Variable x = ramp({3, 4}).requires_grad_(), source = ramp({2, 4}, 0.9);
  const Variable places = longs({2, 0, 1, 1, 0, 2, 2, 0}, {2, 4}), rows = longs({2, 0});
  BOTH(x.detach(), scatter, 0, places, source, "add");
  BOTH(x.detach(), scatter, 0, places, 3, "multiply");
  BOTH(x, index_fill, 0, rows, ebb::tensor(3.5, kDouble));
  BOTH(x, masked_fill, x > 0.2, ebb::tensor(3.5, kDouble));
  BOTH(x.detach(), index_reduce, 0, rows, source, "amax", false);
  METHOD(x, nonzero_static, 5, -7);
  METHOD(x, argwhere);
  METHOD(x, nonzero_numpy);
  same("index_fill", x.detach().index_fill(0, rows, ebb::tensor(3.5, kDouble)),
       x.detach().index_fill(0, rows, 3.5));
  same("scatter", x.detach().scatter(0, places, 3, "multiply"),
       x.detach().scatter(0, places, ebb::full_like(source, 3), "multiply"));
  using namespace ebb::indexing;
  const std::vector<TensorIndex> at{TensorIndex(Slice(1)), TensorIndex(2)};
  same("index", x.index(ebb::ArrayRef<TensorIndex>(at)), x.slice(0, 1).select(1, 2));
}

TEST_CASE("index_fill_ and masked_fill_ read their value once even if it is an element of self") {
  Variable x = ramp({3}), expected = ebb::full({3}, x[1].item(), kDouble);
  x.index_fill_(0, longs({0, 1, 2}), x[1]);
  CHECK(ebb::equal(x, expected));
  x = ramp({3});
  x.masked_fill_(bools({1, 1, 1}, {3}), x[1]);
  CHECK(ebb::equal(x, expected));
  CHECK_THROWS_WITH(x.masked_fill_(x > 0, ramp({2})), support::Contains("0-dimensional value tensor"));
  CHECK_THROWS_WITH(x.masked_fill_(longs({1, 0, 1}), 2), support::Contains("only supports boolean masks"));
}

TEST_CASE("methods of reductions and sorting equal the functions") {
  const Variable x = ramp({3, 4}).requires_grad_(), y = ramp({3, 4}, 1.1);
  const Variable counts = longs({1, 2, 1, 3}), weights = ebb::tensor({0.5, 1.0, 0.25, 2.0}, kDouble);
  METHOD(x, hash_tensor, {1}, true, 0);
  METHOD(x, dist, y, 3);
  METHOD(x, cov, 0);
  METHOD(x, cov, 0, counts);
  METHOD(x, cov, 0, counts, weights);
  METHOD(x, corrcoef);
  BOTH(x, renorm, 1, 0, 0.7);
  METHOD(x, diff, 2, 0, y);
  METHOD(x, argsort, true, 0, true);
  METHOD(x, msort);
  METHOD(x, nanmedian, 0, true);
  METHOD(x, nanquantile, ebb::tensor({0.3, 0.9}, kDouble), 0, true, "lower");
  METHOD(x, nanquantile, 0.3, 0, true, "higher");
  METHOD(x.detach(), histogram, ebb::tensor({-1.0, 0.0, 0.5, 1.5}, kDouble));
  METHOD(x.detach(), histogram, ebb::tensor({-1.0, 0.0, 0.5, 1.5}, kDouble), ramp({3, 4}, 2), true);
  const std::vector<double> range{-0.5, 0.5};
  METHOD(x.detach(), histogram, 5, range);
  METHOD(x.detach(), histogram, 5, range, ramp({3, 4}, 2), true);
  const Variable plain = x.detach();
  same("std_mean", ebb::std_mean(plain, {1}, 0, true),
       std::tuple(ebb::std(plain, {1}, 0, true), plain.mean({1}, true)));
}

TEST_CASE("bernoulli methods accept one probability per element or one for all") {
  const Variable sure = ebb::tensor({0.0, 1.0, 1.0, 0.0}, kDouble);
  same("bernoulli", sure.bernoulli(), sure);
  same("bernoulli", sure.bernoulli(1.0), ebb::ones_like(sure));
  same("bernoulli", sure.bernoulli(0.0), ebb::zeros_like(sure));
}

TEST_CASE("random_ without bounds covers the integers that the dtype represents exactly") {
  const auto ends = [](ebb::ScalarType dtype) {
    ebb::manual_seed(3);
    const Variable x = ebb::zeros({20000}, dtype).random_().to(kDouble);
    return std::pair(x.min().item<double>(), x.max().item<double>());
  };
  const auto reaches = [&](ebb::ScalarType dtype, double highest) {
    INFO(dtype);
    const auto [low, high] = ends(dtype);
    CHECK(low >= 0);
    CHECK(low < highest / 100);
    CHECK(high <= highest);
    CHECK(high > highest * 0.98);
  };
  reaches(ebb::kByte, 255);
  reaches(ebb::kChar, 127);
  reaches(ebb::kShort, 32767);
  reaches(ebb::kInt, 2147483647);
  reaches(kLong, 9223372036854775807.0);
  reaches(ebb::kHalf, 2048);
  reaches(ebb::kBFloat16, 256);
  reaches(ebb::kFloat, 16777216);
  reaches(kDouble, 9007199254740992.0);
  CHECK(ends(ebb::kBool) == std::pair(0.0, 1.0));
}

TEST_CASE("gradient accepts spacing as a number, per dimension and as coordinates") {
  const Variable x = ramp({4, 5}).requires_grad_();
  const auto along = [&](std::int64_t dim, double spacing) {
    return ebb::gradient(x, ebb::Scalar(spacing), dim, 2)[0];
  };
  same("gradient", ebb::gradient(x, ebb::Scalar(0.5), ebb::IntArrayRef{1, 0}, 2),
       {along(1, 0.5), along(0, 0.5)});
  same("gradient", ebb::gradient(x, ebb::IntArrayRef{1}, 2), {along(1, 1)});
  const std::vector<ebb::Scalar> spacings{2, 0.5};
  same("gradient", ebb::gradient(x, spacings, ebb::IntArrayRef{0, 1}, 2), {along(0, 2), along(1, 0.5)});
  const std::vector<Variable> places{ebb::arange(5, kDouble) * 0.5};
  const Variable by_places = ebb::gradient(x, places, std::optional<std::int64_t>(1), 2)[0],
                 even = along(1, 0.5);
  CHECK(ebb::allclose(by_places, even, 1e-12, 1e-12));
  CHECK(ebb::allclose(ebb::gradient(x, places, ebb::IntArrayRef{1}, 2)[0], even, 1e-12, 1e-12));
}

TEST_CASE("upsample functions accept scale factors in place of sizes") {
  const Variable line = ramp({1, 2, 4}), image = ramp({1, 2, 4, 3}), body = ramp({1, 2, 3, 4, 2});
  const std::vector<double> one{1.5}, two{1.5, 2}, three{2, 1.5, 3};
  const std::optional<double> factor = 1.5;
  const auto none = std::nullopt;
  same("nearest1d", ebb::upsample_nearest1d(line, none, one), ebb::upsample_nearest1d(line, {6}, factor));
  same("nearest3d", ebb::upsample_nearest3d(body, none, three),
       ebb::upsample_nearest3d(body, {6, 6, 6}, 2, 1.5, 3));
  same("exact1d", ebb::_upsample_nearest_exact1d(line, none, one),
       ebb::_upsample_nearest_exact1d(line, {6}, factor));
  same("exact2d", ebb::_upsample_nearest_exact2d(image, none, two),
       ebb::_upsample_nearest_exact2d(image, {6, 6}, 1.5, 2));
  same("exact3d", ebb::_upsample_nearest_exact3d(body, none, three),
       ebb::_upsample_nearest_exact3d(body, {6, 6, 6}, 2, 1.5, 3));
  for (const bool corners : {false, true}) {
    same("linear1d", ebb::upsample_linear1d(line, none, corners, one),
         ebb::upsample_linear1d(line, {6}, corners, factor));
    same("bilinear2d", ebb::upsample_bilinear2d(image, none, corners, two),
         ebb::upsample_bilinear2d(image, {6, 6}, corners, 1.5, 2));
    same("trilinear3d", ebb::upsample_trilinear3d(body, none, corners, three),
         ebb::upsample_trilinear3d(body, {6, 6, 6}, corners, 2, 1.5, 3));
    same("bicubic2d", ebb::upsample_bicubic2d(image, none, corners, two),
         ebb::upsample_bicubic2d(image, {6, 6}, corners, 1.5, 2));
    same("bilinear2d_aa", ebb::_upsample_bilinear2d_aa(image, none, corners, two),
         ebb::_upsample_bilinear2d_aa(image, {6, 6}, corners, 1.5, 2));
    same("bicubic2d_aa", ebb::_upsample_bicubic2d_aa(image, none, corners, two),
         ebb::_upsample_bicubic2d_aa(image, {6, 6}, corners, 1.5, 2));
  }
  CHECK_THROWS_WITH(ebb::upsample_linear1d(line, none, true, two), support::Contains("upsample_linear1d"));
}

TEST_CASE("overloads that take a number equal the overloads that take tensors of that value") {
  const Variable x = ramp({5}) * 0.4, n = count({5});
#define POLYNOMIAL(name)                                                                          \
  same(#name, ebb::special_##name(0.3, n), ebb::special_##name(ebb::full({5}, 0.3, kDouble), n)); \
  same(#name, ebb::special_##name(x, 3), ebb::special_##name(x, ebb::full_like(x, 3)))
  POLYNOMIAL(chebyshev_polynomial_t);
  POLYNOMIAL(chebyshev_polynomial_u);
  POLYNOMIAL(chebyshev_polynomial_v);
  POLYNOMIAL(chebyshev_polynomial_w);
  POLYNOMIAL(hermite_polynomial_h);
  POLYNOMIAL(hermite_polynomial_he);
  POLYNOMIAL(laguerre_polynomial_l);
  POLYNOMIAL(legendre_polynomial_p);
  POLYNOMIAL(shifted_chebyshev_polynomial_t);
  POLYNOMIAL(shifted_chebyshev_polynomial_u);
  POLYNOMIAL(shifted_chebyshev_polynomial_v);
  POLYNOMIAL(shifted_chebyshev_polynomial_w);
#undef POLYNOMIAL
  const Variable ends = ebb::tensor({0.0, 0.1, 0.5}, kDouble);
  CHECK(ebb::bucketize(0.1, ends, /*out_int32=*/true, /*right=*/true).dtype() == ebb::kInt);
  CHECK(values(ebb::bucketize(0.1, ends, false, true)) == Values{2});
  CHECK(values(ebb::bucketize(0.1, ends, false, false)) == Values{1});
  CHECK(ebb::result_type(ebb::Scalar(1), ebb::Scalar(2.5)) == ebb::kFloat);
  CHECK(ebb::result_type(ebb::Scalar(true), ebb::Scalar(2)) == kLong);
  same("hamming_window", ebb::hamming_window(6, false, kDouble),
       ebb::hamming_window(6, false, 0.54, 0.46, kDouble));
  const Variable a = ramp({3, 4}), wide = ebb::tensor(0.9, kDouble);
  same("pinv", ebb::linalg::pinv(a, std::optional<Variable>(), std::optional<Variable>(wide), false),
       ebb::linalg::pinv(a, std::nullopt, std::optional<double>(0.9), false));
  same("slogdet", ebb::linalg::slogdet(a.narrow(1, 0, 3)), ebb::linalg_slogdet(a.narrow(1, 0, 3)));
}
