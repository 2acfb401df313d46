// Every kind of index, read and written, with gradients of both orders.
#include "fidelity.h"

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
    grad1(
        "get." + name, [&](const Tensor& t) { return t.index(c.at).square(); }, x);
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
          [&](const Tensors& t) {
            return (t[0] * 1).index_put_({rows, columns}, t[1], true);
          },
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
        "chained.view",
        [](const Tensor& t) {
          return t.index({Slice(), 1}).index({"...", 0}) * t.sum();
        },
        x);
    grad1(
        "chained.brackets", [](const Tensor& t) { return t[1][2] * t[0][3]; }, x);
    grad1(
        "chained.select_tensor", [&](const Tensor& t) { return t[torch::tensor(2)].exp(); }, x);
    grad1(
        "self_index",
        [](const Tensor& t) { return t.flatten().index({t.flatten().argsort().slice(0, 0, 5)}); }, x);
    grad1(
        "gather_rows", [&](const Tensor& t) { return t.select(2, 0).gather(1, columns.unsqueeze(1)); }, x);
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
