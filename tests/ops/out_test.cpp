// Results written into tensors that are there: f_out(out, ...).
#include <ebb/ebb.h>
#include <ebb/ops/out.h>

#include "support/catch.h"

using namespace ebb;
using support::Contains;

namespace {

struct Count : WarningHandler {
  int warnings = 0;
  void process(const Warning&) override { ++warnings; }
};

}  // namespace

TEST_CASE("an out form gives what the op gives in the tensor it is given") {
  const Tensor x = tensor({{1., -2.}, {3., 4.}}, kDouble), y = tensor({{2., 0.5}, {-1., 3.}}, kDouble);
  Tensor out = empty({2, 2}, kDouble);
  const void* const memory = out.data_ptr();
  CHECK(&abs_out(out, x) == &out);
  CHECK(out.equal(x.abs()));
  CHECK(add_out(out, x, y, 2).equal(x + 2 * y));
  CHECK(sub_out(out, x, y).equal(x - y));
  CHECK(mul_out(out, x, y).equal(x * y));
  CHECK(div_out(out, x, y).equal(x / y));
  CHECK(div_out(out, x, y, "floor").equal(div(x, y, "floor")));
  CHECK(pow_out(out, x, 2).equal(x * x));
  CHECK(clamp_out(out, x, -1, 3).equal(x.clamp(-1, 3)));
  CHECK(mm_out(out, x, y).equal(x.mm(y)));
  CHECK(matmul_out(out, x, y).equal(x.mm(y)));
  CHECK(addmm_out(out, x, x, y, 2, 3).equal(addmm(x, x, y, 2, 3)));
  CHECK(cumsum_out(out, x, 1).equal(x.cumsum(1)));
  CHECK(softmax_out(out, x, 1).equal(softmax(x, 1)));
  CHECK(index_select_out(out, x, 0, tensor({1, 0})).equal(x.flip({0})));
  CHECK(maximum_out(out, x, y).equal(maximum(x, y)));
  CHECK(max_out(out, x, y).equal(maximum(x, y)));
  CHECK(out.data_ptr() == memory);
  CHECK(add_out(out, out, 1).equal(maximum(x, y) + 1));  // the result is there before it is written
  Tensor strided = empty({2, 2}, kDouble).t();
  CHECK(abs_out(strided, x).equal(x.abs()));
}

TEST_CASE("lists in braces, dimensions and new values have out forms") {
  const Tensor x = tensor({{1.f, 2.f}, {3.f, 4.f}});
  Tensor out = empty({0});
  CHECK(cat_out(out, {x, x}, 1).equal(cat({x, x}, 1)));
  CHECK(stack_out(out.resize_({0}), {x, x}).equal(stack({x, x})));
  CHECK(sum_out(out.resize_({0}), x, {0, 1}).item<float>() == 10);
  CHECK(sum_out(out.resize_({0}), x, 0, true).equal(tensor({{4.f, 6.f}})));
  CHECK(mean_out(out.resize_({0}), x, 1).equal(tensor({1.5f, 3.5f})));
  CHECK(amax_out(out.resize_({0}), x, {0}).equal(tensor({3.f, 4.f})));
  CHECK(var_out(out.resize_({0}), x, {1}, false).equal(x.var({1}, false)));
  CHECK(norm_out(out.resize_({0}), x, 2, {0}).equal(x.norm(2, {0})));
  CHECK(logsumexp_out(out.resize_({0}), x, {0}).equal(logsumexp(x, {0})));
  Tensor places = empty({0}, kLong), truths = empty({0}, kBool), doubles = empty({0}, kDouble);
  max_out(out.resize_({0}), places, x, 1);
  CHECK(out.equal(tensor({2.f, 4.f})));
  CHECK(places.equal(tensor({1, 1})));
  const auto [sorted, order] = sort_out(out.resize_({0}), places.resize_({0}), x, 1, true);
  CHECK(sorted.is_same(out));
  CHECK(order.equal(tensor({{1, 0}, {1, 0}})));
  CHECK(all_out(truths, x > 1, {0, 1}).item<bool>() == false);
  CHECK(argmax_out(places.resize_({0}), x, 1).equal(tensor({1, 1})));
  // A sum is taken in out's dtype, as torch's is: 2^24 + 1 is no float.
  CHECK(sum_out(doubles, tensor({16777216.f, 1.f})).item<double>() == 16777217);

  CHECK(zeros_out(out.resize_({0}), {2, 3}).equal(zeros({2, 3})));
  CHECK(ones_out(doubles.resize_({0}), {2}).equal(ones({2}, kDouble)));
  CHECK(full_out(places.resize_({0}), {2}, 7).equal(tensor({7, 7})));
  CHECK(arange_out(places.resize_({0}), 4).equal(arange(4)));
  CHECK(arange_out(places.resize_({0}), 1, 7, 2).equal(arange(1, 7, 2)));
  CHECK(linspace_out(out.resize_({0}), 0, 1, 3).equal(linspace(0, 1, 3)));
  CHECK(eye_out(out.resize_({0}), 2).equal(eye(2)));
  manual_seed(3);
  const Tensor drawn = rand({4});
  manual_seed(3);
  CHECK(rand_out(out.resize_({0}), {4}).equal(drawn));
}

TEST_CASE("out takes the shape of the result, with a warning where it had elements") {
  Count count;
  const WarningHandlerGuard guard(&count);
  Tensor out = empty({0});
  add_out(out, ones({2, 3}), 1);
  CHECK(out.sizes() == IntArrayRef({2, 3}));
  CHECK(count.warnings == 0);
  add_out(out, ones({3}), 1);
  CHECK(out.equal(full({3}, 2.f)));
  CHECK(count.warnings == 1);
}

TEST_CASE("out forms refuse gradients, other devices and dtypes that do not fit") {
  const Tensor x = ones({2}), leaf = ones({2}).requires_grad_();
  Tensor out = empty({2}), longs = empty({2}, kLong), doubles = empty({2}, kDouble), kept = leaf, none;
  CHECK_THROWS_WITH(
      add_out(out, leaf, 1),
      Contains("add(): functions with out=... arguments don't support automatic differentiation"));
  CHECK_THROWS_WITH(mul_out(kept, x, 2), Contains("requires grad"));
  CHECK_THROWS_WITH(add_out(longs, x, 1),
                    Contains("result type Float can't be cast to the desired output type Long"));
  CHECK(add_out(doubles, x, 1).equal(full({2}, 2., kDouble)));
  CHECK_THROWS_WITH(index_select_out(doubles, x, 0, tensor({0})), Contains("result type Float"));
  CHECK_THROWS_WITH(mm_out(doubles, ones({2, 2}), ones({2, 2})), Contains("mm_out"));
  CHECK_THROWS_WITH(abs_out(none, x), Contains("out is undefined"));
  NoGradGuard no_grad;
  CHECK(mul_out(kept, leaf, 3).equal(full({2}, 3.f)));
  CHECK_FALSE(kept.grad_fn());
}
