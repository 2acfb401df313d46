// index({...}), index_put_({...}), operator[] and assignment through them.
#include "fidelity.h"

namespace tensor_indexing {

using namespace torch::indexing;

void run() {
  const Tensor x = ramp({3, 4, 2});
  const Tensor rows = torch::tensor({2, 0}), columns = torch::tensor({1, 3});
  const Tensor mask = torch::tensor({true, false, true});
  section("basic", [&] {
    report("int", x.index({1}));
    report("int.int", x.index({1, 2}));
    report("int.all", x.index({1, 2, 1}));
    report("minus", x.index({-1, -2}));
    report("slice", x.index({Slice()}));
    report("slice.from", x.index({Slice(1)}));
    report("slice.to", x.index({Slice(None, 2)}));
    report("slice.step", x.index({Slice(None, None, 2)}));
    report("slice.from_to_step", x.index({Slice(), Slice(1, 4, 2)}));
    report("slice.minus", x.index({Slice(), Slice(-2, None)}));
    report("slice.minus2", x.index({Slice(), Slice(1, -1)}));
    report("slice.empty", x.index({Slice(2, 1)}));
    report("slice.beyond", x.index({Slice(0, 100)}));
    report("ellipsis", x.index({"...", 0}));
    report("ellipsis.type", x.index({Ellipsis, 1}));
    report("ellipsis.middle", x.index({0, "...", 1}));
    report("none", x.index({None}));
    report("none.middle", x.index({Slice(), None, 1}));
    report("none.end", x.index({"...", None}));
    report("true", x.index({true}));
    report("false", x.index({false}));
    report("mixed", x.index({Slice(1, None), "...", Slice(0, 1), None}));
    report("operator", x[1]);
    report("operator.two", x[1][2]);
    report("operator.minus", x[-1][-1][0]);
    report("operator.tensor", x[torch::tensor(1)]);
    report_value("view", x.index({1, Slice(1)}).data_ptr() == x[1][1].data_ptr());
  });

  section("advanced", [&] {
    report("tensor", x.index({rows}));
    report("tensor.second", x.index({Slice(), columns}));
    report("tensors", x.index({rows, columns}));
    report("tensors.apart", x.index({rows, Slice(), torch::tensor({1, 0})}));
    report("tensors.broadcast", x.index({rows.unsqueeze(1), columns}));
    report("tensor.int", x.index({rows, 1}));
    report("int.tensor", x.index({1, columns}));
    report("slice.tensor", x.index({Slice(1), columns}));
    report("tensor.2d", x.index({torch::tensor({{0, 1}, {2, 2}})}));
    report("tensor.minus", x.index({torch::tensor({-1, -3})}));
    report("tensor.none", x.index({None, rows}));
    report("tensor.ellipsis", x.index({"...", torch::tensor({1, 1, 0})}));
    report("mask", x.index({mask}));
    report("mask.second", x.index({Slice(), torch::tensor({true, false, false, true})}));
    report("mask.2d", x.index({x.select(2, 0) > 0}));
    report("mask.full", x.index({x > 0.5}));
    report("mask.tensor", x.index({mask, columns}));
    report("mask.none", x.index({x > 5}));
    report("empty", x.index({torch::zeros({0}, torch::kLong)}));
    report("u8", x.index({torch::tensor({1, 0, 1}, torch::kUInt8)}));
    report("i32.mask", x.index({torch::tensor({true, true, false}), Slice(), 0}));
  });

  section("gradients", [&] {
    grad1("d.slice", [](const Tensor& t) { return t.index({Slice(None, None, 2), 1}); }, x);
    grad1("d.tensor", [&](const Tensor& t) { return t.index({torch::tensor({2, 2, 0})}); }, x);
    grad1("d.tensors", [&](const Tensor& t) { return t.index({rows, columns}); }, x);
    grad1("d.mask", [&](const Tensor& t) { return t.index({t > 0}); }, x);
    grad1("d.none", [&](const Tensor& t) { return t.index({None, "...", 0}); }, x);
    grad1("d.apart", [&](const Tensor& t) { return t.index({rows, Slice(), torch::tensor({1, 0})}); }, x);
    grad1("d.operator", [&](const Tensor& t) { return t[1][0] * t[2][1]; }, x);
  });

  section("put", [&] {
    Tensor y = x.clone();
    y.index_put_({1, 2}, 5.0);
    report("put.scalar", y);
    y.index_put_({Slice(), 0}, ramp({2}, 7, 8));
    report("put.slice", y);
    y.index_put_({rows}, -1);
    report("put.tensor", y);
    y.index_put_({mask, columns}, ramp({2, 2}, 3, 4));
    report("put.mask", y);
    y.index_put_({y < 0}, 0);
    report("put.full_mask", y);
    y.index_put_({"...", 1}, torch::tensor(2.5, torch::kFloat64));
    report("put.ellipsis", y);
    y.index_put_({torch::tensor({0, 0, 1})}, ramp({3, 4, 2}), true);
    report("put.accumulate", y);
    y.index_put_({Slice(1, 3), Slice(None, None, 3), 0}, ramp({2, 2}));
    report("put.strided", y);
    y.index_put_({Slice()}, 1);
    report("put.all", y);
    y[0] = 3;
    y[1][2] = 4.5;
    y[2] = ramp({4, 2});
    report("assign.operator", y);
    y.index({0, Slice(1, 3)}) = 9;
    y.index({2}).copy_(torch::zeros({4, 2}, torch::kFloat64));
    report("assign.index", y);
    y.index({1, 1}).fill_(6);
    report("assign.fill", y);
    Tensor i = torch::zeros({3}, torch::kLong);
    i.index_put_({torch::tensor({0, 2})}, torch::tensor({4, 5}));
    report("put.int", i);
    Tensor c = torch::index_put(x, {rows}, torch::tensor(8.0, torch::kFloat64));
    report("index_put", c);
  });

  section("put_gradients", [&] {
    grads("pd.tensor",
          [&](const Tensors& t) {
            Tensor y = t[0] * 1;
            y.index_put_({rows}, t[1]);
            return y;
          },
          {x, ramp({4, 2})});
    grads("pd.slice",
          [&](const Tensors& t) {
            Tensor y = t[0] * t[0];
            y.index_put_({Slice(1), 0}, t[1]);
            return y;
          },
          {x, ramp({2})});
    grads("pd.mask",
          [&](const Tensors& t) {
            Tensor y = t[0] * t[0];
            y.index_put_({t[0] > 0}, t[1]);
            return y;
          },
          {x, ramp({})});
    grads("pd.accumulate",
          [&](const Tensors& t) { return t[0].index_put({torch::tensor({0, 0})}, t[1] * t[1], true); },
          {x, ramp({4, 2})});
    grads("pd.row",
          [&](const Tensors& t) {
            Tensor y = torch::zeros({3, 2}, torch::kFloat64);
            y[1] = t[0] * t[0];
            y[2][0] = t[0][1];
            return y;
          },
          {ramp({2})});
  });

  section("refused", [&] {
    report_error("range", [&] { x.index({3}); });
    report_error("many", [&] { x.index({0, 0, 0, 0}); });
    report_error("tensor.range", [&] { x.index({torch::tensor({3})}); });
    report_error("mask.shape", [&] { x.index({torch::tensor({true, false})}); });
    report_error("float", [&] { x.index({torch::tensor({1.0})}); });
    report_error("broadcast", [&] { x.index({torch::tensor({0, 1}), torch::tensor({0, 1, 2})}); });
    report_error("two_ellipsis", [&] { x.index({"...", 0, 0, 0, 0, "..."}); });
    report_error("step", [&] { x.index({Slice(None, None, -1)}); });
    report_error("step.zero", [&] { x.index({Slice(None, None, 0)}); });
    report_error("scalar", [&] { torch::tensor(1.0)[0]; });
    report_error("put.shape", [&] { x.clone().index_put_({rows}, ramp({3, 4, 2})); });
    report_error("put.dtype", [&] { x.clone().index_put_({rows}, torch::ones({4, 2}, torch::kLong)); });
    report_error("leaf", [&] {
      Tensor leaf = x.clone().requires_grad_();
      leaf.index_put_({0}, 1.0);
    });
  });
}

const Program program("tensor_indexing", run);

}  // namespace tensor_indexing
