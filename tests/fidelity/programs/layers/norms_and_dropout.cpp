// Normalization layers and dropout.
#include "fidelity.h"

// Normalization: batch, layer, group, instance, and their running statistics.
namespace norms {

namespace F = torch::nn::functional;

void run() {
  const Tensor x = ramp({3, 4, 2}, -2, 3), image = ramp({2, 4, 2, 3}, -1, 3), w = ramp({4}, 0.5, 1.5),
               b = ramp({4});
  const Tensor mean = ramp({4}, -0.5, 0.5, 0.9), var = ramp({4}, 0.5, 2, 0.4);

  grads("batch_norm.train",
        [&](const Tensors& t) { return torch::batch_norm(t[0], t[1], t[2], {}, {}, true, 0.1, 1e-5, false); },
        {x, w, b});
  grads("batch_norm.eval",
        [&](const Tensors& t) {
          return torch::batch_norm(t[0], t[1], t[2], mean, var, false, 0.1, 1e-5, false);
        },
        {x, w, b});
  grads("F.batch_norm",
        [&](const Tensors& t) {
          Tensor m = mean.clone(), v = var.clone();
          const Tensor y = F::batch_norm(
              t[0], m, v,
              F::BatchNormFuncOptions().weight(t[1]).bias(t[2]).training(true).momentum(0.3).eps(1e-3));
          report("F.batch_norm.mean", m);
          report("F.batch_norm.var", v);
          return y;
        },
        {image, w, b});
  grads("F.batch_norm.plain", [&](const Tensors& t) { return F::batch_norm(t[0], mean, var); }, {image});
  grads("layer_norm", [](const Tensors& t) { return torch::layer_norm(t[0], {2}, {}, {}); }, {x});
  grads("layer_norm.affine",
        [](const Tensors& t) { return torch::layer_norm(t[0], {4, 2}, t[1], t[2], 1e-3); },
        {x, ramp({4, 2}, 0.5, 1.5), ramp({4, 2})});
  grads("F.layer_norm",
        [](const Tensors& t) {
          return F::layer_norm(t[0], F::LayerNormFuncOptions({4, 2}).weight(t[1]).bias(t[2]).eps(2e-5));
        },
        {x, ramp({4, 2}, 0.5, 1.5), ramp({4, 2})});
  grads("group_norm", [](const Tensors& t) { return torch::group_norm(t[0], 2, t[1], t[2]); }, {image, w, b});
  grads("group_norm.plain", [](const Tensors& t) { return torch::group_norm(t[0], 4); }, {image});
  grads("F.group_norm",
        [](const Tensors& t) { return F::group_norm(t[0], F::GroupNormFuncOptions(2).weight(t[1])); },
        {image, w});
  grads(
      "instance_norm",
      [](const Tensors& t) { return torch::instance_norm(t[0], t[1], t[2], {}, {}, true, 0.1, 1e-5, false); },
      {image, w, b});
  grads("F.instance_norm",
        [](const Tensors& t) { return F::instance_norm(t[0], F::InstanceNormFuncOptions().eps(1e-3)); },
        {image});
  grads("normalize", [](const Tensors& t) { return F::normalize(t[0]); }, {x});
  grads("normalize.p",
        [](const Tensors& t) { return F::normalize(t[0], F::NormalizeFuncOptions().p(1).dim(-1)); }, {x});
  grads(
      "normalize.zero", [](const Tensors& t) { return F::normalize(t[0], F::NormalizeFuncOptions().dim(0)); },
      {torch::zeros({3}, torch::kFloat64)}, 1);
  grads("cosine_similarity", [](const Tensors& t) { return torch::cosine_similarity(t[0], t[1]); },
        {x, ramp({3, 4, 2}, 0, 1, 2.0)});
  grads("F.cosine_similarity",
        [](const Tensors& t) {
          return F::cosine_similarity(t[0], t[1], F::CosineSimilarityFuncOptions().dim(-1).eps(1e-3));
        },
        {x, ramp({3, 4, 2}, 0, 1, 2.0)});
  grads(
      "pairwise_distance",
      [](const Tensors& t) {
        return F::pairwise_distance(t[0], t[1], F::PairwiseDistanceFuncOptions().p(1).keepdim(true));
      },
      {ramp({3, 4}), ramp({3, 4}, 0, 1, 2.0)}, 1);
  grads("local_response_norm",
        [](const Tensors& t) { return F::local_response_norm(t[0], F::LocalResponseNormFuncOptions(2)); },
        {image});

  section("BatchNorm2d", [&] {
    torch::nn::BatchNorm2d norm(torch::nn::BatchNorm2dOptions(4));
    norm->to(torch::kFloat64);
    report("bn.first", norm(image));
    report("bn.second", norm(image * 2 + 1));
    report("bn.mean", norm->running_mean);
    report("bn.var", norm->running_var);
    report("bn.count", norm->num_batches_tracked);
    norm->eval();
    report("bn.eval", norm(image));
    norm->reset_running_stats();
    report("bn.reset", norm->running_var);
    torch::nn::BatchNorm1d cumulative(torch::nn::BatchNorm1dOptions(4).momentum(torch::nullopt));
    cumulative->to(torch::kFloat64);
    cumulative(x);
    cumulative(x + 1);
    report("bn.cumulative", cumulative->running_mean);
    torch::nn::BatchNorm1d bare(torch::nn::BatchNorm1dOptions(4).affine(false).track_running_stats(false));
    report("bn.bare", bare(x));
    bare->eval();
    report("bn.bare_eval", bare(x));
    report("bn.2d", torch::nn::BatchNorm1d(4)->forward(ramp({3, 4}).to(torch::kFloat32)));
    report_error("bn.one", [&] { torch::nn::BatchNorm1d(4)->forward(torch::ones({1, 4})); });
    report_error("bn.dims", [&] { torch::nn::BatchNorm2d(4)->forward(torch::ones({2, 4})); });
    report_error("bn.channels", [&] { torch::nn::BatchNorm2d(3)->forward(torch::ones({2, 4, 2, 2})); });
  });
  section("other_modules", [&] {
    namespace nn = torch::nn;
    nn::LayerNorm layer(nn::LayerNormOptions({4, 2}).eps(1e-4));
    layer->to(torch::kFloat64);
    report("LayerNorm", layer(x));
    nn::LayerNorm plain(nn::LayerNormOptions({2}).elementwise_affine(false));
    report("LayerNorm.plain", plain(x));
    nn::GroupNorm group(nn::GroupNormOptions(2, 4));
    group->to(torch::kFloat64);
    report("GroupNorm", group(image));
    nn::InstanceNorm2d instance(nn::InstanceNorm2dOptions(4).affine(true).track_running_stats(true));
    instance->to(torch::kFloat64);
    report("InstanceNorm2d", instance(image));
    report("InstanceNorm2d.mean", instance->running_mean);
    instance->eval();
    report("InstanceNorm2d.eval", instance(image));
    nn::CosineSimilarity cosine(nn::CosineSimilarityOptions().dim(1));
    report("CosineSimilarity", cosine(x, x + 1));
    nn::PairwiseDistance distance(nn::PairwiseDistanceOptions().p(2));
    report("PairwiseDistance", distance(ramp({3, 4}), ramp({3, 4}, 0, 2)));
    report_error("layer.shape", [&] { torch::layer_norm(x, {3}); });
    report_error("group.count", [&] { torch::group_norm(image, 3); });
    report_error("group.zero", [&] {
      nn::GroupNorm(nn::GroupNormOptions(3, 4));
      torch::group_norm(image, 0);
    });
    report_error("instance.one", [&] {
      torch::instance_norm(ramp({2, 4, 1}), {}, {}, {}, {}, true, 0.1, 1e-5, false);
      F::instance_norm(ramp({2, 4, 1}));
    });
  });
}

const Program program("norms", run);

}  // namespace norms

