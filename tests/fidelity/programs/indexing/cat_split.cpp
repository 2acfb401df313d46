// Joining and cutting tensors.
#include "fidelity.h"

namespace cat_split {

// The pieces, joined by weights so that every piece has its own gradient.
template <class F>
void pieces(const std::string& name, F&& cut, const Tensor& input) {
  section(name, [&] {
    Tensor x = input.clone().requires_grad_();
    const std::vector<Tensor> parts = cut(x);
    Tensor total = torch::zeros({}, torch::kFloat64);
    for (size_t i = 0; i < parts.size(); ++i) {
      report(name + "." + std::to_string(i), parts[i]);
      total = total + (parts[i] * parts[i]).sum() * static_cast<double>(i + 1);
    }
    total.backward();
    report(name + ".d", x.grad());
  });
}

void run() {
  const Tensors abc = {ramp({2, 3}), ramp({2, 3}, 1, 2), ramp({2, 3}, -3, -2)};
  grads(
      "cat",
      [](const Tensors& t) {
        return torch::cat({t[0], t[1], t[2]});
      },
      abc);
  grads(
      "cat.1", [](const Tensors& t) { return torch::cat(t, 1); }, abc);
  grads(
      "cat.minus",
      [](const Tensors& t) {
        return torch::cat({t[0], t[0] * t[1]}, -1);
      },
      abc);
  grads(
      "concat", [](const Tensors& t) { return torch::concat(t, 0); }, abc);
  grads(
      "stack", [](const Tensors& t) { return torch::stack(t); }, abc);
  grads(
      "stack.1",
      [](const Tensors& t) {
        return torch::stack({t[0], t[1]}, 1);
      },
      abc);
  grads(
      "stack.minus",
      [](const Tensors& t) {
        return torch::stack({t[0], t[1]}, -1);
      },
      abc);
  grads(
      "hstack", [](const Tensors& t) { return torch::hstack(t); }, abc);
  grads(
      "vstack", [](const Tensors& t) { return torch::vstack(t); }, abc);
  grads(
      "dstack", [](const Tensors& t) { return torch::dstack(t); }, abc);
  grads(
      "hstack.1d",
      [](const Tensors& t) {
        return torch::hstack({t[0][0], t[1][1]});
      },
      abc);
  grads(
      "column_stack",
      [](const Tensors& t) {
        return torch::column_stack({t[0][0], t[1][1]});
      },
      abc);
  grads(
      "cat.sizes",
      [](const Tensors& t) {
        return torch::cat({t[0].slice(0, 0, 1), t[1], t[2].slice(0, 0, 0)});
      },
      abc);

  section("cat.types", [] {
    report("cat.promote", torch::cat({torch::tensor({1, 2}), torch::tensor({0.5f})}));
    report("cat.bool", torch::cat({torch::tensor({true}), torch::tensor({3})}));
    report("cat.empty", torch::cat({torch::zeros({0}), torch::ones({2, 2})}, 1));
    report("stack.scalars", torch::stack({torch::tensor(1.5), torch::tensor(2.5)}));
    report("stack.bool", torch::stack({torch::tensor({true, false}), torch::tensor({false, false})}));
    report_error("cat.none", [] { torch::cat(std::vector<Tensor>{}); });
    report_error("stack.none", [] { torch::stack(std::vector<Tensor>{}); });
    report_error("cat.shape", [] { torch::cat({torch::ones({2, 3}), torch::ones({2, 4})}); });
    report_error("cat.dims", [] { torch::cat({torch::ones({2, 3}), torch::ones({3})}); });
    report_error("cat.scalar", [] { torch::cat({torch::tensor(1.0), torch::tensor(2.0)}); });
    report_error("stack.shape", [] { torch::stack({torch::ones({2}), torch::ones({3})}); });
    report_error("cat.range", [] { torch::cat({torch::ones({2})}, 1); });
  });

  const Tensor x = ramp({5, 4});
  pieces(
      "split", [](const Tensor& t) { return torch::split(t, 2); }, x);
  pieces(
      "split.1", [](const Tensor& t) { return t.split(3, 1); }, x);
  pieces(
      "split.sizes",
      [](const Tensor& t) {
        return t.split_with_sizes({1, 4});
      },
      x);
  pieces(
      "split.list",
      [](const Tensor& t) {
        return t.split({3, 1}, 1);
      },
      x);
  pieces(
      "chunk", [](const Tensor& t) { return torch::chunk(t, 3); }, x);
  pieces(
      "chunk.1", [](const Tensor& t) { return t.chunk(2, 1); }, x);
  pieces(
      "chunk.many", [](const Tensor& t) { return t.chunk(7, 0); }, x);
  pieces(
      "unbind", [](const Tensor& t) { return torch::unbind(t, 1); }, x);
  pieces(
      "unbind.0", [](const Tensor& t) { return t[0].unbind(); }, x);
  pieces(
      "tensor_split", [](const Tensor& t) { return torch::tensor_split(t, 3, 0); }, x);
  pieces(
      "tensor_split.at",
      [](const Tensor& t) {
        return t.tensor_split({1, 3}, 1);
      },
      x);
  pieces(
      "hsplit", [](const Tensor& t) { return torch::hsplit(t, 2); }, x);
  pieces(
      "vsplit",
      [](const Tensor& t) {
        return torch::vsplit(t, {1, 2});
      },
      x);

  section("split.refused", [&] {
    report_error("split.zero", [&] { x.split(0); });
    report_error("split.sum", [&] { x.split_with_sizes({1, 1}); });
    report_error("chunk.zero", [&] { x.chunk(0); });
    report_error("unbind.range", [&] { x.unbind(2); });
    report_error("split.range", [&] { x.split(2, 5); });
  });

  section("unused_piece", [&] {
    Tensor y = x.clone().requires_grad_();
    const auto parts = y.chunk(2, 1);
    (parts[1] * 3).sum().backward();
    report("unused.d", y.grad());
    Tensor z = x.clone();
    z.split(2)[1].zero_();
    z.unbind(1)[0].fill_(9);
    report("pieces_are_views", z);
  });
}

const Program program("cat_split", run);

}  // namespace cat_split
