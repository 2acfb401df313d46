// Tensors that are given the data, the memory or the shape of others.
#include <ebb/ebb.h>

#include "support/catch.h"

using namespace ebb;

TEST_CASE("writes to a tensor go unnoticed where another was given its data") {
  const Variable x = tensor({1.0, 2.0}, kDouble), y = tensor({3.0, 4.0}, kDouble);
  x.set_data(y);
  CHECK(x.is_alias_of(y));
  x.requires_grad_();
  const Variable z = x * x;
  y.add_(1);  // PyTorch's x has a version counter of its own
  z.sum().backward();
  CHECK(x.grad()[0].item<double>() == 8);
  // Those to x itself do not.
  const Variable w = (x * x).sum();
  x.detach().add_(1);
  CHECK_THROWS_WITH(w.backward(), support::Contains("modified by an inplace operation"));
  // Data that is passed on again and again is one storage and another.
  for (int i = 0; i < 1000; ++i) x.set_data(x.data());
  CHECK(x.is_alias_of(y));
  CHECK(x.data().is_alias_of(x.data()));
}

TEST_CASE("ops in place see that data() is of the same memory") {
  const Variable x = arange(6, kDouble);
  x.narrow(0, 1, 5).add_(x.data().narrow(0, 0, 5));
  CHECK(x.equal(tensor({0.0, 1.0, 3.0, 5.0, 7.0, 9.0}, kDouble)));
  x.copy_(x.data());
  CHECK(x[5].item<double>() == 9);
}

TEST_CASE("a leaf that is given another shape takes gradients of that shape") {
  const Variable x = ones({2, 3}, TensorOptions(kDouble).requires_grad(true));
  const Variable before = (x * 2).sum();
  {
    const NoGradGuard guard;
    x.t_();
  }
  CHECK_THROWS_WITH(before.backward(), support::Contains("has been given shape [3, 2] since"));
  (x * arange(1, 7, kDouble).view({3, 2})).sum().backward();
  CHECK(x.grad().sizes() == IntArrayRef({3, 2}));
  CHECK(x.grad()[2][1].item<double>() == 6);
}
