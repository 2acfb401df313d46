// gather, scatter and the index_* family.
#include "fidelity.h"

namespace index_ops {

void run() {
  const Tensor x = ramp({3, 4});
  const Tensor index = torch::tensor({{0, 2, 1}, {1, 1, 0}});
  grad1(
      "gather", [&](const Tensor& t) { return torch::gather(t, 1, index); }, x);
  grad1(
      "gather.0", [&](const Tensor& t) { return t.gather(0, index); }, x);
  grads(
      "scatter", [&](const Tensors& t) { return t[0].scatter(1, index, t[1]); }, {x, ramp({2, 3}, 2, 3)}, 0);
  grads("scatter.distinct",
        [](const Tensors& t) {
          return torch::scatter(t[0], 0, torch::tensor({{0, 2, 1}, {1, 0, 2}}), t[1]);
        },
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
  grad1(
      "index_select", [&](const Tensor& t) { return torch::index_select(t, 0, rows); }, x);
  grad1(
      "index_select.1", [&](const Tensor& t) { return t.index_select(1, rows); }, x);
  grads("index_add", [&](const Tensors& t) { return torch::index_add(t[0], 0, rows, t[1]); },
        {x, ramp({3, 4}, 2, 3)});
  grads("index_add.alpha", [&](const Tensors& t) { return t[0].index_add(1, rows, t[1], 0.5); },
        {x, ramp({3, 3}, 2, 3)});
  grads("index_copy",
        [&](const Tensors& t) {
          return t[0].index_copy(0, torch::tensor({2, 0}), t[1]);
        },
        {x, ramp({2, 4}, 2, 3)});
  grads("index_fill", [&](const Tensors& t) { return t[0].index_fill(1, rows, -7.0); }, {x});
  grads("index_fill.tensor", [&](const Tensors& t) { return torch::index_fill(t[0], 0, rows, t[1]); },
        {x, ramp({})});
  grads("masked_select", [](const Tensors& t) { return torch::masked_select(t[0], t[0] > 0); }, {x});
  grads("masked_select.broadcast",
        [](const Tensors& t) {
          return t[0].masked_select(torch::tensor({true, false, true, true}));
        },
        {x});
  grads("masked_scatter", [](const Tensors& t) { return t[0].masked_scatter(t[0] > 0, t[1]); },
        {x, ramp({12}, 5, 6)});
  grad1(
      "take",
      [](const Tensor& t) {
        return torch::take(t, torch::tensor({{0, 11}, {5, 5}}));
      },
      x);
  grad1(
      "take_along_dim", [](const Tensor& t) { return torch::take_along_dim(t, t.argsort(1, false), 1); }, x);
  grad1(
      "take_along_dim.flat",
      [](const Tensor& t) {
        return torch::take_along_dim(t, torch::tensor({3, 0}));
      },
      x);
  grads("put", [](const Tensors& t) { return t[0].put(torch::tensor({1, 5}), t[1], true); }, {x, ramp({2})});
  grad1(
      "embedding",
      [](const Tensor& t) {
        return torch::embedding(t, torch::tensor({{0, 2}, {2, 2}}));
      },
      x);
  grad1(
      "embedding.padding",
      [](const Tensor& t) {
        return torch::embedding(t, torch::tensor({0, 2, 2, 1}), 2);
      },
      x);
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
