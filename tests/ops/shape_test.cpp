// Views, joining, splitting, rearranging, padding, windows, and their edge cases.
#include "check.h"

using namespace op_tests;

TEST_CASE("views share the storage and have other shapes") {
  const Variable x = count({2, 3, 4});
  CHECK(shape(x.view({3, -1})) == Shape{3, 8});
  CHECK(x.view({3, -1}).data_ptr() == x.data_ptr());
  CHECK(x.permute({2, 0, 1}).strides().vec() == Shape{1, 12, 4});
  CHECK(values(x.select(1, -1)) == Values{8, 9, 10, 11, 20, 21, 22, 23});
  CHECK(values(x.slice(2, 1, 4, 2).select(0, 0)) == Values{1, 3, 5, 7, 9, 11});
  CHECK(shape(x.slice(0, 2, 1)) == Shape{0, 3, 4});
  CHECK(shape(x.slice(0, -100, 100)) == Shape{2, 3, 4});
  CHECK(shape(x.unsqueeze(-1).unsqueeze(0)) == Shape{1, 2, 3, 4, 1});
  CHECK(shape(x.unsqueeze(1).squeeze()) == Shape{2, 3, 4});
  CHECK(shape(x.flatten(1)) == Shape{2, 12});
  CHECK(shape(x.unflatten(2, {2, -1})) == Shape{2, 3, 2, 2});
  CHECK(shape(x.movedim(0, -1)) == Shape{3, 4, 2});
  CHECK(shape(ebb::movedim(x, {0, 1}, {2, 0})) == Shape{3, 4, 2});
  CHECK(values(x.diagonal(1, 1, 2).select(0, 0)) == Values{1, 6, 11});
  CHECK(shape(x.unfold(2, 2, 1)) == Shape{2, 3, 3, 2});
  CHECK(x.transpose(0, 1).reshape({24}).data_ptr() != x.data_ptr());
  CHECK(values(ebb::as_strided(x, {2, 2}, {1, 3}, 5)) == Values{5, 8, 6, 9});
  CHECK(x.transpose(0, 1).unsqueeze(2).strides().vec() == Shape{4, 12, 4, 1});
  CHECK(values(count({2, 2}).numpy_T()) == Values{0, 2, 1, 3});
}

TEST_CASE("views accept empty and 0-dimensional tensors") {
  const Variable empty = ebb::zeros({0, 3}), scalar = count({});
  CHECK(shape(empty.view({3, 0})) == Shape{3, 0});
  CHECK(shape(empty.view({-1, 3})) == Shape{0, 3});
  CHECK_THROWS_WITH(empty.view({-1, 0}),
                    support::Contains("view: cannot reshape a tensor of 0 elements into shape"));
  CHECK(shape(ebb::zeros({1, 0}).expand({3, 0})) == Shape{3, 0});
  CHECK(shape(scalar.reshape({1, 1})) == Shape{1, 1});
  CHECK(shape(scalar.flatten()) == Shape{1});
  CHECK(shape(scalar.unsqueeze(0)) == Shape{1});
  CHECK(shape(scalar.squeeze(0)) == Shape{});
  CHECK(shape(scalar.expand({2, 2})) == Shape{2, 2});
  CHECK(shape(scalar.t()) == Shape{});
  CHECK(shape(ebb::atleast_3d(scalar)) == Shape{1, 1, 1});
  CHECK(ebb::cat({empty, empty}).numel() == 0);
  CHECK(values(scalar.flip({0})) == Values{0});
}

TEST_CASE("view with a dtype reinterprets the bytes") {
  const Variable x = count({2, 2});
  CHECK(shape(x.view(ebb::kFloat)) == Shape{2, 4});
  CHECK(shape(x.view(ebb::kFloat).view(ebb::kDouble)) == Shape{2, 2});
  CHECK(values(x.view(ebb::kFloat).view(ebb::kDouble)) == values(x));
  CHECK_THROWS_WITH(ebb::zeros({3}, ebb::kFloat).view(ebb::kDouble),
                    support::Contains("view: sizes [3], strides [1] and offset 0 must be"));
}

