// Sorting, selection and uniqueness, with the gradients of the values.
#include "fidelity.h"

namespace sort_topk {

void run() {
  const Tensor x = ramp({3, 4}, -2, 2);
  grad1(
      "sort", [](const Tensor& t) { return std::get<0>(torch::sort(t)); }, x);
  grad1(
      "sort.down", [](const Tensor& t) { return std::get<0>(t.sort(0, true)); }, x);
  grad1(
      "sort.stable", [](const Tensor& t) { return std::get<0>(torch::sort(t, true, 1, false)); }, x);
  grad1(
      "topk", [](const Tensor& t) { return std::get<0>(torch::topk(t, 2)); }, x);
  grad1(
      "topk.small", [](const Tensor& t) { return std::get<0>(t.topk(2, 0, false)); }, x);
  grad1(
      "kthvalue", [](const Tensor& t) { return std::get<0>(t.kthvalue(3)); }, x);
  grad1(
      "kthvalue.keep", [](const Tensor& t) { return std::get<0>(t.kthvalue(1, 0, true)); }, x);
  grad1(
      "median.even", [](const Tensor& t) { return std::get<0>(t.median(1, true)); }, x);
  grad1(
      "msort", [](const Tensor& t) { return torch::msort(t); }, x);

  section("indices", [&] {
    report("sort.indices", std::get<1>(torch::sort(x)));
    report("sort.down.indices", std::get<1>(torch::sort(x, 0, true)));
    report("argsort", torch::argsort(x));
    report("argsort.down", x.argsort(0, true));
    auto [values, indices] = torch::topk(x, 3, 1, true, true);
    report("topk.values", values);
    report("topk.indices", indices);
    report("kth.index", std::get<1>(torch::kthvalue(x, 2)));
    report("stable", std::get<1>(torch::sort(torch::tensor({1, 0, 1, 0, 1}), true, 0, true)));
    report("stable.up", std::get<1>(torch::sort(torch::tensor({1, 0, 1, 0, 1}), true, 0, false)));
    report("nan.sort", std::get<0>(torch::sort(torch::tensor({1., kNan, -1., kInf}, torch::kFloat64))));
    report("nan.topk", std::get<0>(torch::topk(torch::tensor({1., kNan, -1.}, torch::kFloat64), 2)));
    report("int.sort", std::get<0>(torch::sort(torch::tensor({5, -3, 9}))));
    report("bool.sort", std::get<0>(torch::sort(torch::tensor({true, false, true}))));
    report("scalar.sort", std::get<0>(torch::tensor(3.0).sort()));
    report("topk.all", std::get<0>(torch::tensor({2, 7, 4}).topk(3)));
    report("topk.zero", std::get<0>(torch::tensor({2, 7, 4}).topk(0)));
    report_error("topk.many", [&] { x.topk(5); });
    report_error("kth.zero", [&] { x.kthvalue(0); });
    report_error("kth.many", [&] { x.kthvalue(5); });
    report_error("sort.range", [&] { x.sort(2); });
  });

  section("mode", [] {
    auto [value, index] = torch::mode(torch::tensor({{1, 2, 2, 3}, {4, 4, 5, 5}}), 1);
    report("mode.value", value);
    report("median.odd", torch::median(torch::tensor({5., 1., 3.}, torch::kFloat64)));
    report("median.lower", torch::median(torch::tensor({4, 1, 3, 2})));
    report("nanmedian", torch::nanmedian(torch::tensor({4., kNan, 3., 2.}, torch::kFloat64)));
    report("quantile", torch::quantile(torch::tensor({1., 2., 3., 4.}, torch::kFloat64), 0.4));
  });

  section("unique", [] {
    const Tensor v = torch::tensor({3, 1, 2, 3, 1, 1});
    auto [sorted, inverse, counts] = torch::_unique2(v, true, true, true);
    report("unique.sorted", sorted);
    report("unique.inverse", inverse);
    report("unique.counts", counts);
    auto [rows, row_inverse, row_counts] =
        torch::unique_dim(torch::tensor({{1, 2}, {0, 5}, {1, 2}}), 0, true, true, true);
    report("unique_dim", rows);
    report("unique_dim.inverse", row_inverse);
    report("unique_dim.counts", row_counts);
    auto [runs, run_inverse, run_counts] = torch::unique_consecutive(v, true, true);
    report("unique_consecutive", runs);
    report("unique_consecutive.inverse", run_inverse);
    report("unique_consecutive.counts", run_counts);
    report("unique.float", std::get<0>(torch::_unique2(torch::tensor({2.5, -1., 2.5}, torch::kFloat64))));
    report("searchsorted", torch::searchsorted(torch::tensor({1., 3., 5.}, torch::kFloat64),
                                               torch::tensor({0., 3., 9.}, torch::kFloat64)));
    report("bucketize", torch::bucketize(torch::tensor({0., 3., 9.}, torch::kFloat64),
                                         torch::tensor({1., 3., 5.}, torch::kFloat64), false, true));
    report("histc", torch::histc(torch::tensor({1., 2., 1., 4.}, torch::kFloat64), 4, 0, 4));
  });
}

const Program program("sort_topk", run);

}  // namespace sort_topk
