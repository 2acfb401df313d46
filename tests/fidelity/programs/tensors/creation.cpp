// Creation, filling, resizing and conversion of tensors, and random tensors.
#include "fidelity.h"

// Creating tensors: values, dtypes and defaults.
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
      Tensor owned = torch::from_blob(data, {6}, [&released](void*) { ++released; }, torch::kFloat64);
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

// Filling, copying, resizing and comparing tensors, and conversions between C++ and tensors.
namespace fill_resize_convert {

void run() {
  section("fill", [] {
    Tensor x = torch::empty({2, 2}, torch::kFloat64);
    report("fill_", x.fill_(3));
    report("zero_", x.zero_());
    report("fill_.tensor", x.fill_(torch::tensor(2.5)));
    report("copy_", x.copy_(torch::tensor({1, 2})));
    report("ones_like", torch::ones_like(x).mul_(x));
    x[0].fill_(9);
    report("row", x);
    x.t()[0].zero_();
    report("column", x);
    x.diagonal().fill_(7);
    report("diagonal", x);
    x.select(1, 1).add_(1);
    x.narrow(0, 0, 1).mul_(2);
    report("narrow", x);
    torch::Tensor y;
    y = x;
    y.add_(1);
    report("alias", x);
    Tensor z = x.clone();
    z.add_(1);
    report_value("clone", torch::equal(z, x + 1));
    std::swap(y, z);
    report_value("swap", torch::equal(y, x + 1));
    report("expand.copy", torch::arange(3).expand({2, 3}).clone());
  });

  section("resize", [] {
    Tensor x = torch::arange(6);
    x.resize_({2, 2});
    report("resize_", x);
    report_sizes("squeeze_", torch::ones({1, 2, 1}).squeeze_().sizes().vec());
    report_sizes("squeeze_.1", torch::ones({1, 2, 1}).squeeze_(0).sizes().vec());
    report_sizes("unsqueeze_", torch::ones({2}).unsqueeze_(0).sizes().vec());
    report_sizes("t_", torch::ones({2, 3}).t_().sizes().vec());
    report_sizes("transpose_", torch::ones({2, 3, 4}).transpose_(0, 2).sizes().vec());
    report("tril_", torch::ones({3, 3}).tril_());
    report("clamp_", torch::arange(5).clamp_(1, 3));
    report("clamp_min_", torch::arange(5).clamp_min_(2));
    report("detach_", (ramp({2}).requires_grad_() * 2).detach_());
    report("nan_to_num_", torch::tensor({kNan, 1.0}).nan_to_num_(0.0));
  });

  section("conversion", [] {
    std::vector<float> values(12);
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
    Tensor x = torch::from_blob(values.data(), {3, 4}, torch::TensorOptions().dtype(torch::kFloat32));
    report("blob", x);
    x[1][2] = 100;
    report_value("blob.write", values[6]);
    Tensor y = x.to(torch::kFloat64).t().contiguous();
    std::vector<double> back(y.data_ptr<double>(), y.data_ptr<double>() + y.numel());
    report_value("back", back[7]);
    auto access = x.accessor<float, 2>();
    float trace = 0;
    for (int64_t i = 0; i < access.size(0); ++i) trace += access[i][i];
    report_value("trace", trace);
    std::vector<Tensor> rows = x.unbind();
    report("stacked", torch::stack(rows, 1));
    report("from_vector", torch::tensor(back).view({4, 3}).sum(0));
    report("of_bools", torch::tensor(std::vector<int64_t>{1, 0, 1}).to(torch::kBool));
    const double raw[2][2] = {{1, 2}, {3, 4}};
    report("raw", torch::from_blob(const_cast<double*>(&raw[0][0]), {2, 2}, torch::kDouble).clone());
    report_value("double", torch::tensor({1.5}).to(torch::kDouble).item().toDouble());
    report("is", torch::tensor({1, 0}).to(torch::kBool).logical_not());
    report("cpu", x.cpu().sum());
    report("toType", x.toType(torch::kInt).sum());
    report("to.other", torch::tensor({1, 2}).to(x.options()));
    report("to.like", torch::tensor({1, 2}).to(x));
    report("float", torch::tensor({1, 2}).to(torch::kFloat).div(4));
  });

  section("chain", [] {
    Tensor x = ramp({3, 4}).requires_grad_();
    auto y = x.view({2, 6}).t().reshape({3, 4}).mul(2).add(1).sub(0.5).div(3).pow(2).sum({1}).sqrt().mean();
    report("chain", y);
    y.backward();
    report("chain.grad", x.grad());
    auto z = (x.unsqueeze(-1) * x.unsqueeze(-2))
                 .sum({-1, -2})
                 .permute({0})
                 .flip({0})
                 .cumsum(0)
                 .narrow(0, 1, 2)
                 .prod();
    report("outer", z);
    report("outer.grad", torch::autograd::grad({z}, {x})[0]);
    auto w = torch::where(x > 0, x.exp(), x.sin()).max(1, true);
    report("max", std::get<0>(w));
    report("max.at", std::get<1>(w));
    report("mask.sum", (x * (x > 0).to(torch::kFloat64)).sum());
    report("mean.std", torch::cat({x.mean(0, true), x.std(0, true, true)}));
    report("normal", (x - x.mean({0}, true)) / (x.std(0, false, true) + 1e-5));
    report("norms", x.norm(2, 1).add(x.abs().amax(1)));
  });
}

const Program program("fill_resize_convert", run);

}  // namespace fill_resize_convert