TEST_CASE("graph nodes of shape ops have the names of torch") {
  const Variable x = count({2, 3}).set_requires_grad(true);
  CHECK(node_name(x.view({6})) == "ViewBackward0");
  CHECK(node_name(x.reshape({6})) == "ReshapeAliasBackward0");
  CHECK(node_name(x.t().reshape({6})) == "UnsafeViewBackward0");
  CHECK(node_name(x.t()) == "TBackward0");
  CHECK(node_name(x.transpose(0, 1)) == "TransposeBackward0");
  CHECK(node_name(x.permute({1, 0})) == "PermuteBackward0");
  CHECK(node_name(x.expand({2, 2, 3})) == "ExpandBackward0");
  CHECK(node_name(x.squeeze()) == "SqueezeBackward0");
  CHECK(node_name(x.squeeze(0)) == "SqueezeBackward1");
  CHECK(node_name(x.unsqueeze(0)) == "UnsqueezeBackward0");
  CHECK(node_name(x[0]) == "SelectBackward0");
  CHECK(node_name(x.slice(0, 1)) == "SliceBackward0");
  CHECK(node_name(x.narrow(1, 0, 2)) == "SliceBackward0");
  CHECK(node_name(x.diagonal()) == "DiagonalBackward0");
  CHECK(node_name(x.unfold(1, 2, 1)) == "UnfoldBackward0");
  CHECK(node_name(x.as_strided({2}, {1})) == "AsStridedBackward0");
  CHECK(node_name(ebb::cat({x, x})) == "CatBackward0");
  CHECK(node_name(ebb::stack({x, x})) == "StackBackward0");
  CHECK(node_name(x.split(1)[0]) == "SplitBackward0");
  CHECK(node_name(x.split_with_sizes({1, 1})[1]) == "SplitWithSizesBackward0");
  CHECK(node_name(x.unbind()[1]) == "UnbindBackward0");
  CHECK(node_name(x.repeat({2, 1})) == "RepeatBackward0");
  CHECK(node_name(x.flip({0})) == "FlipBackward0");
  CHECK(node_name(x.roll(1)) == "RollBackward0");
  CHECK(node_name(x.rot90()) == "Rot90Backward0");
  CHECK(node_name(x.tril()) == "TrilBackward0");
  CHECK(node_name(x.diag()) == "DiagBackward0");
  CHECK(node_name(ebb::constant_pad_nd(x, {1, 1})) == "ConstantPadNdBackward0");
  CHECK(node_name(ebb::reflection_pad1d(x, {1, 1})) == "ReflectionPad1DBackward0");
  CHECK(node_name(x.repeat_interleave(2)) == "IndexSelectBackward0");
}

TEST_CASE("views have the right gradients") {
  const Variable x = ramp({2, 3, 4});
  check_gradients([](const Variable& t) { return t.view({6, 4}).mul(t.view({6, 4})); }, {x});
  check_gradients([](const Variable& t) { return t.transpose(0, 1).reshape({24}).pow(2); }, {x});
  check_gradients([](const Variable& t) { return t.select(1, 1).pow(3); }, {x});
  check_gradients([](const Variable& t) { return t.slice(2, 1, 4, 2).pow(3); }, {x});
  check_gradients([](const Variable& t) { return t.unsqueeze(1).expand({2, 5, 3, 4}).pow(3); }, {x});
  check_gradients([](const Variable& t) { return t.permute({2, 0, 1}).pow(3); }, {x});
  check_gradients([](const Variable& t) { return t.diagonal(1, 1, 2).pow(3); }, {x});
  check_gradients([](const Variable& t) { return t.unfold(2, 3, 1).pow(3); }, {x});
  check_gradients([](const Variable& t) { return t.as_strided({3, 4}, {2, 1}, 1).pow(3); }, {x});
  check_gradients([](const Variable& t) { return t.as_strided({2, 2, 3}, {0, 5, 1}).pow(3); }, {x});
  check_gradients([](const Variable& t) { return t.squeeze(0).unsqueeze(0).movedim(0, 1).pow(3); }, {x});
  // Elements that an expanded input repeats share the gradient, as in torch.
  Variable row = ramp({1, 3}).set_requires_grad(true);
  row.expand({2, 3}).as_strided({3}, {1}).sum().backward();
  CHECK(values(row.grad()) == Values{1, 1, 1});
}

