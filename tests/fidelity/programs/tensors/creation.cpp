// Making tensors: values, dtypes and defaults.
#include "fidelity.h"

namespace creation {

void run() {
  section("tensor", [] {
    report("tensor.doubles", torch::tensor({1.0, 2.0}));
    report("tensor.floats", torch::tensor({1.0f, 2.0f}));
    report("tensor.ints", torch::tensor({1, 2, 3}));
    report("tensor.bools", torch::tensor({true, false}));
    report("tensor.nested", torch::tensor({{1.5, 2.5}, {3.5, 4.5}}));
    report("tensor.deep", torch::tensor({{{1}, {2}}, {{3}, {4}}}));
    report("tensor.scalar", torch::tensor(3.5));
    report("tensor.int", torch::tensor(7));
    report("tensor.bool", torch::tensor(true));
    report("tensor.f64", torch::tensor({1.1, 2.2}, torch::kFloat64));
    report("tensor.i32", torch::tensor({1, 2}, torch::kInt32));
    report("tensor.options", torch::tensor({1, 2}, torch::TensorOptions().dtype(torch::kFloat64)));
    report("tensor.dtype", torch::tensor({1, 2}, torch::dtype(torch::kInt16)));
    report("tensor.vector", torch::tensor(std::vector<double>{0.1, 0.2}));
    report("tensor.vector_f", torch::tensor(std::vector<float>{0.1f, 0.2f}));
    report("tensor.vector_i", torch::tensor(std::vector<int64_t>{4, 5}));
    report("tensor.vector_f64", torch::tensor(std::vector<double>{0.1, 0.2}, torch::kFloat64));
    report("tensor.half", torch::tensor({1.5, 2.25}, torch::kFloat16));
    report("tensor.bf16", torch::tensor({1.5, 2.25}, torch::kBFloat16));
    report_value("tensor.grad", torch::tensor({1.0}, torch::requires_grad()).requires_grad());
    report_value("tensor.grad64",
                 torch::tensor({1.0}, torch::dtype(torch::kFloat64).requires_grad(true)).requires_grad());
    report_error("tensor.ragged", [] { torch::tensor({{1, 2}, {3}}); });
    report_error("tensor.intgrad", [] { torch::tensor({1}, torch::requires_grad()); });
  });

  section("fill", [] {
    report("zeros", torch::zeros({2, 3}));
    report("ones", torch::ones({2}, torch::kInt64));
    report("ones.size1", torch::ones(3));
    report("zeros.scalar", torch::zeros({}));
    report("full", torch::full({2, 2}, 3.5));
    report("full.int", torch::full({2}, 3));
    report("full.bool", torch::full({2}, true));
    report("full.f64", torch::full({2}, 3, torch::kFloat64));
    report_sizes("empty", torch::empty({2, 0, 3}).sizes().vec());
    report("eye", torch::eye(3));
    report("eye.rect", torch::eye(2, 3, torch::kFloat64));
    report("scalar_tensor", torch::scalar_tensor(2.5, torch::kFloat64));
    report_error("negative", [] { torch::zeros({-1}); });
    report_value("grad", torch::zeros({2}, torch::requires_grad()).requires_grad());
    report_error("grad.int", [] { torch::zeros({2}, torch::dtype(torch::kInt32).requires_grad(true)); });
  });

  section("ranges", [] {
    report("arange", torch::arange(5));
    report("arange.from", torch::arange(2, 6));
    report("arange.step", torch::arange(0, 10, 3));
    report("arange.down", torch::arange(5, 0, -2));
    report("arange.float", torch::arange(0.0, 1.0, 0.25));
    report("arange.end", torch::arange(2.5));
    report("arange.f64", torch::arange(0, 1, 0.1, torch::kFloat64));
    report("arange.f32", torch::arange(3, torch::kFloat32));
    report("arange.i32", torch::arange(1, 4, torch::kInt32));
    report("arange.none", torch::arange(3, 3));
    report("range", torch::range(1, 4, 0.5, torch::kFloat64));
    report("linspace", torch::linspace(0, 1, 5));
    report("linspace.f64", torch::linspace(-1, 2, 7, torch::kFloat64));
    report("linspace.one", torch::linspace(3, 9, 1));
    report("linspace.none", torch::linspace(3, 9, 0));
    report("linspace.int", torch::linspace(0, 10, 5, torch::kInt64));
    report("logspace", torch::logspace(0, 3, 4, 10.0, torch::kFloat64));
    report("logspace.2", torch::logspace(-1, 1, 5, 2, torch::kFloat64));
    report_error("arange.wrong", [] { torch::arange(0, 5, -1); });
    report_error("arange.zero", [] { torch::arange(0, 5, 0); });
    report_error("linspace.negative", [] { torch::linspace(0, 1, -1); });
  });

  section("like", [] {
    const Tensor x = ramp({2, 2}).requires_grad_();
    report("zeros_like", torch::zeros_like(x));
    report("ones_like", torch::ones_like(x, torch::kInt32));
    report("full_like", torch::full_like(x, 2.5));
    report_sizes("empty_like",
                 torch::empty_like(x, torch::TensorOptions().dtype(torch::kFloat32)).sizes().vec());
    report("new_zeros", x.new_zeros({3}));
    report("new_ones", x.new_ones({2}, torch::kInt64));
    report("new_full", x.new_full({2}, 1.25));
    report("new_empty", x.new_empty({0}));
    report("new_tensor", torch::tensor({1.0, 2.0}, x.options()));
    report_value("like.grad", torch::zeros_like(x).requires_grad());
    report_value("rand_like", static_cast<double>(torch::rand_like(x).numel()));
    report("one_hot", torch::one_hot(torch::tensor({0, 2, 1})));
    report("one_hot.classes", torch::one_hot(torch::tensor({{0}, {2}}), 4));
    report_error("one_hot.few", [] { torch::one_hot(torch::tensor({0, 2}), 2); });
    report_error("one_hot.negative", [] { torch::one_hot(torch::tensor({-1})); });
    report_error("one_hot.float", [] { torch::one_hot(torch::tensor({1.0})); });
  });

  section("blob", [] {
    double data[] = {1, 2, 3, 4, 5, 6};
    Tensor view = torch::from_blob(data, {2, 3}, torch::kFloat64);
    view.mul_(2);
    report_value("from_blob.shares", data[5]);
    report("from_blob", view);
    report("from_blob.strides", torch::from_blob(data, {3, 2}, {1, 3}, torch::kFloat64));
    int released = 0;
    {
      Tensor owned = torch::from_blob(
          data, {6}, [&released](void*) { ++released; }, torch::kFloat64);
      Tensor part = owned.slice(0, 0, 2);
      owned = Tensor();
      report_value("deleter.early", released);
    }
    report_value("deleter.late", released);
    std::vector<float> values = {1, 2, 3};
    const Tensor copy = torch::from_blob(values.data(), {3}).clone();
    values[0] = 9;
    report("from_blob.clone", copy);
  });

  section("convert", [] {
    const Tensor x = torch::tensor({-1.7, 0.0, 2.9}, torch::kFloat64);
    report("to.i64", x.to(torch::kInt64));
    report("to.bool", x.to(torch::kBool));
    report("to.f16", x.to(torch::kHalf));
    report("to.bf16", x.to(torch::kBFloat16));
    report("to.options", x.to(torch::TensorOptions().dtype(torch::kFloat32)));
    report("to.device", x.to(torch::kCPU));
    report("to.both", x.to(torch::Device(torch::kCPU), torch::kFloat32));
    report("toType", x.toType(torch::kInt32));
    report("i8", torch::tensor({300, -1}).to(torch::kInt8));
    report("u8", torch::tensor({300, -1}).to(torch::kUInt8));
    report("long", x.abs().to(torch::kLong));
    report_value("same", x.to(torch::kFloat64).data_ptr() == x.data_ptr());
    report_value("copy", x.to(torch::kFloat64, false, true).data_ptr() == x.data_ptr());
    Tensor g = x.clone().requires_grad_();
    g.to(torch::kFloat32).mul(2).to(torch::kFloat64).sum().backward();
    report("to.grad", g.grad());
  });
}

const Program program("creation", run);

}  // namespace creation
