// Index ops, their gradients, sorting and selection.
#include "fidelity.h"

// gather, scatter and the index_* family.
namespace index_ops {

void run() {
  const Tensor x = ramp({3, 4});
  const Tensor index = torch::tensor({{0, 2, 1}, {1, 1, 0}});
  grad1("gather", [&](const Tensor& t) { return torch::gather(t, 1, index); }, x);
  grad1("gather.0", [&](const Tensor& t) { return t.gather(0, index); }, x);
  grads(
      "scatter", [&](const Tensors& t) { return t[0].scatter(1, index, t[1]); }, {x, ramp({2, 3}, 2, 3)}, 0);
  grads("scatter.distinct",
        [](const Tensors& t) { return torch::scatter(t[0], 0, torch::tensor({{0, 2, 1}, {1, 0, 2}}), t[1]); },
        {x, ramp({2, 3}, 2, 3)});
  grads("scatter.value", [&](const Tensors& t) { return t[0].scatter(1, index, 5.0); }, {x});
  grads("scatter_add", [&](const Tensors& t) { return torch::scatter_add(t[0], 1, index, t[1]); },
        {x, ramp({2, 3}, 2, 3)});
  grads(
      "scatter.reduce_add", [&](const Tensors& t) { return t[0].scatter(1, index, t[1], "add"); },
      {x, ramp({2, 3}, 2, 3)}, 0);
  grads("scatter_reduce.sum", [&](const Tensors& t) { return t[0].scatter_reduce(1, index, t[1], "sum"); },
        {x, ramp({2, 3}, 2, 3)});
  grads(
      "scatter_reduce.amax", [&](const Tensors& t) { return t[0].scatter_reduce(1, index, t[1], "amax"); },
      {x, ramp({2, 3}, -1.5, 1.5)}, 1);

  const Tensor rows = torch::tensor({2, 0, 2});
  grad1("index_select", [&](const Tensor& t) { return torch::index_select(t, 0, rows); }, x);
  grad1("index_select.1", [&](const Tensor& t) { return t.index_select(1, rows); }, x);
  grads("index_add", [&](const Tensors& t) { return torch::index_add(t[0], 0, rows, t[1]); },
        {x, ramp({3, 4}, 2, 3)});
  grads("index_add.alpha", [&](const Tensors& t) { return t[0].index_add(1, rows, t[1], 0.5); },
        {x, ramp({3, 3}, 2, 3)});
  grads("index_copy", [&](const Tensors& t) { return t[0].index_copy(0, torch::tensor({2, 0}), t[1]); },
        {x, ramp({2, 4}, 2, 3)});
  grads("index_fill", [&](const Tensors& t) { return t[0].index_fill(1, rows, -7.0); }, {x});
  grads("index_fill.tensor", [&](const Tensors& t) { return torch::index_fill(t[0], 0, rows, t[1]); },
        {x, ramp({})});
  grads("masked_select", [](const Tensors& t) { return torch::masked_select(t[0], t[0] > 0); }, {x});
  grads("masked_select.broadcast",
        [](const Tensors& t) { return t[0].masked_select(torch::tensor({true, false, true, true})); }, {x});
  grads("masked_scatter", [](const Tensors& t) { return t[0].masked_scatter(t[0] > 0, t[1]); },
        {x, ramp({12}, 5, 6)});
  grad1("take", [](const Tensor& t) { return torch::take(t, torch::tensor({{0, 11}, {5, 5}})); }, x);
  grad1(
      "take_along_dim", [](const Tensor& t) { return torch::take_along_dim(t, t.argsort(1, false), 1); }, x);
  grad1(
      "take_along_dim.flat", [](const Tensor& t) { return torch::take_along_dim(t, torch::tensor({3, 0})); },
      x);
  grads("put", [](const Tensors& t) { return t[0].put(torch::tensor({1, 5}), t[1], true); }, {x, ramp({2})});
  grad1("embedding", [](const Tensor& t) { return torch::embedding(t, torch::tensor({{0, 2}, {2, 2}})); }, x);
  grad1(
      "embedding.padding",
      [](const Tensor& t) { return torch::embedding(t, torch::tensor({0, 2, 2, 1}), 2); }, x);
  grad1(
      "F.embedding",
      [](const Tensor& t) {
        return torch::nn::functional::embedding(torch::tensor({1, 1}), t,
                                                torch::nn::functional::EmbeddingFuncOptions().padding_idx(0));
      },
      x);

  section("inplace", [&] {
    Tensor y = x.clone();
    y.scatter_(1, index, 1.5);
    report("scatter_", y);
    y.scatter_add_(1, index, torch::ones({2, 3}, torch::kFloat64));
    report("scatter_add_", y);
    y.index_add_(0, rows, torch::ones({3, 4}, torch::kFloat64));
    report("index_add_", y);
    y.index_copy_(1, torch::tensor({3}), torch::zeros({3, 1}, torch::kFloat64));
    report("index_copy_", y);
    y.index_fill_(0, torch::tensor({1}), 9);
    report("index_fill_", y);
    y.masked_scatter_(y > 8, torch::arange(12, torch::kFloat64));
    report("masked_scatter_", y);
    y.put_(torch::tensor({0, 1}), torch::tensor({-1., -2.}, torch::kFloat64));
    report("put_", y);
    Tensor g = x.clone().requires_grad_();
    Tensor h = g * 1;
    h.index_fill_(0, torch::tensor({1}), 0).scatter_(1, index, 2.0);
    (h * h).sum().backward();
    report("inplace.grad", g.grad());
    report("fill_diagonal_", torch::zeros({3, 3}).fill_diagonal_(2));
  });

  section("nonzero", [&] {
    report("nonzero", torch::nonzero(x > 0.5));
    report("nonzero.1d", torch::tensor({0, 3, 0, 5}).nonzero());
    report("nonzero.none", torch::zeros({2, 2}).nonzero());
    report("nonzero.scalar", torch::nonzero(torch::tensor(3.0)));
    report("argwhere", torch::argwhere(x > 0.9));
    const auto parts = torch::nonzero_numpy(x > 0.9);
    report("nonzero_numpy", parts[0]);
  });

  section("refused", [&] {
    report_error("gather.range", [&] { x.gather(1, torch::tensor({{4}})); });
    report_error("gather.negative", [&] { x.gather(1, torch::tensor({{-1}})); });
    report_error("gather.type", [&] { x.gather(1, index.to(torch::kInt16)); });
    report_error("gather.dims", [&] { x.gather(1, rows); });
    report_error("gather.shape", [&] { x.gather(1, torch::zeros({4, 1}, torch::kLong)); });
    report_error("index_select.range", [&] { x.index_select(0, torch::tensor({3})); });
    report_error("index_select.float", [&] { x.index_select(0, torch::tensor({1.0})); });
    report_error("index_select.2d", [&] { x.index_select(0, index); });
    report("index_select.i32", x.index_select(0, torch::tensor({1}, torch::kInt32)));
    report("index_select.scalar", x.index_select(0, torch::tensor(1)));
    report("index_select.empty", x.index_select(0, torch::zeros({0}, torch::kLong)));
    report_error("index_add.shape", [&] { x.index_add(0, rows, ramp({2, 4})); });
    report_error("scatter.range", [&] { x.scatter(1, torch::tensor({{9}}), 1.0); });
    report_error("scatter.dtype", [&] { x.scatter(1, index, torch::ones({2, 3})); });
    report_error("scatter.small", [&] { x.scatter(1, index, ramp({1, 1})); });
    report_error("masked_select.type", [&] { x.masked_select(x); });
    report_error("take.range", [&] { x.take(torch::tensor({12})); });
    report_error("embedding.range", [&] { torch::embedding(x, torch::tensor({3})); });
    report_error("embedding.type", [&] { torch::embedding(x, torch::tensor({0.5})); });
    report_error("masked_scatter.few", [&] { x.masked_scatter(x > -5, ramp({2})); });
  });
}

const Program program("index_ops", run);

}  // namespace index_ops

