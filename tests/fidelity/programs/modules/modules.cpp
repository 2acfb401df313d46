// Modules, their parameters, buffers and submodules.
#include "fidelity.h"

#include <memory>
#include <sstream>

// Modules: registration, order of names, printing, containers, cloning.
namespace modules {

namespace nn = torch::nn;

struct BlockImpl : nn::Cloneable<BlockImpl> {
  BlockImpl(int64_t in, int64_t out) : in_(in), out_(out) { reset(); }
  void reset() override {
    fc = register_module("fc", nn::Linear(in_, out_));
    norm = register_module("norm", nn::LayerNorm(nn::LayerNormOptions({out_})));
    scale = register_parameter("scale", torch::ones({1}));
    offset = register_buffer("offset", torch::zeros({out_}));
  }
  Tensor forward(Tensor x) { return norm(fc(x)) * scale + offset; }
  int64_t in_, out_;
  nn::Linear fc{nullptr};
  nn::LayerNorm norm{nullptr};
  Tensor scale, offset;
};
TORCH_MODULE(Block);

struct Net : nn::Module {
  Net() : first(3, 4), second(4, 2) {
    register_module("first", first);
    register_module("second", second);
    extra = register_parameter("extra", torch::zeros({2}), /*requires_grad=*/false);
  }
  Tensor forward(const Tensor& x) { return second->forward(torch::relu(first->forward(x))) + extra; }
  Block first;
  nn::Linear second;
  Tensor extra;
};

template <class M>
std::string text(const M& module) {
  std::ostringstream stream;
  stream << module;
  return stream.str();
}

void fill(nn::Module& module) {
  torch::NoGradGuard guard;
  int count = 0;
  for (auto& p : module.parameters()) p.copy_(ramp(p.sizes().vec(), -1, 1, 0.1 * ++count));
}

void run() {
  section("registration", [] {
    auto net = std::make_shared<Net>();
    for (const auto& item : net->named_parameters())
      report_sizes("parameter." + item.key(), item.value().sizes().vec());
    for (const auto& item : net->named_buffers())
      report_sizes("buffer." + item.key(), item.value().sizes().vec());
    for (const auto& item : net->named_children()) report_text("child." + item.key(), item.value()->name());
    for (const auto& item : net->named_modules()) report_text("module." + item.key(), item.value()->name());
    for (const auto& item : net->named_parameters(false))
      report_sizes("own." + item.key(), item.value().sizes().vec());
    report_value("parameters", static_cast<double>(net->parameters().size()));
    report_value("buffers", static_cast<double>(net->buffers().size()));
    report_value("children", static_cast<double>(net->children().size()));
    report_value("modules", static_cast<double>(net->modules().size()));
    report_value("modules.self", static_cast<double>(net->modules(false).size()));
    report_value("extra", net->extra.requires_grad());
    report_value("contains", net->named_parameters().contains("first.fc.weight"));
    report_sizes("lookup", net->named_parameters()["second.weight"].sizes().vec());
    fill(*net);
    net->to(torch::kFloat64);
    report("forward", net->forward(ramp({2, 3})));
    net->forward(ramp({2, 3})).sum().backward();
    report("grad", net->second->bias.grad());
    report_value("extra.grad", net->extra.grad().defined());
    net->zero_grad();
    report_value("zero_grad", net->second->bias.grad().defined() &&
                                  net->second->bias.grad().abs().sum().item<double>() != 0);
    report_value("training", net->is_training());
    net->eval();
    report_value("eval", net->first->norm->is_training());
    net->train();
    report_value("train", net->first->is_training());
    int count = 0;
    net->apply([&count](nn::Module& module) { count += static_cast<int>(module.parameters(false).size()); });
    report_value("apply", count);
    net->apply(
        [](const std::string& name, nn::Module&) { report_text("visited", name.empty() ? "root" : name); });
    report_value("as", net->as<Net>() != nullptr);
    report_value("as.other", net->as<nn::Linear>() != nullptr);
  });

  section("printing", [] {
    report_text("Linear", text(nn::Linear(3, 4)));
    report_text("Linear.nobias", text(nn::Linear(nn::LinearOptions(3, 4).bias(false))));
    report_text("Conv2d", text(nn::Conv2d(1, 32, 3)));
    report_text(
        "Conv2d.all",
        text(nn::Conv2d(
            nn::Conv2dOptions(4, 8, {3, 5}).stride(2).padding({1, 2}).dilation(2).groups(2).bias(false))));
    report_text("Conv1d",
                text(nn::Conv1d(nn::Conv1dOptions(4, 8, 3).padding_mode(torch::kCircular).padding(1))));
    report_text("MaxPool2d", text(nn::MaxPool2d(2)));
    report_text("AvgPool2d", text(nn::AvgPool2d(nn::AvgPool2dOptions(3).stride(2).padding(1))));
    report_text("AdaptiveAvgPool2d", text(nn::AdaptiveAvgPool2d(nn::AdaptiveAvgPool2dOptions({1, 1}))));
    report_text("BatchNorm2d", text(nn::BatchNorm2d(16)));
    report_text("LayerNorm", text(nn::LayerNorm(nn::LayerNormOptions({4, 2}))));
    report_text("GroupNorm", text(nn::GroupNorm(nn::GroupNormOptions(2, 4))));
    report_text("Dropout", text(nn::Dropout(0.3)));
    report_text("ReLU", text(nn::ReLU()));
    report_text("ReLU.inplace", text(nn::ReLU(nn::ReLUOptions(true))));
    report_text("LeakyReLU", text(nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(0.2))));
    report_text("ELU", text(nn::ELU()));
    report_text("Softmax", text(nn::Softmax(1)));
    report_text("LogSoftmax", text(nn::LogSoftmax(nn::LogSoftmaxOptions(1))));
    report_text("Sigmoid", text(nn::Sigmoid()));
    report_text("Tanh", text(nn::Tanh()));
    report_text("GELU", text(nn::GELU()));
    report_text("Embedding", text(nn::Embedding(10, 3)));
    report_text("Embedding.padding", text(nn::Embedding(nn::EmbeddingOptions(10, 3).padding_idx(0))));
    report_text("Flatten", text(nn::Flatten()));
    report_text("CrossEntropyLoss", text(nn::CrossEntropyLoss()));
    report_text("MSELoss", text(nn::MSELoss()));
    report_text("Identity", text(nn::Identity()));
    report_text("Net", text(Net()));
    report_text("Block", text(Block(2, 3)));
    report_text("Sequential", text(nn::Sequential(nn::Linear(3, 4), nn::ReLU(), Block(4, 2))));
    nn::Sequential named({{"conv", nn::Conv2d(1, 8, 3)}, {"act", nn::ReLU()}, {"flat", nn::Flatten()}});
    report_text("Sequential.named", text(named));
    report_text("ModuleList", text(nn::ModuleList(nn::Linear(1, 2), nn::ReLU())));
    report_text("Sequential.empty", text(nn::Sequential()));
  });

