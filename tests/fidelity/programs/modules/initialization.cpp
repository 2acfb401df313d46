// nn::init: initialized values, refused arguments, and random values for a seed.
#include "fidelity.h"

namespace initialization {

namespace nn = torch::nn;
namespace init = torch::nn::init;

template <class F>
void draw(const std::string& name, const Shape& shape, F&& f, torch::ScalarType type = torch::kFloat64) {
  section(name, [&] {
    torch::manual_seed(7);
    Tensor t = torch::zeros(shape, type);
    f(t);
    report(name, t);
  });
}

void run() {
  draw("zeros", {2, 3}, [](Tensor t) { init::zeros_(t); });
  draw("ones", {2, 3}, [](Tensor t) { init::ones_(t); });
  draw("constant", {3}, [](Tensor t) { init::constant_(t, -2.5); });
  draw("eye", {2, 3}, [](Tensor t) { init::eye_(t); });
  draw("dirac", {3, 2, 3}, [](Tensor t) { init::dirac_(t); });
  draw("dirac.2d", {2, 2, 3, 3}, [](Tensor t) { init::dirac_(t); });
  draw("uniform", {4, 3}, [](Tensor t) { init::uniform_(t, -2, 3); });
  draw("normal", {4, 5}, [](Tensor t) { init::normal_(t, 1, 2); });
  draw("normal.odd", {3}, [](Tensor t) { init::normal_(t); });
  draw("xavier_uniform", {4, 3}, [](Tensor t) { init::xavier_uniform_(t); });
  draw("xavier_uniform.gain", {2, 3, 3}, [](Tensor t) { init::xavier_uniform_(t, 1.7); });
  draw("xavier_normal", {4, 5}, [](Tensor t) { init::xavier_normal_(t, 0.5); });
  draw("kaiming_uniform", {4, 3}, [](Tensor t) { init::kaiming_uniform_(t); });
  draw("kaiming_uniform.all", {4, 3, 2, 2},
       [](Tensor t) { init::kaiming_uniform_(t, 0.2, torch::kFanOut, torch::kLeakyReLU); });
  draw("kaiming_normal", {4, 5}, [](Tensor t) { init::kaiming_normal_(t, 0, torch::kFanOut, torch::kReLU); });
  draw("kaiming_normal.tanh", {4, 5},
       [](Tensor t) { init::kaiming_normal_(t, 0, torch::kFanIn, torch::kTanh); });
  draw("uniform.f32", {17}, [](Tensor t) { init::uniform_(t); }, torch::kFloat32);
  draw("normal.f32", {17}, [](Tensor t) { init::normal_(t); }, torch::kFloat32);
  draw("normal.f32.few", {5}, [](Tensor t) { init::normal_(t); }, torch::kFloat32);
  draw("xavier.f32", {8, 8}, [](Tensor t) { init::xavier_normal_(t); }, torch::kFloat32);

  section("orthogonal", [] {
    for (const Shape& shape : {Shape{3, 3}, Shape{2, 4}, Shape{4, 2}, Shape{2, 2, 2}}) {
      torch::manual_seed(1);
      Tensor w = torch::empty(shape, torch::kFloat64);
      init::orthogonal_(w, 2.0);
      const Tensor flat = w.reshape({w.size(0), -1});
      // libtorch draws and decomposes in single precision.
      report("orthogonal" + std::to_string(shape.size()) + std::to_string(shape[0]),
             (flat.size(0) <= flat.size(1) ? flat.mm(flat.t()) : flat.t().mm(flat)).to(torch::kFloat32));
      report("orthogonal.values" + std::to_string(shape.size()) + std::to_string(shape[0]),
             w.to(torch::kFloat32));
    }
    torch::manual_seed(2);
    Tensor s = torch::empty({10, 4}, torch::kFloat64);
    init::sparse_(s, 0.3, 0.1);
    report("sparse.zeros", (s == 0).sum(0));
  });

  section("gain", [] {
    report_value("gain.linear", init::calculate_gain(torch::kLinear));
    report_value("gain.conv", init::calculate_gain(torch::kConv2D));
    report_value("gain.sigmoid", init::calculate_gain(torch::kSigmoid));
    report_value("gain.tanh", init::calculate_gain(torch::kTanh));
    report_value("gain.relu", init::calculate_gain(torch::kReLU));
    report_value("gain.leaky", init::calculate_gain(torch::kLeakyReLU, 0.3));
    const auto fans = init::_calculate_fan_in_and_fan_out(torch::zeros({6, 4, 3, 2}));
    report_value("fan.in", static_cast<double>(std::get<0>(fans)));
    report_value("fan.out", static_cast<double>(std::get<1>(fans)));
  });

  section("refused", [] {
    report_error("xavier.1d", [] { init::xavier_uniform_(torch::zeros({3})); });
    report_error("kaiming.1d", [] { init::kaiming_normal_(torch::zeros({3})); });
    report_error("eye.3d", [] { init::eye_(torch::zeros({2, 2, 2})); });
    report_error("dirac.2d", [] { init::dirac_(torch::zeros({2, 2})); });
    report_error("orthogonal.1d", [] { init::orthogonal_(torch::zeros({2})); });
    report_error("sparse.3d", [] { init::sparse_(torch::zeros({2, 2, 2}), 0.5); });
  });

  section("leaves", [] {
    Tensor w = torch::zeros({2, 2}).requires_grad_();
    init::ones_(w);  // leaves that require grad may be initialized
    report("leaf", w);
    report_value("leaf.is_leaf", w.is_leaf());
    Tensor back = init::constant_(w, 3);
    report_value("leaf.same", back.is_same(w));
  });

  section("modules", [] {
    torch::manual_seed(5);
    nn::Linear linear(5, 3);
    report("linear.weight", linear->weight);
    report("linear.bias", linear->bias);
    nn::Conv2d conv(nn::Conv2dOptions(2, 3, 3).groups(1));
    report("conv.weight", conv->weight);
    report("conv.bias", conv->bias);
    nn::ConvTranspose1d transposed(2, 3, 2);
    report("transposed.weight", transposed->weight);
    nn::Embedding embedding(nn::EmbeddingOptions(4, 5).padding_idx(2));
    report("embedding.weight", embedding->weight);
    nn::Bilinear bilinear(2, 3, 4);
    report("bilinear.weight", bilinear->weight);
    nn::PReLU prelu(nn::PReLUOptions().num_parameters(2).init(0.3));
    report("prelu.weight", prelu->weight);
    nn::BatchNorm1d norm(3);
    report("norm.weight", norm->weight);
    torch::manual_seed(9);
    nn::Linear last(4, 2), first(3, 4);  // compilers evaluate arguments in different orders
    nn::Sequential net(first, nn::ReLU(), last);
    report("net", net->forward(torch::ones({2, 3})));
    linear->reset_parameters();
    report("linear.again", linear->weight);
  });
}

const Program program("initialization", run);

}  // namespace initialization