// All kinds of indices, read and written, with gradients of both orders.
namespace indexing_gradients {

using namespace torch::indexing;

void run() {
  const Tensor x = ramp({3, 4, 2}), rows = torch::tensor({2, 0, 2}), columns = torch::tensor({1, 3, 0});
  const Tensor mask =
      torch::tensor({{true, false, true, false}, {false, false, true, true}, {true, true, false, false}});
  const struct {
    const char* name;
    std::vector<TensorIndex> at;
  } cases[] = {
      {"int", {1}},
      {"negative", {-1, -2}},
      {"slice", {Slice(1, 3)}},
      {"slice.step", {Slice(), Slice(0, 4, 3)}},
      {"slice.open", {Slice(None, -1), Slice(2, None)}},
      {"none", {None, 0, None}},
      {"ellipsis", {"...", 1}},
      {"ellipsis.object", {Ellipsis, Slice(0, 1)}},
      {"ellipsis.front", {0, Ellipsis}},
      {"tensor", {rows}},
      {"tensor.second", {Slice(), rows}},
      {"tensor.2d", {torch::tensor({{0, 1}, {2, 2}})}},
      {"tensors", {rows, columns}},
      {"tensors.broadcast", {torch::tensor({{0}, {2}}), columns}},
      {"tensors.apart", {rows, Slice(1, 4), torch::tensor({0, 1, 1})}},
      {"tensors.none", {rows, None, columns}},
      {"tensor.int", {rows, 2}},
      {"mask", {mask}},
      {"mask.row", {torch::tensor({true, false, true})}},
      {"mask.tensor", {torch::tensor({true, false, true}), torch::tensor({1, 1})}},
      {"mask.slice", {Slice(0, 2), torch::tensor({false, true, true, false})}},
      {"mask.none_set", {torch::zeros({3}, torch::kBool)}},
      {"bool.true", {true, 0}},
      {"bool.false", {false}},
      {"scalar_tensor", {torch::tensor(1)}},
  };
  for (const auto& c : cases) {
    const std::string name = c.name;
    grad1("get." + name, [&](const Tensor& t) { return t.index(c.at).square(); }, x);
    section("set." + name, [&] {
      const Tensor part = x.index(c.at);
      Tensor scalar = x.clone();
      scalar.index_put_(c.at, 7.5);
      report("fill." + name, scalar);
      grads("put." + name,
            [&](const Tensors& t) {
              Tensor y = t[0] * 2;
              y.index_put_(c.at, t[1].square());
              return y;
            },
            {x, ramp(part.sizes().vec(), -1, 1, 0.9)});
    });
  }

  section("accumulate", [&] {
    grads("accumulate.rows", [&](const Tensors& t) { return t[0].index_put({rows}, t[1] * t[1], true); },
          {x, ramp({3, 4, 2})});
    grads("accumulate.pairs",
          [&](const Tensors& t) { return (t[0] * 1).index_put_({rows, columns}, t[1], true); },
          {x, ramp({3, 2})});
    grads("accumulate.mask", [&](const Tensors& t) { return (t[0] * 1).index_put_({mask}, t[1], true); },
          {x, ramp({1, 2})});
    grads("accumulate.broadcast", [&](const Tensors& t) { return (t[0] * 1).index_put_({rows}, t[1], true); },
          {x, ramp({2})});
    Tensor counts = torch::zeros({4}, torch::kLong);
    counts.index_put_({torch::tensor({0, 3, 3, 3, 1})}, torch::ones({5}, torch::kLong), true);
    report("counts", counts);
    Tensor flat = torch::zeros({5}, torch::kFloat64);
    flat.index_add_(0, torch::tensor({1, 1, 4}), ramp({3}));
    flat.scatter_add_(0, torch::tensor({0, 0}), ramp({2}));
    report("flat", flat);
  });

  section("chained", [&] {
    grad1(
        "chained.view", [](const Tensor& t) { return t.index({Slice(), 1}).index({"...", 0}) * t.sum(); }, x);
    grad1("chained.brackets", [](const Tensor& t) { return t[1][2] * t[0][3]; }, x);
    grad1("chained.select_tensor", [&](const Tensor& t) { return t[torch::tensor(2)].exp(); }, x);
    grad1(
        "self_index",
        [](const Tensor& t) { return t.flatten().index({t.flatten().argsort().slice(0, 0, 5)}); }, x);
    grad1("gather_rows", [&](const Tensor& t) { return t.select(2, 0).gather(1, columns.unsqueeze(1)); }, x);
    Tensor y = x.clone();
    y.index({Slice(), 0}) = 3;
    y.index({1}).zero_();
    y.index({"...", -1}) += 1;
    y[2][3] = ramp({2}, 5, 6);
    y[0].index({Slice(1, 3), 1}).mul_(-2);
    report("written", y);
    Tensor z = x.clone();
    z.index_put_({mask}, z.index({mask}) * 10);
    report("masked_update", z);
    Tensor w = x.clone();
    w.index({mask}).fill_(9);  // writes into a copy
    report_value("copy_untouched", torch::equal(w, x));
    report_value("slice_shares", x.index({0}).data_ptr() == x.data_ptr());
  });

  section("refused", [&] {
    report_error("out", [&] { x.index({3}); });
    report_error("out.tensor", [&] { x.index({torch::tensor({0, 3})}); });
    report_error("mask.shape", [&] { x.index({torch::tensor({true, false})}); });
    report_error("mask.inner", [&] { x.index({0, mask}); });
    report_error("many", [&] { x.index({0, 0, 0, 0}); });
    report_error("float", [&] { x.index({ramp({2})}); });
    report_error("broadcast", [&] { x.index({rows, torch::tensor({0, 1})}); });
    report_error("put.shape", [&] { x.clone().index_put_({rows}, ramp({5})); });
    report_error("put.dtype", [&] { x.clone().index_put_({0}, torch::ones({2}, torch::kFloat32)); });
    report_error("put.leaf", [&] {
      Tensor leaf = x.clone().requires_grad_();
      leaf.index_put_({0}, 1.0);
    });
  });
}

const Program program("indexing_gradients", run);

}  // namespace indexing_gradients

// Sorting, selection and uniqueness, with the gradients of the values.
namespace sort_topk {

void run() {
  const Tensor x = ramp({3, 4}, -2, 2);
  grad1("sort", [](const Tensor& t) { return std::get<0>(torch::sort(t)); }, x);
  grad1("sort.down", [](const Tensor& t) { return std::get<0>(t.sort(0, true)); }, x);
  grad1("sort.stable", [](const Tensor& t) { return std::get<0>(torch::sort(t, true, 1, false)); }, x);
  grad1("topk", [](const Tensor& t) { return std::get<0>(torch::topk(t, 2)); }, x);
  grad1("topk.small", [](const Tensor& t) { return std::get<0>(t.topk(2, 0, false)); }, x);
  grad1("kthvalue", [](const Tensor& t) { return std::get<0>(t.kthvalue(3)); }, x);
  grad1("kthvalue.keep", [](const Tensor& t) { return std::get<0>(t.kthvalue(1, 0, true)); }, x);
  grad1("median.even", [](const Tensor& t) { return std::get<0>(t.median(1, true)); }, x);
  grad1("msort", [](const Tensor& t) { return torch::msort(t); }, x);

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