TEST_CASE("writes through a view change the base and its gradient") {
  Variable x = count({2, 3});
  Variable y = x[1];
  y.fill_(7);
  CHECK(values(x) == Values{0, 1, 2, 7, 7, 7});
  CHECK(x._version() == 1);
  CHECK(y._version() == 1);
  CHECK(y.is_view());
  CHECK(y._base().is_same(x));

  Variable leaf = count({2, 3}).set_requires_grad(true);
  CHECK_THROWS_WITH(leaf.select(0, 0).fill_(1),
                    support::Contains("fill_: a view of a leaf Variable that requires grad is"));
  Variable z = leaf.mul(2);
  z.select(0, 0).mul_(3);
  z.sum().backward();
  CHECK(values(leaf.grad()) == Values{6, 6, 6, 2, 2, 2});

  Variable w = leaf.mul(1);
  CHECK_THROWS_WITH(w.split(1)[0].mul_(2),
                    support::Contains("mul_: Output of shape [1, 3] is one of several views of"));
  CHECK_THROWS_WITH(w.unbind(1)[0].mul_(2),
                    support::Contains("mul_: Output of shape [2] is one of several views of one"));

  Variable saved = leaf.mul(1);
  const Variable square = saved.mul(saved);
  saved.view({6}).narrow(0, 0, 1).fill_(1);
  CHECK_THROWS_WITH(square.sum().backward(),
                    support::Contains("one of the variables needed for gradient computation has"));
}

TEST_CASE("in-place shape ops change the geometry and are recorded") {
  Variable x = count({1, 3});
  x.squeeze_().unsqueeze_(1);
  CHECK(shape(x) == Shape{3, 1});
  x.t_();
  CHECK(shape(x) == Shape{1, 3});
  Variable leaf = count({2, 3}).set_requires_grad(true);
  Variable y = leaf.mul(2);
  y.transpose_(0, 1);
  CHECK(shape(y) == Shape{3, 2});
  CHECK(node_name(y) == "TransposeBackward1");
  y.mul(count({3, 2})).sum().backward();
  CHECK(values(leaf.grad()) == Values{0, 4, 8, 2, 6, 10});
  CHECK_THROWS_WITH(leaf.resize_({6}),
                    support::Contains("resize_: cannot resize variables that require grad"));
  x.resize_({2, 2});
  CHECK(shape(x) == Shape{2, 2});
  CHECK(x[0][0].item<double>() == 0);
}

TEST_CASE("sum_to_size sums over the broadcast dimensions") {
  const Variable x = count({2, 3, 4});
  CHECK(values(x.sum_to_size({3, 1})) == Values{60, 92, 124});
  CHECK(x.sum_to_size({2, 3, 4}).is_same(x));
  CHECK_THROWS_WITH(x.sum_to_size({2, 4}),
                    support::Contains("sum_to_size: size [2, 4] is not expandable to the size"));
  check_gradients([](const Variable& t) { return t.sum_to_size({1, 4}).pow(2); }, {ramp({3, 4})});
}

