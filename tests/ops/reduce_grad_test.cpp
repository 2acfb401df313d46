// Reductions: first and second derivatives, ties, zeros, NaN, node names.
#include "check.h"

using namespace reduce_test;
using ebb::kDouble;

namespace {

Variable vector(std::initializer_list<double> values) {
  return ebb::tensor(std::vector<double>(values), kDouble);
}

}  // namespace

TEST_CASE("reductions have the right first and second derivatives") {
  const Variable x = ramp({2, 3, 2}, -2, 2);
  struct Case {
    const char* name;
    Variable (*call)(const Variable&);
  };
  const Case cases[] = {
      {"sum", [](const Variable& t) { return t.sum(); }},
      {"sum.dims", [](const Variable& t) { return t.sum({0, 2}); }},
      {"sum.keep", [](const Variable& t) { return t.sum({1}, true); }},
      {"mean", [](const Variable& t) { return t.mean(); }},
      {"mean.dim", [](const Variable& t) { return t.mean(-1); }},
      {"prod", [](const Variable& t) { return t.prod(); }},
      {"prod.dim", [](const Variable& t) { return t.prod(1, true); }},
      {"max", [](const Variable& t) { return t.max(); }},
      {"min.dim", [](const Variable& t) { return std::get<0>(t.min(1)); }},
      {"max.keep", [](const Variable& t) { return std::get<0>(t.max(0, true)); }},
      {"amax", [](const Variable& t) { return t.amax({0, 1}); }},
      {"amin", [](const Variable& t) { return t.amin({2}, true); }},
      {"aminmax",
       [](const Variable& t) {
         const auto [low, high] = t.aminmax(1);
         return low * high;
       }},
      {"var", [](const Variable& t) { return t.var(); }},
      {"var.dims", [](const Variable& t) { return t.var({1, 2}, false, true); }},
      {"std", [](const Variable& t) { return t.std({1}); }},
      {"var_mean",
       [](const Variable& t) {
         const auto [var, mean] = ebb::var_mean(t, {1, 0}, true);
         return var * mean;
       }},
      {"std_mean",
       [](const Variable& t) {
         const auto [std, mean] = ebb::std_mean(t);
         return std * mean;
       }},
      {"norm", [](const Variable& t) { return t.norm(); }},
      {"norm.1", [](const Variable& t) { return t.norm(1, {1}); }},
      {"norm.0.5", [](const Variable& t) { return t.norm(0.5, {1}); }},
      {"norm.1.5", [](const Variable& t) { return t.norm(1.5, {0, 2}, true); }},
      {"norm.3", [](const Variable& t) { return t.norm(3); }},
      {"norm.inf", [](const Variable& t) { return t.norm(kInf, {1}); }},
      {"norm.-inf", [](const Variable& t) { return t.norm(-kInf, {1}); }},
      {"logsumexp", [](const Variable& t) { return t.logsumexp({0, 2}); }},
      {"nansum", [](const Variable& t) { return t.nansum(1) * 2; }},
      {"nanmean", [](const Variable& t) { return t.nanmean(1); }},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    check_derivatives(c.call, x);
    check_derivatives(c.call, x.transpose(0, 2));
  }
}

TEST_CASE("gradients of reductions have the dtype of the input") {
  const Variable x = ramp({2, 3}).to(ebb::kFloat).requires_grad_(true);
  x.sum(kDouble).backward();
  CHECK(x.grad().dtype() == ebb::kFloat);
  x.prod(0, false, kDouble).sum().backward();
  x.norm(2, kDouble).backward();
  CHECK(x.grad().dtype() == ebb::kFloat);
}

TEST_CASE("ties share the gradient of max() and amax while max(dim) gives it to the first") {
  const Variable x = vector({3, 1, 3, 0});
  check_close(gradient([](const Variable& t) { return t.max(); }, x), {0.5, 0, 0.5, 0}, 0);
  check_close(gradient([](const Variable& t) { return t.amax({0}); }, x), {0.5, 0, 0.5, 0}, 0);
  check_close(gradient([](const Variable& t) { return std::get<0>(t.max(0)); }, x), {1, 0, 0, 0}, 0);
  check_close(gradient([](const Variable& t) { return t.norm(kInf, {0}); }, vector({2, -2, 1})),
              {0.5, -0.5, 0}, 0);
}

TEST_CASE("reductions of inputs with NaN have the gradients of torch") {
  const Variable x = vector({1, kNan, 3});
  check_close(gradient([](const Variable& t) { return t.max(); }, x), {0, 1, 0}, 0);
  check_close(gradient([](const Variable& t) { return std::get<0>(t.min(0)); }, x), {0, 1, 0}, 0);
  check_close(gradient([](const Variable& t) { return t.nansum(); }, x), {1, 0, 1}, 0);
  check_close(gradient([](const Variable& t) { return t.nanmean(); }, x), {0.5, 0, 0.5}, 0);
  check_close(gradient([](const Variable& t) { return t.norm(kInf, {0}); }, x), {0, 0, 0}, 0);
}