// The same seed gives the random numbers of torch.
namespace rng {

void run() {
  const auto f64 = torch::kFloat64;
  section("uniform", [&] {
    torch::manual_seed(0);
    report("rand", torch::rand({5}));
    report("rand.next", torch::rand({2, 2}));
    report("rand.f64", torch::rand({5}, f64));
    report("rand.long", torch::rand({100}));
    torch::manual_seed(42);
    report("rand.42", torch::rand({3}));
    report("uniform_", torch::empty({4}).uniform_(-2, 3));
    report("uniform_.f64", torch::empty({4}, f64).uniform_(-2, 3));
    report("rand.strided", torch::empty({3, 2}).t().uniform_());
    report("rand_like", torch::rand_like(torch::zeros({3}, f64)));
  });
  section("normal", [&] {
    for (int64_t size : {1, 5, 15, 16, 17, 40, 64}) {
      torch::manual_seed(7);
      report("randn." + std::to_string(size), torch::randn({size}));
      report("randn.next." + std::to_string(size), torch::randn({3}));
      torch::manual_seed(7);
      report("randn.f64." + std::to_string(size), torch::randn({size}, f64));
      report("randn.f64.next." + std::to_string(size), torch::randn({3}, f64));
    }
    torch::manual_seed(3);
    report("normal_", torch::empty({4}).normal_(2, 0.5));
    report("normal_.16", torch::empty({20}, f64).normal_(2, 0.5));
    report("normal.floats", torch::normal(1.0, 2.0, {3}));
    report("randn_like", torch::randn_like(torch::zeros({2, 3})));
  });
  section("integers", [&] {
    torch::manual_seed(1);
    report("randint", torch::randint(10, {6}));
    report("randint.low", torch::randint(-5, 5, {6}));
    report("randint.i32", torch::randint(0, 100, {4}, torch::kInt32));
    report("randint.f", torch::randint(0, 100, {4}, torch::kFloat32));
    report("randint.wide", torch::randint(0, int64_t{1} << 40, {4}));
    report("randint_like", torch::randint_like(torch::zeros({4}, torch::kLong), 7));
    report("random_", torch::empty({3}, torch::kLong).random_(0, 50));
    report("randperm", torch::randperm(10));
    report("randperm.i32", torch::randperm(5, torch::kInt32));
    report("randperm.big", torch::randperm(1000));
    report("randperm.none", torch::randperm(0));
  });
  section("bernoulli", [&] {
    torch::manual_seed(2);
    report("bernoulli", torch::bernoulli(ramp({8}, 0, 1)));
    report("bernoulli.f32", torch::bernoulli(ramp({8}, 0, 1).to(torch::kFloat32)));
    report("bernoulli_.p", torch::empty({8}).bernoulli_(0.3));
    report("bernoulli_.f64", torch::empty({8}, f64).bernoulli_(0.3));
    report("bernoulli_.default", torch::empty({8}).bernoulli_());
    report("bernoulli.p", torch::bernoulli(torch::zeros({6}), 0.5));
    report("bernoulli_.tensor", torch::empty({6}).bernoulli_(ramp({6}, 0, 1)));
    report_error("bernoulli.range", [] { torch::bernoulli(torch::full({2}, 1.5)); });
  });
  section("others", [&] {
    torch::manual_seed(4);
    report("exponential_", torch::empty({4}, f64).exponential_(1.5));
    report("log_normal_", torch::empty({4}, f64).log_normal_(0.1, 0.5));
    report("geometric_", torch::empty({4}, f64).geometric_(0.3));
    report("cauchy_", torch::empty({4}, f64).cauchy_(1, 2));
    report("multinomial", torch::multinomial(ramp({5}, 0.1, 1), 3));
    report("multinomial.replace", torch::multinomial(ramp({2, 5}, 0.1, 1), 6, true));
    report("multinomial.f32", torch::multinomial(ramp({2, 5}, 0.1, 1).to(torch::kFloat32), 2));
    report("multinomial.one", torch::multinomial(ramp({2, 5}, 0.1, 1), 1));
    report_error("multinomial.many", [] { torch::multinomial(torch::ones({3}), 4); });
    report_error("multinomial.negative", [] { torch::multinomial(torch::tensor({-1.0, 2.0}), 1); });
    report_error("multinomial.zero", [] { torch::multinomial(torch::zeros({3}), 1); });
    report_error("normal.std", [] { torch::normal(0.0, -1.0, {2}); });
    report_error("uniform.order", [] { torch::empty({2}).uniform_(1, 0); });
    report_error("randint.empty", [] { torch::randint(5, 5, {2}); });
    report_error("randperm.negative", [] { torch::randperm(-1); });
  });
}

const Program program("rng", run);

}  // namespace rng