TEST_CASE("cat and stack join tensors and have the right gradients") {
  const Variable a = count({2, 2}), b = count({1, 2});
  CHECK(values(ebb::cat({a, b})) == Values{0, 1, 2, 3, 0, 1});
  CHECK(values(ebb::cat({a, a}, -1)) == Values{0, 1, 0, 1, 2, 3, 2, 3});
  CHECK(values(ebb::stack({a, a}, 1)) == Values{0, 1, 0, 1, 2, 3, 2, 3});
  CHECK(ebb::cat({longs({1, 2}), ebb::ones({1})}).dtype() == ebb::kFloat);
  CHECK(shape(ebb::cat({ebb::zeros({0}), ebb::ones({2, 2})}, 1)) == Shape{2, 2});
  CHECK(shape(ebb::hstack({count({2}), count({3})})) == Shape{5});
  CHECK(shape(ebb::vstack({count({3}), count({2, 3})})) == Shape{3, 3});
  CHECK(shape(ebb::dstack({a, a})) == Shape{2, 2, 2});
  CHECK(values(ebb::column_stack({count({2}), count({2})})) == Values{0, 0, 1, 1});
  CHECK(values(ebb::block_diag({ebb::ones({1, 2}), ebb::ones({1})})) == Values{1, 1, 0, 0, 0, 1});
  CHECK_THROWS_WITH(ebb::cat(std::vector<Variable>{}),
                    support::Contains("cat: expected a non-empty list of tensors"));
  CHECK_THROWS_WITH(ebb::cat({a, count({2, 3})}),
                    support::Contains("cat: sizes of tensors must match except in dimension 0"));
  CHECK_THROWS_WITH(ebb::cat({a, count({2})}),
                    support::Contains("cat: tensors must have the same number of dimensions, got"));
  CHECK_THROWS_WITH(ebb::cat({count({}), count({})}),
                    support::Contains("cat: zero-dimensional tensor (at position 0) cannot be"));
  CHECK_THROWS_WITH(ebb::stack({a, b}),
                    support::Contains("stack: expects each tensor to be equal size, but got [2"));
  check_gradients([](const Variable& s, const Variable& t) { return ebb::cat({s, t, s}, 1).pow(3); },
                  {ramp({2, 2}), ramp({2, 3}, 1)});
  check_gradients([](const Variable& s, const Variable& t) { return ebb::stack({s, t}, 1).pow(3); },
                  {ramp({2, 2}), ramp({2, 2}, 1)});
}

TEST_CASE("split and chunk cut tensors and have the right gradients") {
  const Variable x = count({5, 2});
  const auto halves = x.split(2);
  REQUIRE(halves.size() == 3);
  CHECK(values(halves[2]) == Values{8, 9});
  CHECK(halves[1].data_ptr<double>() == x.data_ptr<double>() + 4);
  CHECK(x.chunk(4).size() == 3);
  CHECK(ebb::zeros({0, 2}).chunk(3).size() == 3);
  CHECK(values(x.tensor_split({1, 3})[1]) == Values{2, 3, 4, 5});
  CHECK(x.tensor_split(3).size() == 3);
  CHECK(shape(x.hsplit(2)[0]) == Shape{5, 1});
  CHECK(values(x.unbind(1)[1]) == Values{1, 3, 5, 7, 9});
  const auto pieces = ebb::unflatten_dense_tensors(x.view(-1), {ebb::ones(4), ebb::ones(0), ebb::ones(6)});
  CHECK((pieces[2].is_alias_of(x) && pieces[1].numel() == 0 && !pieces[1].is_alias_of(x)));
  CHECK_THROWS_WITH(x.split(0),
                    support::Contains("split: split_size can only be 0 if the dimension size is"));
  CHECK_THROWS_WITH(x.split({1, 1}),
                    support::Contains("split_with_sizes: expects split_sizes to sum exactly to 5"));
  CHECK_THROWS_WITH(x.chunk(0), support::Contains("chunk: expects `chunks` to be greater than 0, got 0"));
  CHECK_THROWS_MATCHES(x.unbind(2), ebb::IndexError,
                       support::Saying("unbind: Dimension out of range (expected to be in range"));
  check_gradients([](const Variable& t) { return t.split(2)[1].pow(3); }, {ramp({5, 2})});
  check_gradients([](const Variable& t) { return t.unbind(1)[0].mul(t.unbind(1)[1]); }, {ramp({3, 2})});
  check_gradients([](const Variable& t) { return t.unsafe_chunk(2, 1)[1].pow(3); }, {ramp({3, 3})});
}