TEST_CASE("prod is differentiable at zeros") {
  const auto prod = [](const Variable& t) { return t.prod(); };
  check_close(gradient(prod, vector({2, 0, 3})), {0, 6, 0}, 0);
  check_close(gradient(prod, vector({2, 0, 0})), {0, 0, 0}, 0);
  for (const Variable& x : {vector({2, 0, 3}), vector({2, 0, 0, 4}), vector({0, 0, 0}), vector({5})})
    check_derivatives(prod, x);
  const Variable rows = ebb::stack({vector({2, 0, 3}), vector({0, 0, 4}), vector({1, 2, 3})});
  check_derivatives([](const Variable& t) { return t.prod(1); }, rows);
  check_derivatives([](const Variable& t) { return t.prod(0, true); }, rows);
  check_close(gradient(prod, ebb::tensor(3., kDouble)), {1}, 0);
}

TEST_CASE("norm, std and logsumexp have the subgradients of torch at their kinks") {
  const Variable zeros = ebb::zeros({3}, kDouble);
  for (double p : {0.5, 1., 1.5, 2., 3.})
    check_close(gradient([&](const Variable& t) { return t.norm(p); }, zeros), {0, 0, 0}, 0);
  check_close(gradient([](const Variable& t) { return t.std(); }, ebb::ones({3}, kDouble)), {0, 0, 0}, 0);
  check_close(gradient([](const Variable& t) { return t.logsumexp(0); }, vector({-kInf, -kInf, 1})),
              {0, 0, 1}, 0);
  const Variable low = vector({-kInf, -kInf});
  CHECK(low.logsumexp(0).item<double>() == -kInf);
  check_close(gradient([](const Variable& t) { return t.logsumexp(0); }, low), {kNan, kNan}, 0);
}

TEST_CASE("reductions of empty tensors have empty gradients") {
  for (auto f : {+[](const Variable& t) { return t.sum(); }, +[](const Variable& t) { return t.mean(); },
                 +[](const Variable& t) { return t.prod(); }, +[](const Variable& t) { return t.norm(); }}) {
    const Variable grad = gradient(f, ebb::zeros({0, 3}, kDouble));
    CHECK(grad.sizes() == ebb::IntArrayRef({0, 3}));
  }
}

TEST_CASE("graph nodes of reductions have the names of torch") {
  const Variable x = ramp({2, 3}, 1, 2).requires_grad_(true);
  CHECK(name_of(x.sum()) == "SumBackward0");
  CHECK(name_of(x.sum(1)) == "SumBackward1");
  CHECK(name_of(x.mean()) == "MeanBackward0");
  CHECK(name_of(x.mean(0)) == "MeanBackward1");
  CHECK(name_of(x.prod()) == "ProdBackward0");
  CHECK(name_of(x.prod(0)) == "ProdBackward1");
  CHECK(name_of(x.max()) == "MaxBackward1");
  CHECK(name_of(std::get<0>(x.max(0))) == "MaxBackward0");
  CHECK(name_of(x.min()) == "MinBackward1");
  CHECK(name_of(std::get<0>(x.min(0))) == "MinBackward0");
  CHECK(name_of(x.amax()) == "AmaxBackward0");
  CHECK(name_of(x.amin()) == "AminBackward0");
  CHECK(name_of(x.var()) == "VarBackward0");
  CHECK(name_of(x.std(1)) == "StdBackward0");
  CHECK(name_of(std::get<1>(ebb::var_mean(x))) == "VarMeanBackward0");
  CHECK(name_of(std::get<0>(ebb::std_mean(x))) == "StdMeanBackward0");
  CHECK(name_of(x.norm()) == "NormBackward0");
  CHECK(name_of(x.norm(2, {1})) == "NormBackward1");
  CHECK(name_of(x.norm(2, ebb::kDouble)) == "NormBackward2");
  CHECK(name_of(x.norm(2, {1}, false, ebb::kDouble)) == "NormBackward3");
  CHECK(name_of(x.logsumexp(1)) == "LogsumexpBackward0");
  CHECK(name_of(x.nansum()) == "NansumBackward0");
  CHECK(name_of(x.median()) == "MedianBackward0");
  CHECK(name_of(std::get<0>(x.median(0))) == "MedianBackward1");
  CHECK(name_of(x.cumsum(0)) == "CumsumBackward0");
  CHECK(name_of(x.cumprod(0)) == "CumprodBackward0");
  CHECK(name_of(std::get<0>(x.cummax(0))) == "CummaxBackward0");
  CHECK(name_of(x.logcumsumexp(0)) == "LogcumsumexpBackward0");
  CHECK(name_of(x.softmax(0)) == "SoftmaxBackward0");
  CHECK(name_of(x.log_softmax(0)) == "LogSoftmaxBackward0");
  CHECK(name_of(std::get<0>(x.sort())) == "SortBackward0");
  CHECK(name_of(std::get<0>(x.sort(ebb::optional<bool>(true), 0))) == "SortBackward1");
  CHECK(name_of(std::get<0>(x.topk(1))) == "TopkBackward0");
  CHECK(name_of(std::get<0>(x.kthvalue(1))) == "KthvalueBackward0");
  CHECK(name_of(std::get<0>(x.mode())) == "ModeBackward0");
  CHECK_FALSE(std::get<1>(x.max(0)).requires_grad());
}