  section("containers", [] {
    nn::Sequential net(nn::Linear(3, 4), nn::ReLU(), nn::Dropout(0.5), nn::Linear(4, 2));
    net->to(torch::kFloat64);
    fill(*net);
    net->eval();
    report("Sequential", net->forward(ramp({2, 3})));
    report_value("Sequential.size", static_cast<double>(net->size()));
    for (const auto& item : net->named_parameters()) report_text("Sequential.name", item.key());
    report_sizes("Sequential.at", net->at<nn::LinearImpl>(3).weight.sizes().vec());
    report_text("Sequential.ptr", net->ptr(1)->name());
    net->push_back(nn::Softmax(1));
    net->push_back("last", nn::Functional([](const Tensor& t) { return t * 2; }));
    report("Sequential.longer", net->forward(ramp({2, 3})));
    nn::Sequential more;
    more->push_back(nn::Linear(2, 2));
    more->extend(*net);
    report_value("Sequential.extended", static_cast<double>(more->size()));
    int steps = 0;
    for (auto it = net->begin(); it != net->end(); ++it) ++steps;
    report_value("Sequential.steps", steps);

    nn::ModuleList list;
    for (int i = 0; i < 3; ++i) list->push_back(nn::Linear(2, 2));
    list->to(torch::kFloat64);
    fill(*list);
    Tensor x = ramp({1, 2});
    for (const auto& module : *list) x = module->as<nn::Linear>()->forward(x);
    report("ModuleList", x);
    report_sizes("ModuleList.at", list[1]->as<nn::Linear>()->weight.sizes().vec());
    for (const auto& item : list->named_parameters()) report_text("ModuleList.name", item.key());

    nn::ModuleDict dict;
    torch::OrderedDict<std::string, std::shared_ptr<nn::Module>> items = {{"linear", nn::Linear(2, 2).ptr()},
                                                                          {"act", nn::Tanh().ptr()}};
    dict->update(items);
    report_value("ModuleDict.size", static_cast<double>(dict->size()));
    report_value("ModuleDict.contains", dict->contains("act"));
    for (const auto& key : dict->keys()) report_text("ModuleDict.key", key);
    for (const auto& item : dict->named_parameters()) report_text("ModuleDict.name", item.key());

    nn::ParameterList values(torch::ones({2}), torch::zeros({3}));
    report_value("ParameterList", static_cast<double>(values->size()));
    for (const auto& item : values->named_parameters()) report_text("ParameterList.name", item.key());
    nn::ParameterDict table;
    table->insert("w", torch::ones({2}));
    report_value("ParameterDict", table->contains("w"));
  });

  section("cloning", [] {
    Block block(2, 3);
    block->to(torch::kFloat64);
    fill(*block);
    auto copy = std::dynamic_pointer_cast<BlockImpl>(block->clone());
    report("clone.same", copy->forward(ramp({1, 2})));
    {
      torch::NoGradGuard guard;
      copy->fc->weight.zero_();
    }
    report("clone.apart", block->fc->weight);
    nn::Sequential net(nn::Linear(2, 2), nn::Tanh());
    auto twin = std::dynamic_pointer_cast<nn::SequentialImpl>(net->clone());
    report_value("clone.sequential",
                 torch::equal(net->forward(torch::ones({1, 2})), twin->forward(torch::ones({1, 2}))));
    Block alias = block;
    report_value("alias", alias.get() == block.get());
    Block none = nullptr;
    report_value("none", static_cast<bool>(none));
    nn::Linear linear(2, 2);
    linear->to(torch::kFloat64);
    report_value("to", linear->weight.scalar_type() == torch::kFloat64);
    auto replaced = linear->bias;
    linear->bias = torch::zeros({2}, torch::kFloat64);
    report_value("registered", linear->parameters()[1].is_same(replaced));
  });
}

const Program program("modules", run);

}  // namespace modules

// Access to parameters of modules: dictionaries, sharing, freezing, averaging; and AnyModule.
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
    torch::manual_seed(4);               // the biases keep their random values
    nn::Linear last(2, 2), first(2, 2);  // compilers evaluate arguments in different orders
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