TEST_CASE("repeat, flip, roll and rot90 have the right values and gradients") {
  const Variable x = count({2, 3});
  CHECK(values(x.repeat({1, 2})) == Values{0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5});
  CHECK(shape(x.repeat({2, 0, 1})) == Shape{2, 0, 3});
  CHECK(shape(x.tile({2})) == Shape{2, 6});
  CHECK(values(x.repeat_interleave(longs({2, 0, 1}), 1)) == Values{0, 0, 2, 3, 3, 5});
  CHECK(values(x.repeat_interleave(2)).size() == 12);
  CHECK(values(x.flip({0, 1})) == Values{5, 4, 3, 2, 1, 0});
  CHECK(values(x.t().flip({0})) == Values{2, 5, 1, 4, 0, 3});
  CHECK(values(x.roll(1)) == Values{5, 0, 1, 2, 3, 4});
  CHECK(values(x.roll({1, -1}, {0, 1})) == Values{4, 5, 3, 1, 2, 0});
  CHECK(values(x.rot90()) == Values{2, 5, 1, 4, 0, 3});
  CHECK(values(x.rot90(-1)) == Values{3, 0, 4, 1, 5, 2});
  CHECK_THROWS_WITH(x.flip({0, 0}),
                    support::Contains("flip: dimension 0 appears multiple times in [0, 0]. Name"));
  CHECK_THROWS_WITH(x.repeat({2}),
                    support::Contains("repeat: number of dimensions of repeat dims can not be"));
  check_gradients([](const Variable& t) { return t.repeat({2, 1, 2}).pow(3); }, {ramp({2, 3})});
  check_gradients([](const Variable& t) { return t.flip({1}).roll({1, 1}, {0, 1}).roll(2).pow(3); },
                  {ramp({2, 3})});
  check_gradients([](const Variable& t) { return t.rot90(3).pow(3); }, {ramp({2, 3})});
  check_gradients([](const Variable& t) { return ebb::pixel_shuffle(t, 2).pow(3); }, {ramp({4, 2, 1})});
  check_gradients([](const Variable& t) { return ebb::pixel_unshuffle(t, 2).pow(3); }, {ramp({1, 2, 4})});
}

TEST_CASE("tril, diagonal and meshgrid have the right values and gradients") {
  const Variable x = count({3, 3});
  CHECK(values(x.tril()) == Values{0, 0, 0, 3, 4, 0, 6, 7, 8});
  CHECK(values(x.triu(1)) == Values{0, 1, 2, 0, 0, 5, 0, 0, 0});
  CHECK(values(x.t().tril(-1)) == Values{0, 0, 0, 1, 0, 0, 2, 5, 0});
  CHECK(values(x.clone().triu_()) == Values{0, 1, 2, 0, 4, 5, 0, 0, 8});
  CHECK(values(x.diag()) == Values{0, 4, 8});
  CHECK(values(count({2}).diag(1)) == Values{0, 0, 0, 0, 0, 1, 0, 0, 0});
  CHECK(values(ebb::diag_embed(count({1, 2}))) == Values{0, 0, 0, 1});
  CHECK(values(ebb::zeros({5, 2}).fill_diagonal_(1, true)) == Values{1, 0, 0, 1, 0, 0, 1, 0, 0, 1});
  const auto grid = ebb::meshgrid({count({2}), count({3})}, "xy");
  CHECK(values(grid[0]) == Values{0, 1, 0, 1, 0, 1});
  CHECK(shape(grid[1]) == Shape{3, 2});
  CHECK(values(ebb::combinations(count({3}))) == Values{0, 1, 0, 2, 1, 2});
  CHECK(values(ebb::combinations(count({2}), 2, true)) == Values{0, 0, 0, 1, 1, 1});
  CHECK(values(ebb::cartesian_prod({count({2}), count({2})})) == Values{0, 0, 0, 1, 1, 0, 1, 1});
  check_gradients([](const Variable& t) { return t.tril(1).pow(3).add(t.triu()); }, {ramp({2, 3, 3})});
  check_gradients([](const Variable& t) { return t.diag(1).pow(3); }, {ramp({3, 4})});
  check_gradients([](const Variable& t) { return ebb::diag_embed(t, 1, 0, 2).pow(3); }, {ramp({2, 3})});
  check_gradients([](const Variable& t) { return t.mul(1).fill_diagonal_(2).pow(3); }, {ramp({3, 3})});
}

