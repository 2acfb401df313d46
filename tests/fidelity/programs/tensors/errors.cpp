// Invalid calls and their errors.
#include "fidelity.h"

// Invalid calls of ops: some are refused, others are accepted.
namespace errors_of_ops {

void run() {
  const Tensor x = ramp({2, 3}), i = torch::tensor({1, 2, 3}), b = torch::tensor({true, false});
  section("shapes", [&] {
    report_error("add", [&] { x + ramp({2, 2}); });
    report_error("mul", [&] { x* ramp({4}); });
    report_error("matmul", [&] { x.matmul(x); });
    report_error("mm.1d", [&] { x.mm(ramp({3})); });
    report_error("cat", [&] { torch::cat({x, ramp({2, 2})}, 0); });
    report_error("stack", [&] { torch::stack({x, x.t()}); });
    report_error("view", [&] { x.view({4, 2}); });
    report_error("reshape", [&] { x.reshape({5, -1}); });
    report_error("reshape.zero", [&] { torch::zeros({0, 2}).reshape({0, -1}); });
    report_error("expand", [&] { x.expand({3, 3}); });
    report_error("expand.fewer", [&] { x.expand({3}); });
    report_error("squeeze", [&] { x.squeeze(2); });
    report_error("unsqueeze", [&] { x.unsqueeze(4); });
    report_error("unsqueeze.minus", [&] { x.unsqueeze(-4); });
    report_error("copy", [&] { x.clone().copy_(ramp({3, 3})); });
    report_error("item", [&] { x.item<double>(); });
    report_error("bool", [&] { x.is_nonzero(); });
    report_error("item.empty", [&] { torch::zeros({0}).item<double>(); });
    report_error("size", [&] { x.size(2); });
    report_error("where", [&] { torch::where(torch::tensor({true, false}), x, x); });
    report_error("softmax", [&] { x.softmax(2); });
    report_error("sum", [&] { x.sum(-3); });
    report_error("max", [&] { x.max(2); });
    report_error("max.empty", [&] { torch::zeros({0}).max(); });
    report_error("argmax.empty", [&] { torch::zeros({0}).argmax(); });
    report_error("transpose", [&] { x.transpose(0, 2); });
    report_error("permute", [&] { x.permute({0, 2}); });
    report_error("flip", [&] { x.flip({2}); });
    report_error("index", [&] { x.index({5}); });
    report_error("index.many", [&] { x.index({0, 0, 0}); });
    report_error("select", [&] { x.select(1, 3); });
    report_error("narrow", [&] { x.narrow(1, 2, 2); });
    report_error("narrow.negative", [&] { x.narrow(1, 0, -1); });
    report_error("chunk", [&] { x.chunk(-1); });
    report_error("split", [&] { x.split(-1); });
    report_error("repeat", [&] { x.repeat({2}); });
    report_error("repeat.negative", [&] { x.repeat({-1, 1}); });
    report_error("diag", [&] { torch::diag(ramp({2, 2, 2})); });
    report_error("tril", [&] { torch::tril(ramp({3})); });
    report_error("meshgrid", [&] { torch::meshgrid({x, x}, "ij"); });
    report_error("roll", [&] { torch::roll(x, {1, 2}, {0}); });
    report_error("rot90", [&] { torch::rot90(x, 1, {0, 0}); });
    report_error("unfold", [&] { x.unfold(1, 4, 1); });
    report_error("unfold.step", [&] { x.unfold(1, 2, 0); });
    report_error("glu", [&] { torch::glu(x, 1); });
    report_error("kron", [&] { torch::dot(x[0], x[0].slice(0, 0, 2)); });
    report_error("cross_entropy", [&] { torch::cross_entropy_loss(x, i); });
    report_error("linear", [&] { torch::linear(x, ramp({4, 2})); });
    report_error("bilinear", [&] { torch::bilinear(x, x, ramp({2, 2, 2})); });
    report_error("embedding", [&] { torch::embedding(x, torch::tensor({-1})); });
    report_error("layer_norm", [&] { torch::layer_norm(x, {2}); });
    report_error("gather", [&] { x.gather(2, i); });
    report_error("scatter", [&] { x.scatter(0, i, 1.0); });
    report_error("take", [&] { x.take(torch::tensor({-7})); });
    report_error("masked_fill", [&] { x.masked_fill(b, 1.0); });
    report_error("zeros", [&] { torch::zeros({2, -3}); });
    report_error("full", [&] { torch::full({-1}, 2.0); });
    report_error("eye", [&] { torch::eye(-1); });
    report_error("from_options", [&] { torch::tensor({{1, 2}, {3, 4, 5}}); });
  });

  section("dtypes", [&] {
    report_error("mean.int", [&] { i.mean(); });
    report_error("softmax.int", [&] { i.softmax(0); });
    report_error("std.int", [&] { torch::std(i); });
    report_error("mm.mixed", [&] { x.mm(ramp({3, 2}).to(torch::kFloat32)); });
    report_error("dot.mixed", [&] { i.dot(ramp({3})); });
    report_error("linear.mixed", [&] { torch::linear(x, torch::ones({2, 3})); });
    report_error("conv.int",
                 [&] { torch::conv1d(torch::ones({1, 1, 4}), torch::ones({1, 1, 2}, torch::kLong)); });
    report_error("index.float", [&] { x.index({ramp({2})}); });
    report_error("gather.float", [&] { x.gather(0, x); });
    report_error("where.float", [&] { torch::where(x, x, x); });
    report_error("bitwise.float", [&] { x.bitwise_and(1); });
    report_error("bool.neg", [&] { -b; });
    report_error("bool.sub", [&] { b - b; });
    report_error("int.requires_grad", [&] { i.clone().set_requires_grad(true); });
    report_error("inplace.float_into_int", [&] { i.clone().add_(0.5); });
    report_error("inplace.div_int", [&] { i.clone().div_(2); });
    report_error("inplace.sqrt_int", [&] { i.clone().sqrt_(); });
    report_error("inplace.double_into_float", [&] { torch::ones({3}).add_(ramp({3})); });
    report_error("accessor.dtype", [&] { x.accessor<float, 2>(); });
    report_error("accessor.dims", [&] { x.accessor<double, 1>(); });
    report_error("data_ptr.dtype", [&] { x.data_ptr<float>(); });
    report_error("normal.int", [&] { i.clone().normal_(); });
    report_error("uniform.int", [&] { i.clone().uniform_(); });
    report_error("randn.int", [&] { torch::randn({2}, torch::kLong); });
    report_error("dropout.int", [&] { torch::dropout(i, 0.5, true); });
    report_error("embedding.float", [&] { torch::embedding(x, x); });
    report_error("one_hot.float", [&] { torch::one_hot(x); });
    report_error("bincount.float", [&] { torch::bincount(ramp({3})); });
    report_error("cross_entropy.float", [&] { torch::cross_entropy_loss(x, torch::tensor({0.0, 1.0})); });
    report_error("floor.bool", [&] { torch::floor(b); });
    report_error("pow.int_negative", [&] { i.pow(-1); });
    report_error("cat.types", [&] { torch::cat({x, i.view({1, 3})}); });
    report_error("lerp.mixed", [&] { torch::lerp(x, x.to(torch::kFloat32), 0.5); });
    report_error("clamp.int", [&] { torch::clamp(i, 0.5, 1.5); });
    report_error("batch_norm.int",
                 [&] { torch::batch_norm(i.view({1, 3}), {}, {}, {}, {}, true, 0.1, 1e-5, false); });
  });

  section("undefined", [&] {
    const Tensor none;
    report_error("undefined.add", [&] { none + 1; });
    report_error("undefined.second", [&] { x + none; });
    report_error("undefined.sum", [&] { none.sum(); });
    report_error("undefined.backward", [&] { none.backward(); });
    report_error("undefined.item", [&] { none.item<double>(); });
    report_value("undefined.defined", none.defined());
    report_value("undefined.numel", static_cast<double>(none.numel()));
    report_error("undefined.module", [&] { torch::nn::Linear(2, 2)->forward(none); });
    torch::nn::Linear empty{nullptr};
    report_value("empty.holder", empty.is_empty());
    report_error("empty.forward", [&] { empty->forward(x); });
  });

  section("values", [&] {
    report_error("arange.nan", [] { torch::arange(0, 5, 0); });
    report_error("dropout.p", [&] { torch::dropout(x, -0.5, true); });
    report_error("norm.dims", [&] { x.norm(2, {5}); });
    report_error("topk", [&] { x.topk(4); });
    report_error("kthvalue", [&] { x.kthvalue(4); });
    report_error("one_hot", [] { torch::one_hot(torch::tensor({3}), 3); });
    report_error("randint", [] { torch::randint(3, 3, {1}); });
    report_error("sgd.lr", [&] { torch::optim::SGD({x}, torch::optim::SGDOptions(-0.1)); });
    report_error("sgd.momentum", [&] { torch::optim::SGD({x}, torch::optim::SGDOptions(0.1).momentum(-1)); });
    report_error("sgd.nesterov",
                 [&] { torch::optim::SGD({x}, torch::optim::SGDOptions(0.1).nesterov(true)); });
    report_error("adam.lr", [&] { torch::optim::Adam({x}, torch::optim::AdamOptions(-1)); });
    report_error("adam.betas",
                 [&] { torch::optim::Adam({x}, torch::optim::AdamOptions().betas({1.0, 0.9})); });
    report_error("adam.eps", [&] { torch::optim::Adam({x}, torch::optim::AdamOptions().eps(-1)); });
    report_error("adamw.decay",
                 [&] { torch::optim::AdamW({x}, torch::optim::AdamWOptions().weight_decay(-1)); });
    report_error("optim.non_leaf", [&] {
      Tensor leaf = ramp({2}).requires_grad_();
      torch::optim::SGD({leaf * 2}, 0.1);
    });
    report_error("load.missing", [] {
      Tensor t;
      torch::load(t, "there_is_no_such_file.pt");
    });
    report_error("clip.norm", [&] { torch::nn::utils::clip_grad_norm_(std::vector<Tensor>{}, 1.0); });
    report_error("groups", [] { torch::nn::Conv2d(torch::nn::Conv2dOptions(3, 4, 3).groups(2)); });
    report_error("embedding.padding",
                 [] { torch::nn::Embedding(torch::nn::EmbeddingOptions(3, 2).padding_idx(5)); });
    report_error("register.twice", [] {
      struct Twice : torch::nn::Module {
        Twice() {
          register_parameter("w", torch::zeros({1}));
          register_parameter("w", torch::zeros({1}));
        }
      };
      Twice twice;
    });
    report_error("register.dot", [] {
      struct Dot : torch::nn::Module {
        Dot() { register_parameter("a.b", torch::zeros({1})); }
      };
      Dot dot;
    });
    report_error("register.empty", [] {
      struct Nameless : torch::nn::Module {
        Nameless() { register_buffer("", torch::zeros({1})); }
      };
      Nameless nameless;
    });
    report_error("clone", [] {
      struct Plain : torch::nn::Module {};
      Plain().clone();
    });
  });
}

const Program program("errors_of_ops", run);

}  // namespace errors_of_ops

// Invalid calls of modules, autograd, indexing and conversion are refused, and the program continues after
// them.
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
    report_error("layer_norm.shape",
                 [] { nn::LayerNorm(nn::LayerNormOptions({4}))->forward(torch::ones({2, 3})); });
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
    // The engine works normally after errors.
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
