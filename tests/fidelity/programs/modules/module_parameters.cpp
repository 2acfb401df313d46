// Parameters of modules from outside: dictionaries, sharing, freezing, averaging; and AnyModule.
#include "fidelity.h"

#include <memory>

namespace module_parameters {

namespace nn = torch::nn;

struct BasicBlockImpl : nn::Module {
  BasicBlockImpl(int64_t in, int64_t out, int64_t stride)
      : conv1(nn::Conv2dOptions(in, out, 3).stride(stride).padding(1).bias(false)),
        bn1(out),
        conv2(nn::Conv2dOptions(out, out, 3).padding(1).bias(false)),
        bn2(out) {
    register_module("conv1", conv1);
    register_module("bn1", bn1);
    register_module("conv2", conv2);
    register_module("bn2", bn2);
    if (stride != 1 || in != out)
      shortcut = register_module(
          "shortcut", nn::Sequential(nn::Conv2d(nn::Conv2dOptions(in, out, 1).stride(stride).bias(false)),
                                     nn::BatchNorm2d(out)));
  }
  Tensor forward(Tensor x) {
    auto out = torch::relu(bn1(conv1(x)));
    out = bn2(conv2(out));
    out += shortcut.is_empty() ? x : shortcut->forward(x);
    return torch::relu(out);
  }
  nn::Conv2d conv1;
  nn::BatchNorm2d bn1;
  nn::Conv2d conv2;
  nn::BatchNorm2d bn2;
  nn::Sequential shortcut{nullptr};
};
TORCH_MODULE(BasicBlock);

struct ResNetImpl : nn::Module {
  ResNetImpl()
      : layers(nn::Sequential(BasicBlock(2, 2, 1), BasicBlock(2, 4, 2))),
        pool(nn::AdaptiveAvgPool2dOptions(1)),
        fc(4, 3) {
    register_module("layers", layers);
    register_module("pool", pool);
    register_module("fc", fc);
  }
  Tensor forward(Tensor x) { return fc(torch::flatten(pool(layers->forward(x)), 1)); }
  nn::Sequential layers;
  nn::AdaptiveAvgPool2d pool;
  nn::Linear fc;
};
TORCH_MODULE(ResNet);

void fill(nn::Module& module) {
  torch::NoGradGuard guard;
  double phase = 0;
  for (auto& p : module.parameters())
    if (p.dim() > 1) p.copy_(ramp(p.sizes().vec(), -0.6, 0.6, phase += 0.29));
}

void run() {
  section("resnet", [] {
    ResNet net;
    fill(*net);
    nn::init::zeros_(net->fc->bias);
    net->to(torch::kFloat64);
    for (const auto& key : net->named_parameters().keys()) report_text("key", key);
    for (const auto& key : net->named_buffers().keys()) report_text("buffer", key);
    Tensor x = ramp({2, 2, 4, 4}).requires_grad_();
    Tensor y = net(x);
    report("resnet", y);
    nn::functional::cross_entropy(y, torch::tensor({0, 2})).backward();
    report("resnet.x", x.grad());
    report("resnet.fc", net->fc->weight.grad());
    report("resnet.conv", net->named_parameters()["layers.1.shortcut.0.weight"].grad());
    net->eval();
    report("resnet.eval", net(x));
    int64_t total = 0;
    for (const auto& p : net->parameters()) total += p.numel();
    report_value("total", static_cast<double>(total));
    report_value("modules", static_cast<double>(net->modules().size()));
  });

  section("dictionary", [] {
    nn::Sequential net(nn::Linear(2, 3), nn::Linear(3, 1));
    auto parameters = net->named_parameters();
    report_value("size", static_cast<double>(parameters.size()));
    report_text("front", parameters.front().key());
    report_text("back", parameters.back().key());
    report_text("second", parameters[1].key());
    report_value("find", parameters.find("1.bias") != nullptr);
    report_value("find.none", parameters.find("2.bias") == nullptr);
    report_value("contains", parameters.contains("0.weight"));
    report_error("missing", [&] { parameters["nothing"]; });
    report_value("values", static_cast<double>(parameters.values().size()));
    report_value("pairs", static_cast<double>(parameters.pairs()[0].second.numel()));
    for (auto& pair : parameters) report_sizes("pair." + pair.key(), pair->sizes().vec());
    torch::OrderedDict<std::string, int> dict;
    dict.insert("b", 2);
    dict.insert("a", 1);
    report_value("dict.a", dict["a"]);
    dict["a"] = 5;
    report_value("dict.changed", dict["a"]);
    report_value("dict.first", dict.begin()->value());
    report_error("dict.twice", [&] { dict.insert("b", 3); });
    dict.erase("b");
    report_value("dict.size", static_cast<double>(dict.size()));
    dict.clear();
    report_value("dict.empty", dict.is_empty());
  });

  section("sharing", [] {
    struct Tied : nn::Module {
      Tied()
          : in(register_module("in", nn::Embedding(4, 3))),
            out(register_module("out", nn::Linear(nn::LinearOptions(3, 4).bias(false)))) {
        out->weight = in->weight;
      }
      Tensor forward(const Tensor& x) { return torch::linear(in(x), in->weight); }
      nn::Embedding in;
      nn::Linear out;
    } tied;
    {
      torch::NoGradGuard guard;
      tied.in->weight.copy_(ramp({4, 3}));
    }
    tied.forward(torch::tensor({1, 3})).square().sum().backward();
    report("tied", tied.in->weight.grad());
  });

  section("freezing", [] {
    torch::manual_seed(4);               // the biases stay as they are drawn
    nn::Linear last(2, 2), first(2, 2);  // compilers differ in which argument they make first
    nn::Sequential net(first, last);
    fill(*net);
    for (auto& p : net[0]->parameters()) p.set_requires_grad(false);
    std::vector<Tensor> learn;
    for (const auto& p : net->parameters())
      if (p.requires_grad()) learn.push_back(p);
    report_value("learn", static_cast<double>(learn.size()));
    net->forward(torch::ones({1, 2})).sum().backward();
    report_value("frozen", net->parameters()[0].grad().defined());
    report("learned", learn[0].grad());
    net->zero_grad();
    torch::optim::SGD optimizer(learn, 0.1);
    optimizer.step();
  });

  section("averaging", [] {
    nn::Linear online(2, 2), target(2, 2);
    fill(*online);
    fill(*target);
    {
      torch::NoGradGuard guard;
      online->weight.add_(1);
      auto from = online->named_parameters();
      for (auto& item : target->named_parameters()) item.value().mul_(0.9).add_(from[item.key()], 0.1);
    }
    report("averaged", target->weight);
    report_value("averaged.grad", target->weight.requires_grad());
  });

  section("any", [] {
    nn::AnyModule any(nn::Linear(2, 3));
    any.ptr()->to(torch::kFloat64);
    fill(*any.ptr());
    nn::init::zeros_(any.get<nn::Linear>()->bias);
    report("any", any.forward(ramp({1, 2})));
    report_value("any.get", static_cast<double>(any.get<nn::Linear>()->options.out_features()));
    report_value("any.empty", nn::AnyModule().is_empty());
    std::vector<std::shared_ptr<nn::Module>> all = {nn::Linear(1, 1).ptr(), std::make_shared<nn::TanhImpl>()};
    report_value("as", all[1]->as<nn::Tanh>() != nullptr);
    auto linear = std::make_shared<nn::LinearImpl>(nn::LinearOptions(3, 1));
    report_value("options", linear->options.bias());
    report_sizes("weight", linear->weight.sizes().vec());
    nn::Functional twice([](const Tensor& x) { return x * 2; });
    report("functional", twice(ramp({2})));
    nn::Functional slope(torch::leaky_relu, 0.5);
    report("functional.bound", slope(ramp({3}, -1, 0)));
  });
}

const Program program("module_parameters", run);

}  // namespace module_parameters
