// Training loops of small networks, in single and double precision.
#include "fidelity.h"

#include <memory>

// Complete training runs: the losses must be those of libtorch.
namespace training_loops {

namespace nn = torch::nn;
namespace F = torch::nn::functional;

struct Regressor : nn::Module {
  Regressor() {
    fc1 = register_module("fc1", nn::Linear(2, 16));
    fc2 = register_module("fc2", nn::Linear(16, 16));
    out = register_module("out", nn::Linear(16, 1));
  }
  Tensor forward(Tensor x) {
    x = torch::tanh(fc1->forward(x));
    x = torch::relu(fc2->forward(x));
    return out->forward(x);
  }
  nn::Linear fc1{nullptr}, fc2{nullptr}, out{nullptr};
};

struct ConvNetImpl : nn::Module {
  ConvNetImpl()
      : conv1(nn::Conv2dOptions(1, 4, 3).padding(1).bias(
            false)),  // the gradient of a bias before a norm is only rounding noise
        norm(4),
        conv2(nn::Conv2dOptions(4, 8, 3)),
        fc(8 * 4, 3) {
    register_module("conv1", conv1);
    register_module("norm", norm);
    register_module("conv2", conv2);
    register_module("fc", fc);
  }
  Tensor forward(Tensor x) {
    x = torch::max_pool2d(torch::relu(norm(conv1(x))), 2);
    x = F::relu(conv2(x));
    x = x.view({x.size(0), -1});
    return torch::log_softmax(fc(x), 1);
  }
  nn::Conv2d conv1;
  nn::BatchNorm2d norm;
  nn::Conv2d conv2;
  nn::Linear fc;
};
TORCH_MODULE(ConvNet);

// Deterministic images with a bright row whose position is the class.
struct Stripes : torch::data::Dataset<Stripes> {
  torch::data::Example<> get(size_t index) override {
    const int64_t label = static_cast<int64_t>(index) % 3;
    Tensor image = ramp({1, 8, 8}, -0.3, 0.3, 0.1 * static_cast<double>(index)).to(torch::kFloat32);
    image[0][label * 2 + 1] += 1.0;
    return {image, torch::tensor(label)};
  }
  torch::optional<size_t> size() const override { return 24; }
};

void fill(nn::Module& module) {
  torch::NoGradGuard guard;
  double phase = 0;
  for (auto& p : module.parameters())
    if (p.dim() > 1) p.copy_(ramp(p.sizes().vec(), -0.4, 0.4, phase += 0.37));
}

void run() {
  section("regression", [] {
    auto net = std::make_shared<Regressor>();
    net->to(torch::kFloat64);
    fill(*net);
    {
      torch::NoGradGuard guard;
      for (auto& p : net->parameters())
        if (p.dim() == 1) p.zero_();
    }
    torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.05).momentum(0.9));
    const Tensor x = ramp({32, 2}, -2, 2), y = (x.select(1, 0).sin() + x.select(1, 1) * 0.5).unsqueeze(1);
    for (int epoch = 0; epoch < 30; ++epoch) {
      optimizer.zero_grad();
      Tensor loss = F::mse_loss(net->forward(x), y);
      loss.backward();
      optimizer.step();
      if (epoch % 10 == 0 || epoch == 29) report("regression.loss" + std::to_string(epoch), loss);
    }
    report("regression.weight", net->fc1->weight);
    net->eval();
    torch::NoGradGuard guard;
    report("regression.prediction", net->forward(ramp({3, 2})));
  });

  section("classification", [] {
    torch::manual_seed(0);
    ConvNet net;
    for (auto& p : net->parameters()) {
      torch::NoGradGuard guard;
      if (p.dim() == 1) p.fill_(p.size(0) == 4 ? 0.5 : 0.1);
    }
    fill(*net);
    auto dataset =
        Stripes().map(torch::data::transforms::Normalize<>(0.1, 0.5)).map(torch::data::transforms::Stack<>());
    auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(
        std::move(dataset), torch::data::DataLoaderOptions().batch_size(8));
    torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(0.01));
    int64_t correct = 0;
    for (int epoch = 0; epoch < 4; ++epoch) {
      net->train();
      correct = 0;
      double total = 0;
      for (auto& batch : *loader) {
        optimizer.zero_grad();
        Tensor output = net->forward(batch.data);
        Tensor loss = torch::nll_loss(output, batch.target);
        loss.backward();
        optimizer.step();
        total += loss.item<float>();
        correct += output.argmax(1).eq(batch.target).sum().item<int64_t>();
      }
      report("classification.loss" + std::to_string(epoch), torch::tensor(static_cast<float>(total)));
    }
    report_value("classification.correct", static_cast<double>(correct));
    report("classification.running", net->norm->running_mean);
    report("classification.batches", net->norm->num_batches_tracked);
  });

  section("logistic", [] {
    Tensor w = torch::zeros({2, 1}, torch::kFloat64).requires_grad_(),
           b = torch::zeros({1}, torch::dtype(torch::kFloat64).requires_grad(true));
    const Tensor x = ramp({20, 2}, -2, 2), y = (x.sum(1, true) > 0.3).to(torch::kFloat64);
    for (int step = 0; step < 50; ++step) {
      Tensor loss = torch::binary_cross_entropy_with_logits(torch::addmm(b, x, w), y);
      loss.backward();
      torch::NoGradGuard guard;
      for (Tensor* p : {&w, &b}) {
        p->sub_(0.5 * p->grad());
        p->mutable_grad().zero_();
      }
    }
    report("logistic.w", w);
    report("logistic.b", b);
    report_value("logistic.accuracy",
                 (torch::sigmoid(x.mm(w) + b).round() == y).to(torch::kFloat64).mean().item<double>());
  });

  section("recurrent", [] {
    // A handwritten recurrence: gradients through time, clipped.
    Tensor wh = ramp({4, 4}, -0.5, 0.5).requires_grad_(), wx = ramp({3, 4}, -0.5, 0.5, 0.9).requires_grad_();
    Tensor out = ramp({4, 1}).requires_grad_();
    torch::optim::AdamW optimizer({wh, wx, out}, torch::optim::AdamWOptions(0.02));
    const Tensor series = ramp({6, 2, 3}), target = ramp({2, 1});
    for (int step = 0; step < 8; ++step) {
      Tensor h = torch::zeros({2, 4}, torch::kFloat64);
      for (const Tensor& x : series.unbind(0)) h = torch::tanh(h.mm(wh) + x.mm(wx));
      Tensor loss = torch::smooth_l1_loss(h.mm(out), target);
      optimizer.zero_grad();
      loss.backward();
      nn::utils::clip_grad_norm_(std::vector<Tensor>{wh, wx, out}, 0.25);
      optimizer.step();
      if (step % 7 == 0) report("recurrent.loss" + std::to_string(step), loss);
    }
    report("recurrent.wh", wh);
  });

  section("autoencoder", [] {
    nn::Sequential encoder(nn::Linear(6, 3), nn::Sigmoid()), decoder(nn::Linear(3, 6));
    for (auto* module : {&encoder, &decoder}) {
      (*module)->to(torch::kFloat64);
      fill(**module);
      for (auto& p : (*module)->parameters())
        if (p.dim() == 1) nn::init::zeros_(p);
    }
    std::vector<Tensor> parameters = encoder->parameters();
    for (const auto& p : decoder->parameters()) parameters.push_back(p);
    torch::optim::Adam optimizer(parameters, torch::optim::AdamOptions(0.05).weight_decay(1e-3));
    const Tensor x = ramp({10, 6});
    Tensor loss;
    for (int step = 0; step < 20; ++step) {
      loss = (decoder->forward(encoder->forward(x)) - x).pow(2).sum(1).mean();
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
    }
    report("autoencoder.loss", loss);
    report("autoencoder.code", encoder->forward(x).slice(0, 0, 2));
  });
}