TEST_CASE("pad functions have the right values and gradients") {
  const Variable x = count({1, 4});
  CHECK(values(ebb::pad(x, {1, 2}, "constant", 9.0)) == Values{9, 0, 1, 2, 3, 9, 9});
  CHECK(values(ebb::constant_pad_nd(x, {-1, 1}, 5)) == Values{1, 2, 3, 5});
  CHECK(values(ebb::pad(x, {2, 3}, "reflect")) == Values{2, 1, 0, 1, 2, 3, 2, 1, 0});
  CHECK(values(ebb::pad(x, {2, 1}, "replicate")) == Values{0, 0, 0, 1, 2, 3, 3});
  CHECK(values(ebb::pad(x, {2, 1}, "circular")) == Values{2, 3, 0, 1, 2, 3, 0});
  CHECK_THROWS_WITH(ebb::pad(x, {4, 0}, "reflect"),
                    support::Contains("reflection_pad: padding size should be less than the"));
  CHECK_THROWS_WITH(ebb::pad(x, {5, 0}, "circular"),
                    support::Contains("circular pad: padding value causes wrapping around more"));
  CHECK_THROWS_WITH(ebb::pad(x, {1, 2, 3}),
                    support::Contains("pad: padding length must be divisible by 2, got [1, 2, 3]"));
  CHECK_THROWS_WITH(ebb::pad(x, {1, 1}, "mirror"),
                    support::Contains("pad: unrecognised padding mode \"mirror\". Use constant"));
  for (const char* mode : {"constant", "reflect", "replicate", "circular"}) {
    check_gradients([=](const Variable& t) { return ebb::pad(t, {1, 2, 2, 0}, mode).pow(3); },
                    {ramp({1, 3, 4})});
    check_gradients([=](const Variable& t) { return ebb::pad(t, {1, -1}, mode).pow(3); }, {ramp({2, 4})});
  }
  check_gradients([](const Variable& t) { return ebb::pad(t, {1, 1, 1, 0, 0, 1}, "replicate").pow(2); },
                  {ramp({1, 2, 2, 2})});
}

TEST_CASE("im2col and col2im have the right values and gradients") {
  const Variable x = count({1, 1, 3, 3});
  CHECK(values(ebb::im2col(x, {2, 2}, {1, 1}, {0, 0}, {1, 1})) ==
        Values{0, 1, 3, 4, 1, 2, 4, 5, 3, 4, 6, 7, 4, 5, 7, 8});
  const Variable columns = ebb::im2col(x, {2, 2}, {1, 1}, {0, 0}, {1, 1});
  CHECK(values(ebb::col2im(columns, {3, 3}, {2, 2}, {1, 1}, {0, 0}, {1, 1})) ==
        Values{0, 2, 2, 6, 16, 10, 6, 14, 8});
  CHECK_THROWS_WITH(ebb::im2col(x, {9, 9}, {1, 1}, {0, 0}, {1, 1}),
                    support::Contains("im2col: given spatial size (3, 3), kernel_size (9, 9)"));
  check_gradients([](const Variable& t) { return ebb::im2col(t, {2, 3}, {1, 1}, {1, 0}, {2, 1}).pow(2); },
                  {ramp({2, 1, 3, 4})});
  check_gradients(
      [](const Variable& t) { return ebb::col2im(t, {4, 4}, {3, 2}, {1, 2}, {1, 0}, {2, 1}).pow(2); },
      {ramp({6, 4})});
}

