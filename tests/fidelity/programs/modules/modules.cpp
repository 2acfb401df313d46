// Modules: registration, order of names, printing, containers, cloning.
#include "fidelity.h"

#include <sstream>

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
