// Filling, copying, resizing and comparing tensors, and conversions between C++ and tensors.
#include "fidelity.h"

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
