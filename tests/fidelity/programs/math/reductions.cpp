// Reductions: every form of dims and keepdim, empties, ties, NaN, zeros in products.
#include "fidelity.h"

namespace reductions {

struct Case {
  const char* name;
  Tensor (*call)(const Tensor&);
};

void run() {
  const Case cases[] = {
      {"sum", [](const Tensor& x) { return torch::sum(x); }},
      {"sum.dim", [](const Tensor& x) { return x.sum(1); }},
      {"sum.dims",
       [](const Tensor& x) {
         return x.sum({-1, 0});
       }},
      {"sum.keep",
       [](const Tensor& x) {
         return torch::sum(x, torch::IntArrayRef({0, 2}), true);
       }},
      {"mean", [](const Tensor& x) { return x.mean(); }},
      {"mean.dims",
       [](const Tensor& x) {
         return torch::mean(x, {2, 1}, true);
       }},
      {"mean.dim", [](const Tensor& x) { return x.mean(-1); }},
      {"prod", [](const Tensor& x) { return torch::prod(x); }},
      {"prod.dim", [](const Tensor& x) { return x.prod(1, true); }},
      {"max", [](const Tensor& x) { return torch::max(x); }},
      {"min", [](const Tensor& x) { return x.min(); }},
      {"max.dim", [](const Tensor& x) { return std::get<0>(torch::max(x, 1)); }},
      {"min.dim", [](const Tensor& x) { return std::get<0>(x.min(-1, true)); }},
      {"amax",
       [](const Tensor& x) {
         return torch::amax(x, {0, 1});
       }},
      {"amin", [](const Tensor& x) { return x.amin({1}, true); }},
      {"amax.all", [](const Tensor& x) { return torch::amax(x); }},
      {"median", [](const Tensor& x) { return torch::median(x); }},
      {"median.dim", [](const Tensor& x) { return std::get<0>(torch::median(x, 2)); }},
      {"mode", [](const Tensor& x) { return std::get<0>(torch::mode(x, 1)); }},
      {"var", [](const Tensor& x) { return torch::var(x); }},
      {"var.biased", [](const Tensor& x) { return x.var(false); }},
      {"var.dims",
       [](const Tensor& x) {
         return torch::var(x, {2, 1}, true, true);
       }},
      {"std", [](const Tensor& x) { return torch::std(x); }},
      {"std.dim", [](const Tensor& x) { return x.std({1}, false, true); }},
      {"var_mean",
       [](const Tensor& x) {
         auto [var, mean] = torch::var_mean(x, {1}, true);
         return var * mean;
       }},
      {"std_mean",
       [](const Tensor& x) {
         auto [std, mean] = torch::std_mean(x, false);
         return std * mean;
       }},
      {"norm", [](const Tensor& x) { return x.norm(); }},
      {"norm.p", [](const Tensor& x) { return torch::norm(x, 3); }},
      {"norm.p1", [](const Tensor& x) { return torch::norm(x, 1, {1}); }},
      {"norm.p15",
       [](const Tensor& x) {
         return x.norm(1.5, {2, 0}, true);
       }},
      {"norm.inf", [](const Tensor& x) { return x.norm(kInf, 1); }},
      {"norm.minf", [](const Tensor& x) { return x.norm(-kInf, 1); }},
      {"norm.p0", [](const Tensor& x) { return x.norm(0, 1); }},
      {"logsumexp", [](const Tensor& x) { return torch::logsumexp(x, 1); }},
      {"logsumexp.dims",
       [](const Tensor& x) {
         return x.logsumexp({2, 0}, true);
       }},
      {"nansum", [](const Tensor& x) { return torch::nansum(x); }},
      {"nanmean", [](const Tensor& x) { return torch::nanmean(x, {1}); }},
      {"kthvalue", [](const Tensor& x) { return std::get<0>(torch::kthvalue(x, 2, 1)); }},
  };
  for (const Case& c : cases) {
    grad1(c.name, c.call, ramp({2, 3, 2}, -2, 2));
    section(c.name, [&] {
      report(std::string("f32.") + c.name, c.call(ramp({2, 3, 2}).to(torch::kFloat32)));
    });
  }

  // Ties and zeros.
  const Tensor ties =
      torch::tensor({{{1., 1.}, {3., 3.}, {3., 1.}}, {{0., 3.}, {0., 3.}, {1., 0.}}}, torch::kFloat64);
  for (const Case& c : cases) {
    if (std::string(c.name).find("mode") == 0) continue;  // which of equal elements is torch's private affair
    if (std::string(c.name).find("kth") == 0) continue;
    if (std::string(c.name).find("median") == 0) continue;
    grad1(std::string("ties.") + c.name, c.call, ties, 1);
  }
  // NaN.
  const Tensor holes = torch::tensor({{{1., kNan}, {3., 2.}, {5., 1.}}}, torch::kFloat64);
  for (const Case& c : cases)
    if (std::string(c.name).find("mode") != 0) grad1(std::string("nan.") + c.name, c.call, holes, 1);

  section("prod.zeros", [] {
    grad1(
        "prod.zero1", [](const Tensor& x) { return x.prod(); }, torch::tensor({2., 0., 3.}, torch::kFloat64));
    // One order: with two zeros libtorch returns a gradient without a graph.
    grad1(
        "prod.zero2", [](const Tensor& x) { return x.prod(); }, torch::tensor({2., 0., 0.}, torch::kFloat64),
        1);
    grad1(
        "prod.rows", [](const Tensor& x) { return x.prod(1); },
        torch::tensor({{2., 0., 3.}, {0., 0., 4.}, {1., 2., 3.}}, torch::kFloat64));
    grad1(
        "norm2.zero", [](const Tensor& x) { return x.norm(); }, torch::zeros({3}, torch::kFloat64), 1);
    grad1(
        "norm2.zerodim", [](const Tensor& x) { return x.norm(2, 1); }, torch::zeros({2, 3}, torch::kFloat64),
        1);
    grad1(
        "norminf.ties", [](const Tensor& x) { return x.norm(kInf, 0); },
        torch::tensor({2., -2., 1.}, torch::kFloat64), 1);
    grad1(
        "std.constant", [](const Tensor& x) { return x.std(); }, torch::ones({3}, torch::kFloat64), 1);
    grad1(
        "logsumexp.inf", [](const Tensor& x) { return x.logsumexp(0); },
        torch::tensor({-kInf, -kInf, 1.0}, torch::kFloat64), 1);
    report("logsumexp.minf", torch::full({2}, -kInf, torch::kFloat64).logsumexp(0));
  });

  section("empty", [] {
    const Tensor none = torch::zeros({0, 3}, torch::kFloat64);
    report("empty.sum", none.sum());
    report("empty.sum0", none.sum(0));
    report("empty.sum1", none.sum(1));
    report("empty.prod", none.prod());
    report("empty.mean", none.mean());
    report("empty.mean0", none.mean(0));
    report("empty.var", none.var());
    report("empty.norm", none.norm());
    report("empty.all", none.to(torch::kBool).all());
    report("empty.any", none.to(torch::kBool).any());
    report("empty.logsumexp", none.logsumexp(0));
    report("empty.max1", std::get<0>(none.max(1)));
    report_error("empty.max", [&] { none.max(); });
    report_error("empty.max0", [&] { none.max(0); });
    report_error("empty.argmax", [&] { none.argmax(); });
    report_error("empty.amax", [&] { none.amax({0}); });
    report_error("empty.median", [] { torch::median(torch::zeros({0, 2}), 0); });
  });

  section("indices", [] {
    const Tensor x = torch::tensor({{3, 1, 2}, {4, 9, 9}}, torch::kFloat64);
    report("argmax", x.argmax());
    report("argmax.dim", torch::argmax(x, 1));
    report("argmin.keep", x.argmin(0, true));
    report("max.indices", std::get<1>(x.max(1)));
    report("min.indices", std::get<1>(torch::min(x, 0, true)));
    report("median.index", std::get<1>(x.median(1)));
    auto [low, high] = torch::aminmax(x, 1);
    report("aminmax.low", low);
    report("aminmax.high", high);
    report("aminmax.all", std::get<1>(x.aminmax()));
    report("any", torch::any(x > 8));
    report("any.dim", (x > 2).any(1));
    report("all", (x > 0).all());
    report("all.dim", torch::all(x > 1, 1, true));
    report("any.float", torch::any(x, 0));
    report("count_nonzero", torch::count_nonzero(x > 2));
    report("count_nonzero.dim", (x - 9).count_nonzero(torch::IntArrayRef({1})));
    report("sum.bool", (x > 2).sum());
    report("sum.int", torch::tensor({1, 2, 3}, torch::kInt32).sum());
    report("sum.dtype", torch::sum(torch::tensor({1, 2, 3}), torch::kFloat64));
    report("sum.dim_dtype", torch::sum(x, {1}, false, torch::kFloat32));
    report("mean.dtype", torch::mean(torch::tensor({1, 2, 4}), torch::kFloat64));
    report("prod.int", torch::prod(torch::tensor({2, 3, 7})));
    report("max.int", torch::tensor({5, 7, 2}).max());
    report("bincount", torch::bincount(torch::tensor({1, 1, 3})));
    report("bincount.weights",
           torch::bincount(torch::tensor({1, 1, 3}), torch::tensor({.5, 1., 2.}, torch::kFloat64), 6));
    report("scalar.sum", torch::tensor(2.5).sum(0));
    report("scalar.max", std::get<1>(torch::tensor(2.5).max(0)));
    report_error("mean.int", [] { torch::mean(torch::tensor({1, 2})); });
    report_error("sum.range", [&] { x.sum(2); });
    report_error("sum.twice", [&] { x.sum({1, 1}); });
    report_error("var.int", [] { torch::var(torch::tensor({1, 2})); });
    report_error("logsumexp.range", [&] { x.logsumexp(5); });
    report_error("bincount.negative", [] { torch::bincount(torch::tensor({-1})); });
  });
}

const Program program("reductions", run);

}  // namespace reductions