const Program program("training_loops", run);

}  // namespace training_loops

// Training in double precision, in which rounding hides no error: every loss must agree.
namespace training_double {

namespace nn = torch::nn;
namespace F = torch::nn::functional;

void fill(nn::Module& module, double scale = 0.5) {
  torch::NoGradGuard guard;
  double phase = 0;
  for (auto& p : module.parameters()) p.copy_(ramp(p.sizes().vec(), -scale, scale, phase += 0.37));
}

// A residual block with normalization and dropout.
struct BlockImpl : nn::Module {
  BlockImpl(int64_t in, int64_t out)
      : conv1(nn::Conv2dOptions(in, out, 3).padding(1).bias(false)),
        conv2(nn::Conv2dOptions(out, out, 3).padding(1).bias(false)),
        norm1(out),
        norm2(out),
        shortcut(nn::Conv2dOptions(in, out, 1)) {
    register_module("conv1", conv1);
    register_module("conv2", conv2);
    register_module("norm1", norm1);
    register_module("norm2", norm2);
    register_module("shortcut", shortcut);
  }
  Tensor forward(const Tensor& x) {
    return torch::relu(shortcut(x) + norm2(conv2(torch::gelu(norm1(conv1(x))))));
  }
  nn::Conv2d conv1, conv2;
  nn::BatchNorm2d norm1, norm2;
  nn::Conv2d shortcut;
};
TORCH_MODULE(Block);

struct VisionImpl : nn::Module {
  VisionImpl() : block1(1, 3), block2(3, 4), head(4, 3) {
    register_module("block1", block1);
    register_module("block2", block2);
    register_module("head", head);
  }
  Tensor forward(Tensor x) {
    x = F::max_pool2d(block1(x), F::MaxPool2dFuncOptions(2));
    x = F::adaptive_avg_pool2d(block2(x), F::AdaptiveAvgPool2dFuncOptions(1));
    return head(x.flatten(1));
  }
  Block block1, block2;
  nn::Linear head;
};
TORCH_MODULE(Vision);

// Self-attention over a short sequence, with embeddings and a layer norm.
struct WriterImpl : nn::Module {
  WriterImpl()
      : embed(7, 6),
        places(5, 6),
        qkv(nn::LinearOptions(6, 18).bias(false)),
        norm(nn::LayerNormOptions({6})),
        out(6, 7) {
    register_module("embed", embed);
    register_module("places", places);
    register_module("qkv", qkv);
    register_module("norm", norm);
    register_module("out", out);
  }
  Tensor forward(const Tensor& tokens) {
    const int64_t n = tokens.size(1);
    Tensor x = embed(tokens) + places(torch::arange(n)).unsqueeze(0);
    const auto parts = qkv(norm(x)).reshape({tokens.size(0), n, 3, 2, 3}).permute({2, 0, 3, 1, 4}).unbind(0);
    Tensor scores = parts[0].matmul(parts[1].transpose(-1, -2)) / std::sqrt(3.0);
    scores = scores.masked_fill(torch::ones({n, n}, torch::kBool).triu(1), -kInf);
    x = x + scores.softmax(-1).matmul(parts[2]).transpose(1, 2).reshape({tokens.size(0), n, 6});
    return out(x);
  }
  nn::Embedding embed, places;
  nn::Linear qkv;
  nn::LayerNorm norm;
  nn::Linear out;
};
TORCH_MODULE(Writer);

void run() {
  section("vision", [] {
    Vision net;
    net->to(torch::kFloat64);
    fill(*net);
    const Tensor x = ramp({6, 1, 8, 8}), y = torch::tensor({0, 1, 2, 2, 1, 0});
    torch::optim::AdamW optimizer(net->parameters(), torch::optim::AdamWOptions(0.01).weight_decay(0.05));
    torch::optim::StepLR schedule(optimizer, 4, 0.5);
    for (int step = 0; step < 10; ++step) {
      optimizer.zero_grad();
      Tensor loss = F::cross_entropy(net(x), y, F::CrossEntropyFuncOptions().label_smoothing(0.1));
      loss.backward();
      report("vision.loss" + std::to_string(step), loss);
      report_value("vision.norm" + std::to_string(step), nn::utils::clip_grad_norm_(net->parameters(), 1.0));
      optimizer.step();
      schedule.step();
    }
    net->eval();
    torch::NoGradGuard guard;
    report("vision.eval", net(x));
    report("vision.running", net->block1->norm1->running_var);
  });

  section("writer", [] {
    Writer net;
    net->to(torch::kFloat64);
    fill(*net);
    const Tensor tokens = torch::tensor({{1, 3, 2, 6, 0}, {5, 5, 4, 2, 1}});
    torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(0.02).betas({0.9, 0.98}));
    for (int step = 0; step < 12; ++step) {
      const Tensor logits = net(tokens.slice(1, 0, 4));
      Tensor loss = F::cross_entropy(logits.reshape({-1, 7}), tokens.slice(1, 1).reshape({-1}));
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      if (step % 3 == 0) report("writer.loss" + std::to_string(step), loss);
    }
    report("writer.embed", net->embed->weight);
    Tensor text = torch::tensor({{1}});
    torch::NoGradGuard guard;
    while (text.size(1) < 5) text = torch::cat({text, net(text).select(1, -1).argmax(-1, true)}, 1);
    report("writer.text", text);
  });

