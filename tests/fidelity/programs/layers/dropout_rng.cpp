// Dropout masks and default initialisation after manual_seed.
#include "fidelity.h"

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
    nn::Linear last(3, 1), first(2, 3);  // compilers differ in which argument they make first
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