TEST_CASE("shape ops throw for wrong shapes") {
  const Variable x = count({2, 3, 4});
  CHECK_THROWS_WITH(x.view({5, 5}),
                    support::Contains("view: shape '[5, 5]' is invalid for input of size 24"));
  CHECK_THROWS_WITH(x.view({-1, -1}),
                    support::Contains("view: only one dimension can be inferred, got shape [-1"));
  CHECK_THROWS_WITH(x.transpose(0, 1).view({24}),
                    support::Contains("view: size [24] is not compatible with the sizes [3, 2"));
  CHECK_THROWS_WITH(x.permute({0, 0, 1}),
                    support::Contains("permute: dimension 0 appears multiple times in [0, 0, 1]"));
  CHECK_THROWS_WITH(x.permute({0, 1}),
                    support::Contains("permute: needs one entry for each dimension, got [0, 1]"));
  CHECK_THROWS_MATCHES(x.transpose(0, 3), ebb::IndexError,
                       support::Saying("transpose: Dimension out of range (expected to be in"));
  CHECK_THROWS_WITH(x.expand({2, 3, 5}),
                    support::Contains("expand: the expanded size of the tensor (5) must match"));
  CHECK_THROWS_WITH(x.t(), support::Contains("t: expects a tensor with at most 2 dimensions, but self"));
  CHECK_THROWS_WITH(x.narrow(0, 1, 2),
                    support::Contains("narrow: start (1) + length (2) exceeds dimension size (2)"));
  CHECK_THROWS_MATCHES(x.select(0, 2), ebb::IndexError,
                       support::Saying("select: index 2 is out of bounds for dimension 0 with"));
  CHECK_THROWS_WITH(x.slice(0, 0, 2, 0),
                    support::Contains("slice: step must be positive, got 0. Use flip for the"));
  CHECK_THROWS_WITH(x.unfold(0, 3, 1),
                    support::Contains("unfold: the maximum size for a window at dimension 0 is"));
  CHECK_THROWS_WITH(x.diagonal(0, 1, 1),
                    support::Contains("diagonal: dimensions cannot be identical, got 1 and 1"));
  CHECK_THROWS_WITH(x.as_strided({30}, {1}),
                    support::Contains("as_strided: sizes [30], strides [1] and storage offset 0"));
  CHECK_THROWS_WITH(x.select(1, 3),
                    support::Contains("index 3 is out of bounds for dimension 1 with size 3"));
}

TEST_CASE("negative padding in every mode crops first and pads afterwards") {
  const std::int64_t n = 6;
  const Variable x = count({n}), image = count({2, 1, n}) + 1;
  for (const std::string mode : {"constant", "reflect", "replicate", "circular"})
    for (std::int64_t left = -2; left <= 3; ++left)
      for (std::int64_t right = -2; right <= 3; ++right) {
        const std::int64_t first = std::max<std::int64_t>(-left, 0),
                           end = n - std::max<std::int64_t>(-right, 0);
        const std::int64_t length = end - first;
        if (std::max(left, right) >= length) continue;
        INFO(mode << " by " << left << " and " << right);
        Values expected;
        for (std::int64_t i = std::min<std::int64_t>(-left, 0); i < length + std::max<std::int64_t>(right, 0);
             ++i) {
          const bool inside = i >= 0 && i < length;
          std::int64_t at = i;
          if (mode == "reflect") at = i < 0 ? -i : i >= length ? 2 * (length - 1) - i : i;
          if (mode == "replicate") at = std::clamp<std::int64_t>(i, 0, length - 1);
          if (mode == "circular") at = (i + length) % length;
          expected.push_back(mode == "constant" && !inside ? 0 : static_cast<double>(first + at));
        }
        // The gradient of each element is the number of its occurrences in the result.
        Values counts(n);
        for (std::size_t i = 0; i < expected.size(); ++i) {
          const bool made = mode == "constant" &&
                            (static_cast<std::int64_t>(i) < left ||
                             static_cast<std::int64_t>(i) >= std::max<std::int64_t>(left, 0) + length);
          if (!made) counts[static_cast<std::size_t>(expected[i])] += 1;
        }
        const Variable line = x.view({1, 1, n}).detach().set_requires_grad(true);
        const Variable padded = ebb::pad(line, {left, right}, mode);
        CHECK(values(padded) == expected);
        padded.sum().backward();
        CHECK(values(line.grad()) == counts);
        CHECK(ebb::equal(ebb::pad(image, {left, right}, mode)[1], ebb::pad(image[1], {left, right}, mode)));
      }
}

// Edge cases of cat, views and unfold: empty parts, mixed dtypes, negative dimensions, large steps.

TEST_CASE("cat and stack promote to the common dtype in every order of their operands") {
  const Variable wide = ebb::ones({2}, ebb::kDouble), narrow = ebb::ones({2}), whole = longs({1, 2});
  for (const auto& list : {ebb::variable_list{wide, narrow, whole}, ebb::variable_list{whole, wide, narrow},
                           ebb::variable_list{narrow, whole, wide}}) {
    CHECK(ebb::cat(list).dtype() == ebb::kDouble);
    CHECK(ebb::stack(list).dtype() == ebb::kDouble);
  }
  CHECK(ebb::cat({narrow, whole}).dtype() == ebb::kFloat);
}