  section("accumulated", [] {
    // Gradient accumulation over four small batches, then one step.
    nn::Sequential net(nn::Linear(3, 5), nn::Tanh(), nn::Linear(5, 1));
    net->to(torch::kFloat64);
    fill(*net);
    const Tensor x = ramp({8, 3}), y = ramp({8, 1}, -1, 1, 2.0);
    torch::optim::RMSprop optimizer(net->parameters(), torch::optim::RMSpropOptions(0.01).momentum(0.5));
    for (int step = 0; step < 6; ++step) {
      optimizer.zero_grad();
      for (int part = 0; part < 4; ++part) {
        const Tensor out = net->forward(x.slice(0, 2 * part, 2 * part + 2));
        (F::mse_loss(out, y.slice(0, 2 * part, 2 * part + 2)) / 4).backward();
      }
      optimizer.step();
    }
    report("accumulated", F::mse_loss(net->forward(x), y));
  });

  section("physics", [] {
    // A network with its second derivative in the loss.
    nn::Sequential net(nn::Linear(1, 6), nn::Tanh(), nn::Linear(6, 1));
    net->to(torch::kFloat64);
    fill(*net, 1);
    torch::optim::Adam optimizer(net->parameters(), 0.01);
    for (int step = 0; step < 8; ++step) {
      Tensor x = torch::linspace(0, 1, 7, torch::kFloat64).unsqueeze(1).requires_grad_();
      const Tensor u = net->forward(x);
      const Tensor du = torch::autograd::grad({u.sum()}, {x}, {}, true, true)[0];
      const Tensor d2u = torch::autograd::grad({du.sum()}, {x}, {}, true, true)[0];
      Tensor loss = (d2u + u).square().mean() + u[0].square().sum() + (du[0] - 1).square().sum();
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      report("physics" + std::to_string(step), loss);
    }
  });

  section("meta", [] {
    // A differentiable step of gradient descent.
    Tensor w = ramp({4}).requires_grad_(),
           rate = torch::tensor(0.1, torch::dtype(torch::kFloat64).requires_grad(true));
    for (int outer = 0; outer < 5; ++outer) {
      Tensor fast = w;
      for (int inner = 0; inner < 3; ++inner) {
        const Tensor loss = ((fast - 1).square() * ramp({4}, 0.5, 2)).sum();
        fast = fast - rate * torch::autograd::grad({loss}, {fast}, {}, true, true)[0];
      }
      const Tensor meta = (fast - ramp({4}, 0, 2)).pow(2).sum();
      const auto grads = torch::autograd::grad({meta}, {w, rate});
      report("meta" + std::to_string(outer), meta);
      torch::NoGradGuard guard;
      w -= 0.05 * grads[0];
      rate -= 0.001 * grads[1];
    }
    report("meta.w", w);
    report("meta.rate", rate);
  });
}

const Program program("training_double", run);

}  // namespace training_double