// Dropout masks and default initialization after manual_seed.
namespace dropout_rng {

namespace nn = torch::nn;
namespace F = torch::nn::functional;

void run() {
  section("dropout", [] {
    torch::manual_seed(0);
    report("dropout", torch::dropout(torch::ones({10}), 0.5, true));
    report("dropout.f64", torch::dropout(ramp({8}, 1, 2), 0.3, true));
    report("dropout.eval", torch::dropout(ramp({4}), 0.5, false));
    report("dropout.p0", torch::dropout(ramp({4}), 0.0, true));
    report("dropout.p1", torch::dropout(ramp({4}), 1.0, true));
    report("F.dropout", F::dropout(torch::ones({8}), F::DropoutFuncOptions().p(0.2)));
    report("F.dropout.eval", F::dropout(ramp({4}), F::DropoutFuncOptions().p(0.2).training(false)));
    report("feature", torch::feature_dropout(torch::ones({2, 3, 2}), 0.5, true));
    report("F.dropout2d", F::dropout2d(torch::ones({2, 4, 2, 2}), F::Dropout2dFuncOptions().p(0.5)));
    report("alpha", torch::alpha_dropout(ramp({6}), 0.4, true));
    Tensor x = ramp({6}, 1, 2).requires_grad_();
    Tensor y = torch::dropout(x, 0.5, true);
    (y * y).sum().backward();
    report("dropout.y", y);
    report("dropout.grad", x.grad());
    torch::manual_seed(5);
    Tensor z = torch::ones({6});
    torch::dropout_(z, 0.5, true);
    report("dropout_", z);
    nn::Dropout module(0.25);
    torch::manual_seed(9);
    report("Dropout", module(torch::ones({8})));
    module->eval();
    report("Dropout.eval", module(torch::ones({3})));
    nn::Dropout2d channels(nn::Dropout2dOptions().p(0.5));
    report("Dropout2d", channels(torch::ones({1, 6, 2, 2})));
    report_error("p.big", [] { torch::dropout(torch::ones({2}), 1.5, true); });
    report_error("p.negative", [] { torch::dropout(torch::ones({2}), -0.1, true); });
    report_error("Dropout.p", [] { nn::Dropout(2.0); });
  });
  section("modules", [] {
    torch::manual_seed(1);
    nn::Linear linear(5, 3);
    report("Linear.weight", linear->weight);
    report("Linear.bias", linear->bias);
    nn::Conv2d conv(nn::Conv2dOptions(2, 3, 3));
    report("Conv2d.weight", conv->weight);
    report("Conv2d.bias", conv->bias);
    nn::Conv1d conv1(nn::Conv1dOptions(4, 2, 3).groups(2));
    report("Conv1d.weight", conv1->weight);
    nn::Embedding embedding(6, 4);
    report("Embedding.weight", embedding->weight);
    nn::Embedding padded(nn::EmbeddingOptions(5, 3).padding_idx(1));
    report("Embedding.padded", padded->weight);
    nn::Bilinear bilinear(2, 3, 2);
    report("Bilinear.weight", bilinear->weight);
    nn::PReLU prelu;
    report("PReLU.weight", prelu->weight);
    nn::BatchNorm2d norm(3);
    report("BatchNorm2d.weight", norm->weight);
    nn::Linear last(3, 1), first(2, 3);  // compilers evaluate arguments in different orders
    nn::Sequential net(first, nn::ReLU(), last);
    for (const auto& item : net->named_parameters()) report("Sequential." + item.key(), item.value());
    report("Sequential.out", net->forward(torch::ones({1, 2})));
  });
  section("init", [] {
    namespace init = torch::nn::init;
    torch::manual_seed(8);
    Tensor w = torch::empty({4, 5});
    report("uniform_", init::uniform_(w, -1, 1));
    report("normal_", init::normal_(w, 0.5, 2));
    report("constant_", init::constant_(w, 3));
    report("ones_", init::ones_(w));
    report("zeros_", init::zeros_(w));
    report("eye_", init::eye_(w));
    report("xavier_uniform_", init::xavier_uniform_(w));
    report("xavier_uniform_.gain", init::xavier_uniform_(w, 2.0));
    report("xavier_normal_", init::xavier_normal_(w));
    report("kaiming_uniform_", init::kaiming_uniform_(w));
    report("kaiming_uniform_.a", init::kaiming_uniform_(w, std::sqrt(5.0)));
    report("kaiming_normal_", init::kaiming_normal_(w, 0, torch::kFanOut, torch::kReLU));
    Tensor c = torch::empty({3, 2, 3, 3});
    report("kaiming.conv", init::kaiming_normal_(c));
    report("dirac_", init::dirac_(c));
    report("sparse_", init::sparse_(w, 0.4));
    report_value("gain.relu", init::calculate_gain(torch::kReLU));
    report_value("gain.tanh", init::calculate_gain(torch::kTanh));
    report_value("gain.leaky", init::calculate_gain(torch::kLeakyReLU, 0.2));
    report_value("gain.linear", init::calculate_gain(torch::kLinear));
    report_error("xavier.1d", [] { init::xavier_uniform_(torch::empty({3})); });
    report_error("eye.3d", [] { init::eye_(torch::empty({3, 3, 3})); });
    report_value("grad", w.requires_grad());
    nn::Linear linear(2, 2);
    init::constant_(linear->weight, 0.5);
    report("Linear.constant", linear->weight);
    report_value("Linear.grad", linear->weight.requires_grad());
  });
}

const Program program("dropout_rng", run);

}  // namespace dropout_rng
