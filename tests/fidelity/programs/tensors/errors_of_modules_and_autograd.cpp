// Wrong calls of modules, autograd, indexing and conversion are refused, and the program goes on after them.
#include "fidelity.h"

namespace errors_of_modules_and_autograd {

namespace nn = torch::nn;
namespace F = torch::nn::functional;

void run() {
  const Tensor x = ramp({2, 3});
  section("modules", [&] {
    report_error("linear.width", [&] { nn::Linear(4, 2)->forward(x.to(torch::kFloat32)); });
    report_error("linear.dtype", [&] { nn::Linear(3, 2)->forward(x); });
    report_error("conv.channels", [] { nn::Conv2d(2, 3, 3)->forward(torch::ones({1, 1, 5, 5})); });
    report_error("conv.small", [] { nn::Conv2d(1, 1, 5)->forward(torch::ones({1, 1, 3, 3})); });
    report_error("conv.dims", [] { nn::Conv2d(1, 1, 3)->forward(torch::ones({3, 3})); });
    report_error("conv.groups", [] { nn::Conv1d(nn::Conv1dOptions(3, 4, 1).groups(2)); });
    report_error("pool.small", [] { nn::MaxPool2d(4)->forward(torch::ones({1, 1, 3, 3})); });
    report_error("pool.padding", [] { torch::max_pool2d(torch::ones({1, 1, 4, 4}), 2, 2, 2); });
    report_error("batch_norm.single", [] { nn::BatchNorm1d(2)->forward(torch::ones({1, 2})); });
    report_error("batch_norm.dims", [] { nn::BatchNorm2d(2)->forward(torch::ones({2, 2})); });
    report_error("layer_norm.shape", [] {
      nn::LayerNorm(nn::LayerNormOptions({4}))->forward(torch::ones({2, 3}));
    });
    report_error("group_norm.channels", [] { nn::GroupNorm(2, 4)->forward(torch::ones({2, 3, 2})); });
    report_error("embedding.index", [] { nn::Embedding(3, 2)->forward(torch::tensor({3})); });
    report_error("embedding.float", [] { nn::Embedding(3, 2)->forward(torch::ones({2})); });
    report_error("dropout.p", [] { nn::Dropout(1.5); });
    report_error("pixel_shuffle", [] { nn::PixelShuffle(2)->forward(torch::ones({1, 3, 2, 2})); });
    report_error("reflect.wide", [] { nn::ReflectionPad1d(3)->forward(torch::ones({1, 1, 3})); });
    report_error("unflatten", [&] { nn::Unflatten(nn::UnflattenOptions(1, {2, 2}))->forward(x); });
    report_error("prelu",
                 [&] { nn::PReLU(nn::PReLUOptions().num_parameters(2))->forward(x.to(torch::kFloat32)); });
    report_error("sequential.empty", [&] { nn::Sequential()->forward(x); });
    report_error("null.module", [&] {
      nn::Linear none{nullptr};
      none->forward(x);
    });
    report_error("upsample.missing", [&] { nn::Upsample(nn::UpsampleOptions())->forward(x.unsqueeze(0)); });
    report_error("register.again", [] {
      nn::Module module;
      module.register_module("a", nn::Linear(1, 1));
      module.register_module("a", nn::Linear(1, 1));
    });
    report_error("unregister", [] { nn::Module().unregister_module("a"); });
    report_error("replace", [] { nn::Module().replace_module("a", nn::Linear(1, 1)); });
  });

  section("losses", [&] {
    report_error("cross_entropy.shape", [&] { F::cross_entropy(x, torch::tensor({0, 1, 2})); });
    report_error("cross_entropy.index", [&] { F::cross_entropy(x, torch::tensor({0, 3})); });
    report_error("nll.float", [&] { F::nll_loss(x, torch::ones({2})); });
    report_error("bce.range", [&] { F::binary_cross_entropy(x * 5, torch::zeros({2, 3}, torch::kFloat64)); });
    report_error("bce_logits.shape", [&] { F::binary_cross_entropy_with_logits(x, ramp({2, 2})); });
    report_error("mse.shape", [&] { F::mse_loss(x, ramp({2, 2})); });
    report_error("kl.shape", [&] { F::kl_div(x, ramp({5})); });
    report_error("triplet.dims", [&] { torch::cosine_embedding_loss(x, x, torch::ones({3})); });
    report_error("one_hot", [] { F::one_hot(torch::tensor({-1, 2})); });
  });

  section("shapes", [&] {
    report_error("view.size", [&] { x.view({5}); });
    report_error("view.strided", [&] { x.t().view({6}); });
    report_error("view.two_minus", [&] { x.view({-1, -1}); });
    report_error("as_strided", [&] { x.as_strided({4, 4}, {4, 1}); });
    report_error("stack.none", [] { torch::stack(Tensors{}); });
    report_error("cat.none", [] { torch::cat(Tensors{}); });
    report_error("split.sum", [&] { x.split({1, 3}, 1); });
    report_error("expand.minus", [&] { x.expand({-1, 2, 3}); });
    report_error("gather.dim", [&] { x.gather(2, torch::zeros({1, 1}, torch::kLong)); });
    report_error("scatter.dtype", [&] { x.scatter(0, torch::zeros({1, 1}, torch::kShort), 1.0); });
    report_error("index_add.length", [&] { x.index_add(0, torch::tensor({0, 1}), ramp({3, 3})); });
    report_error("masked_select", [&] { x.masked_select(torch::ones({2, 3})); });
    report_error("einsum.letters", [&] { torch::einsum("ij->k", {x}); });
    report_error("einsum.sizes", [&] { torch::einsum("ij,ij", {x, ramp({3, 3})}); });
    report_error("tensordot", [&] { torch::tensordot(x, x, {0, 1}, {0}); });
    report_error("bmm.dims", [&] { x.bmm(x); });
    report_error("kthvalue", [&] { x.kthvalue(0); });
    report_error("quantile", [&] { torch::quantile(x, 1.5); });
    report_error("cumsum.dim", [&] { x.cumsum(2); });
    report_error("linspace", [] { torch::linspace(0, 1, -2); });
    report_error("arange", [] { torch::arange(0, 1, -1); });
    report_error("randperm", [] { torch::randperm(-1); });
    report_error("multinomial", [] { torch::multinomial(torch::tensor({0.5, -0.5}), 1); });
    report_error("multinomial.many", [] { torch::multinomial(torch::tensor({0.5, 0.5}), 3); });
    report_error("bernoulli", [] { torch::bernoulli(torch::full({2}, 1.5)); });
  });

  section("autograd", [&] {
    Tensor w = x.clone().requires_grad_();
    report_error("int.leaf", [] { torch::ones({2}, torch::kLong).requires_grad_(); });
    report_error("non_leaf.off", [&] { (w * 2).requires_grad_(false); });
    report_error("detach_.view", [&] { (w * 1)[0].detach_(); });
    report_error("set_data.dtype", [&] { w.set_data(torch::ones({2}, torch::kLong)); });
    report_error("grad.dtype", [&] {
      w.mutable_grad() = Tensor();
      torch::autograd::grad({w.sum()}, {w}, {torch::ones({})});
    });
    report_error("double_backward.freed", [&] {
      const Tensor y = (w * w).sum();
      y.backward();
      y.backward();
    });
    Tensor z = w.exp();
    z.add_(1);
    report_error("version", [&] { z.sum().backward(); });
    // The engine is as good as new.
    w.mutable_grad() = Tensor();
    (w * 3).sum().backward();
    report("after", w.grad());
    for (int i = 0; i < 3; ++i) {
      try {
        i == 0 ? (void)x.view({7}) : i == 1 ? (void)x[9] : (void)x.mm(x);
      } catch (const std::exception& error) {
        report_value("what" + std::to_string(i), std::string(error.what()).size() > 10);
      }
    }
  });
}

const Program program("errors_of_modules_and_autograd", run);

}  // namespace errors_of_modules_and_autograd
