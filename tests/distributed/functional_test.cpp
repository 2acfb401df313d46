// Derivatives of collectives: gradcheck over several ranks.
#include "ranks.h"
#include "support/catch.h"

using namespace ebb::distributed;
using ebb::Tensor;

namespace {

// Checks first and second derivatives of the sum of all ranks' losses. All ranks hold the inputs of all,
// change the same element at a time, and compare the gradient of the element's owner.
void check_derivatives(const std::function<Tensor(const Tensor&)>& f, ebb::IntArrayRef sizes) {
  const int n = world_size();
  std::vector<std::int64_t> every(sizes.begin(), sizes.end());
  every.insert(every.begin(), n);
  ebb::manual_seed(5);
  const Tensor all = ebb::rand(every, ebb::kDouble) + 0.5 + ebb::arange(n, ebb::kDouble).view({n, 1, 1}) / 7;
  const Tensor weights = ebb::rand({1000}, ebb::kDouble);
  // The loss weights the result, so that its derivative differs from element to element.
  const auto loss = [&](const Tensor& x) {
    const Tensor y = f(x).reshape({-1});
    return (y * y * weights.narrow(0, 10 * rank(), y.numel())).sum();
  };
  const auto total = [&](Tensor value) {
    value = value.detach().clone();
    all_reduce(value);
    return value.item<double>();
  };
  const auto first = [&](const Tensor& x, bool create_graph) {
    const Tensor leaf = create_graph ? x : x.detach().requires_grad_();
    return ebb::autograd::grad({loss(leaf)}, {leaf}, {}, {}, create_graph)[0];
  };
  const Tensor direction = weights.narrow(0, 0, all[0].numel()).view(sizes);
  const auto slope = [&](const Tensor& x) { return (first(x, true) * direction * (rank() + 1)).sum(); };
  const Tensor own = all[rank()].clone().requires_grad_();
  const Tensor once = first(own, true).detach();
  const Tensor twice = ebb::autograd::grad({slope(own)}, {own})[0];
  const double step = 1e-6;
  for (std::int64_t i = 0; i < all.numel(); ++i) {
    const int owner = static_cast<int>(i / all[0].numel());
    double values[2], slopes[2];
    for (const int side : {0, 1}) {
      Tensor moved = all.clone();
      moved.view({-1})[i] += side ? step : -step;
      const Tensor x = moved[rank()].clone().requires_grad_();
      values[side] = total(loss(x));
      slopes[side] = total(slope(x));
    }
    if (owner != rank()) continue;
    const std::int64_t at = i % all[0].numel();
    CHECK(once.view({-1})[at].item<double>() == Approx((values[1] - values[0]) / (2 * step)).epsilon(1e-5));
    CHECK(twice.view({-1})[at].item<double>() == Approx((slopes[1] - slopes[0]) / (2 * step)).epsilon(1e-5));
  }
}

}  // namespace

TEST_CASE("functional all_reduce is differentiable twice for every op", "[.ranks][derivatives]") {
  ranks::join();
  for (const ReduceOp op : {ReduceOp::SUM, ReduceOp::AVG, ReduceOp::PRODUCT, ReduceOp::MIN, ReduceOp::MAX})
    check_derivatives([&](const Tensor& x) { return functional::all_reduce(x, op); }, {2, 2});
}

TEST_CASE("functional all_gather is differentiable twice", "[.ranks][derivatives]") {
  ranks::join();
  check_derivatives([](const Tensor& x) { return functional::all_gather_into_tensor(x); }, {2, 2});
  check_derivatives(
      [](const Tensor& x) {  // rank 0 gives both rows, other ranks one
        const std::vector<Tensor> parts = functional::all_gather(rank() == 0 ? x : x.narrow(0, 0, 1));
        return ebb::cat(parts) * parts[0].prod();
      },
      {2, 2});
}

TEST_CASE("functional reduce_scatter is differentiable twice", "[.ranks][derivatives]") {
  ranks::join();
  const std::int64_t n = world_size();
  for (const ReduceOp op : {ReduceOp::SUM, ReduceOp::AVG}) {
    check_derivatives([&](const Tensor& x) { return functional::reduce_scatter_tensor(x, op); }, {n, 2});
    check_derivatives(
        [&](const Tensor& x) {
          std::vector<Tensor> parts;
          for (int r = 0; r < n; ++r) parts.push_back(r == 0 ? x : x[0] * x[n - 1]);
          return functional::reduce_scatter(parts, op);
        },
        {n, 2});
  }
  CHECK_THROWS_MATCHES(functional::reduce_scatter_tensor(ebb::ones({n}), ReduceOp::MAX), ebb::Error,
                       support::Saying("needs SUM or AVG"));
}

TEST_CASE("backward through a collective of a group uses this group", "[.ranks]") {
  ranks::join();
  const int n = world_size();
  Tensor x = ebb::ones({1}).requires_grad_();
  std::vector<int> ranks(static_cast<std::size_t>(n));
  for (int r = 0; r < n; ++r) ranks[static_cast<std::size_t>(r)] = n - 1 - r;
  const ProcessGroup alone = new_group({n - 1});
  const ProcessGroup backwards = new_group(ranks);
  // Each rank sends the value to the ranks in turn; its gradient comes from the positions in the group.
  const Tensor all = functional::all_gather_into_tensor(x, backwards);
  (all * ebb::arange(n, ebb::kFloat)).sum().backward();
  CHECK(x.grad().item<double>() == n * (n - 1. - rank()));
  if (rank() != n - 1) return;
  x.grad().zero_();
  functional::all_reduce(x, ReduceOp::SUM, alone).backward();
  CHECK(x.grad().item<double>() == 1);
}

TEST_CASE("functional all_to_all is differentiable twice", "[.ranks][derivatives]") {
  ranks::join();
  const std::int64_t n = world_size();
  check_derivatives([](const Tensor& x) { return functional::all_to_all_single(x); }, {n, 2});
  check_derivatives(
      [&](const Tensor& x) {
        std::vector<Tensor> parts;
        for (int r = 0; r < n; ++r) parts.push_back(r == 0 ? x : x.narrow(0, 0, 1) * x.sum());
        return ebb::cat(functional::all_to_all(parts));
      },
      {n, 2});
}