TEST_CASE("cat skips a tensor of shape {0} among matrices in forward and backward") {
  const Variable nothing = ebb::zeros({0}, ebb::kDouble).set_requires_grad(true);
  const Variable a = ramp({2, 3}).set_requires_grad(true), b = ramp({2, 1}).set_requires_grad(true);
  const Variable wide = ebb::cat({a, nothing, b}, 1), seed = ramp({2, 4}, 0.7);
  CHECK(shape(wide) == Shape{2, 4});
  wide.backward(seed);
  CHECK(values(a.grad()) == values(seed.slice(1, 0, 3)));
  CHECK(values(b.grad()) == values(seed.slice(1, 3, 4)));
  const Variable c = ramp({2, 3}).set_requires_grad(true), tall = ebb::cat({nothing, c, c}, 0);
  CHECK(shape(tall) == Shape{4, 3});
  tall.backward(ramp({4, 3}, 0.7));
  CHECK(values(c.grad()) == values(ramp({4, 3}, 0.7).slice(0, 0, 2) + ramp({4, 3}, 0.7).slice(0, 2, 4)));
}

TEST_CASE("diagonal throws if both dimensions are the same") {
  const Variable x = ramp({3, 3});
  CHECK_THROWS_WITH(ebb::diagonal(x, 0, 1, 1), support::Contains("identical"));
  CHECK_THROWS_WITH(ebb::diagonal(x, 0, 0, -2), support::Contains("identical"));
  CHECK_THROWS_WITH(ebb::diagonal(x, 0, -1, 1), support::Contains("identical"));
}

TEST_CASE("unfold has a second derivative for every step") {
  for (const std::int64_t step : {1, 2, 3}) {
    INFO("step " << step);
    check_gradients([step](const ebb::variable_list& in) { return in[0].unfold(0, 2, step).pow(3); },
                    {ramp({7})});
  }
}

TEST_CASE("cat copies pieces with any strides") {
  using ebb::Tensor;
  const Tensor x = ebb::arange(3 * 40 * 5).view({3, 40, 5}), y = -x;
  const auto check = [](const std::vector<Tensor>& pieces, std::int64_t dim) {
    const Tensor joined = ebb::cat(pieces, dim);
    std::int64_t begin = 0;
    for (const Tensor& piece : pieces) {
      CHECK(ebb::equal(joined.narrow(dim, begin, piece.size(dim)), piece));
      begin += piece.size(dim);
    }
    CHECK(joined.size(dim) == begin);
    CHECK(joined.is_contiguous());
  };
  check({x, y}, 1);
  check({x.narrow(1, 3, 30), y.narrow(1, 0, 1), y}, 1);           // strided rows
  check({x.slice(0, 0, 3, 2), y.slice(0, 1, 3)}, 1);              // every second row
  check({x, y.transpose(0, 1).contiguous().transpose(0, 1)}, 1);  // permuted rows
  check({x, y.transpose(1, 2).contiguous().transpose(1, 2)}, 1);  // rows in several pieces
  check({x, ebb::zeros({1, 40, 5}, ebb::kLong).expand({3, 40, 5})}, 1);
  check({x, y, x}, 2);
  check({x.to(ebb::kByte), y.to(ebb::kByte)}, 2);
  for (const std::int64_t shift : {0, 1, 7, 39, 40, 41, -3}) {
    const Tensor rolled = x.roll({shift}, {1}), twice = x.roll({shift, 1}, {1, 2});
    for (std::int64_t i = 0; i < 40; ++i) {
      const std::int64_t to = ((i + shift) % 40 + 40) % 40;
      CHECK(ebb::equal(rolled.select(1, to), x.select(1, i)));
      CHECK(twice[1][to][1].item<std::int64_t>() == x[1][i][0].item<std::int64_t>());
    }
  }
}
