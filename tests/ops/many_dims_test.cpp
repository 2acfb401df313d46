// More dimensions than 64, and than any stack is deep.
#include <ebb/ebb.h>

#include <numeric>
#include <vector>

#include "support/catch.h"

using namespace ebb;

namespace {

/// Ones, with sizes of 2 at two places far apart.
DimVector shape_of(std::size_t dims) {
  DimVector sizes(dims, 1);
  sizes[1] = 2;
  sizes[dims - 2] = 3;
  return sizes;
}

}  // namespace

TEST_CASE("tensors of any number of dimensions are printed") {
  constexpr std::size_t dims = 200000;
  const std::string opening(dims, '[');
  CHECK(to_string(full(DimVector(dims, 1), 7)).substr(7).starts_with(opening + "7"));
  const std::string text = to_string(arange(6).view(shape_of(dims)));
  CHECK(text.starts_with("tensor(" + opening + "0],\n" + std::string(dims + 5, ' ') + " [1],\n"));
  CHECK(text.ends_with("5" + std::string(dims, ']') + ")"));
  CHECK(to_string(zeros(DimVector(dims, 1)).narrow(0, 0, 0)).starts_with("tensor([],\n       size=(0, 1, "));
}

TEST_CASE("permute, movedim and flip take more than 64 dimensions") {
  for (const std::size_t dims : {65, 100, 3000}) {
    const Variable x = arange(6).to(kFloat64).view(shape_of(dims)).requires_grad_();
    std::vector<std::int64_t> back(dims);
    std::iota(back.rbegin(), back.rend(), 0);
    const Variable turned = x.permute(back);
    CHECK(turned.size(1) == 3);
    CHECK(turned.size(-2) == 2);
    CHECK(turned.reshape({6}).equal(tensor({0., 3., 1., 4., 2., 5.}, kFloat64)));
    turned.reshape({6}).backward(arange(6).to(kFloat64));
    CHECK(x.grad().reshape({6}).equal(tensor({0., 2., 4., 1., 3., 5.}, kFloat64)));
    const auto last = static_cast<std::int64_t>(dims) - 2;
    const Variable moved = x.movedim({last, 1}, {0, 70 % static_cast<std::int64_t>(dims)});
    CHECK(moved.size(0) == 3);
    CHECK(moved.size(70 % static_cast<std::int64_t>(dims)) == 2);
    CHECK(x.detach().flip({last}).reshape({6}).equal(tensor({2., 1., 0., 5., 4., 3.}, kFloat64)));
    back[0] = back[1];
    CHECK_THROWS_WITH(x.permute(back), support::Contains("permute") && support::Contains("multiple times"));
    CHECK_THROWS_WITH(x.flip({last, -2}), support::Contains("flip") && support::Contains("multiple times"));
    CHECK_THROWS_WITH(x.movedim({0, 0}, {1, 2}), support::Contains("movedim"));
  }
}

TEST_CASE("reductions say that they take 64 dimensions, and do") {
  const Variable most = arange(6).to(kFloat64).view(shape_of(64)), more = most.view(shape_of(65));
  CHECK(most.sum().item<double>() == 15);
  CHECK(most.prod(1).numel() == 3);
  CHECK(std::get<0>(most.max(1)).reshape({3}).equal(tensor({3., 4., 5.}, kFloat64)));
  const auto refused = [](const std::string& op) {
    return support::StartsWith(op + ": only tensors of up to 64 dimensions can be reduced, got 65");
  };
  CHECK_THROWS_WITH(more.sum(), refused("sum"));
  CHECK_THROWS_WITH(more.mean({64}), refused("mean"));
  CHECK_THROWS_WITH(more.prod(64), refused("prod"));
  CHECK_THROWS_WITH(more.max(), refused("max"));
  CHECK_THROWS_WITH(more.max(64), refused("max"));
  CHECK_THROWS_WITH(more.argmin(1), refused("argmin"));
  CHECK_THROWS_WITH(more.norm(), refused("norm"));
  CHECK_THROWS_WITH(more.any(), refused("any"));
  CHECK_THROWS_WITH(more.kthvalue(1, 64), refused("kthvalue"));
}
