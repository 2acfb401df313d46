// Containers of modules and parameters, their names and printing; lambdas in Sequential; AnyModule.
#include "fidelity.h"

#include <memory>
#include <sstream>

namespace containers {

namespace nn = torch::nn;

std::string text(const nn::Module& module) {
  std::ostringstream stream;
  stream << module;
  return stream.str();
}

std::string keys(const nn::Module& module) {
  std::string out;
  for (const auto& item : module.named_parameters()) out += item.key() + " ";
  return out;
}

void fill(nn::Module& module) {
  torch::NoGradGuard guard;
  double phase = 0;
  for (auto& p : module.parameters()) p.copy_(ramp(p.sizes().vec(), -1, 1, phase += 0.41));
}

using Modules = std::vector<std::pair<std::string, std::shared_ptr<nn::Module>>>;

struct BlockImpl : nn::Cloneable<BlockImpl> {
  explicit BlockImpl(int64_t width) : width(width) { reset(); }
  void reset() override {
    scale = register_parameter("scale", torch::full({width}, 0.5));
    first = register_module("first", nn::Linear(width, width));
    shift = register_buffer("shift", torch::ones({width}));
    second = register_module("second", nn::Linear(nn::LinearOptions(width, width).bias(false)));
  }
  void pretty_print(std::ostream& stream) const override { stream << "Block(width=" << width << ")"; }
  Tensor forward(const Tensor& x) { return second(torch::relu(first(x))) * scale + shift; }
  int64_t width;
  Tensor scale, shift;
  nn::Linear first{nullptr}, second{nullptr};
};
TORCH_MODULE(Block);

struct TwoImpl : nn::Module {
  Tensor forward(const Tensor& a, const Tensor& b) { return a * 2 + b; }
};
TORCH_MODULE(Two);

struct NetImpl : nn::Module {
  NetImpl() {
    blocks = register_module("blocks", nn::ModuleList());
    for (int i = 0; i < 3; ++i) blocks->push_back(Block(2));
    heads = register_module("heads", nn::ModuleDict());
    heads->update(Modules{{"mean", nn::Linear(2, 1).ptr()},
                          {"all", nn::Sequential(nn::Linear(2, 3), nn::Tanh()).ptr()}});
    extra = register_module("extra", nn::ParameterList());
    extra->append(torch::ones({2}));
    extra->append(torch::zeros({1, 2}));
    named = register_module("named", nn::ParameterDict());
    named->insert("gain", torch::full({1}, 3.0));
  }
  Tensor forward(Tensor x) {
    for (const auto& block : *blocks) x = block->as<Block>()->forward(x);
    return heads["mean"]->as<nn::Linear>()->forward(x) * named["gain"];
  }
  nn::ModuleList blocks{nullptr};
  nn::ModuleDict heads{nullptr};
  nn::ParameterList extra{nullptr};
  nn::ParameterDict named{nullptr};
};
TORCH_MODULE(Net);

void run() {
  section("names", [] {
    Net net;
    fill(*net);
    for (const auto& item : net->named_parameters()) report("parameter." + item.key(), item.value());
    for (const auto& item : net->named_buffers()) report("buffer." + item.key(), item.value());
    std::string modules;
    for (const auto& item : net->named_modules("net")) modules += item.key() + " ";
    report_text("modules", modules);
    report_text("children", net->named_children().keys()[1]);
    report("forward", net(ramp({3, 2}).to(torch::kFloat32)));
    report_value("own", static_cast<double>(net->parameters(false).size()));
    report_value("count", static_cast<double>(net->parameters().size()));
    report_text("printed", text(*net->blocks));
    report_text("printed.heads", text(*net->heads));
  });

  section("printing", [] {
    report_text("sequential",
                text(*nn::Sequential(nn::Conv2d(nn::Conv2dOptions(1, 2, 3).stride(2).padding(1).bias(false)),
                                     nn::BatchNorm2d(2), nn::ReLU(nn::ReLUOptions(true)), nn::Dropout(0.25),
                                     nn::MaxPool2d(nn::MaxPool2dOptions({2, 3}).stride(1)),
                                     nn::AdaptiveAvgPool2d(nn::AdaptiveAvgPool2dOptions({1, 2})),
                                     nn::Flatten(), nn::Linear(2, 2), nn::Softmax(1))));
    report_text(
        "named",
        text(*nn::Sequential({{"in", nn::Linear(1, 2)}, {"act", nn::ELU(nn::ELUOptions().alpha(0.5))}})));
    report_text("embedding", text(*nn::Embedding(nn::EmbeddingOptions(5, 2).padding_idx(1))));
    report_text(
        "transposed",
        text(*nn::ConvTranspose2d(nn::ConvTranspose2dOptions(2, 3, {3, 2}).stride(2).output_padding(1))));
    report_text("conv1d", text(*nn::Conv1d(nn::Conv1dOptions(2, 4, 3).dilation(2).groups(2))));
    report_text("layer_norm", text(*nn::LayerNorm(nn::LayerNormOptions({3, 2}).elementwise_affine(false))));
    report_text("group_norm", text(*nn::GroupNorm(2, 4)));
    report_text("bilinear", text(*nn::Bilinear(2, 3, 4)));
    report_text("lrn", text(*nn::LocalResponseNorm(2)));
    report_text("pad", text(*nn::ZeroPad2d(nn::ZeroPad2dOptions({1, 2, 0, 3}))));
    report_text(
        "upsample",
        text(*nn::Upsample(
            nn::UpsampleOptions().scale_factor(std::vector<double>{2.0, 3.0}).mode(torch::kNearest))));
    report_text("shuffle", text(*nn::PixelShuffle(2)));
    report_text("unflatten", text(*nn::Unflatten(nn::UnflattenOptions(1, {2, 3}))));
    report_text("loss", text(*nn::CrossEntropyLoss()) + "\n" + text(*nn::MSELoss()) + "\n" +
                            text(*nn::SmoothL1Loss()));
    report_text("activations",
                text(*nn::Sequential(nn::LeakyReLU(), nn::SELU(), nn::GELU(), nn::SiLU(), nn::Mish(),
                                     nn::Softplus(), nn::Hardtanh(), nn::LogSigmoid(), nn::PReLU(),
                                     nn::Threshold(0.1, 2.0), nn::GLU(0), nn::CELU(), nn::Softsign(),
                                     nn::Tanhshrink(), nn::Hardshrink(), nn::Softshrink(), nn::ReLU6(),
                                     nn::RReLU(), nn::LogSoftmax(1), nn::Softmin(0), nn::Identity())));
    report_text("functional", text(*nn::Functional(torch::relu)));
    report_text("block", text(*Block(4)));
  });

  section("clone", [] {
    Block block(2);
    fill(*block);
    block->shift.fill_(7);
    auto copy = std::dynamic_pointer_cast<BlockImpl>(block->clone());
    report("clone.scale", copy->scale);
    report("clone.shift", copy->shift);
    report("clone.weight", copy->first->weight);
    {
      torch::NoGradGuard guard;
      copy->scale.zero_();
      copy->first->weight.zero_();
    }
    report("clone.original", block->scale);
    report("clone.original_weight", block->first->weight);
    report_value("clone.requires", copy->scale.requires_grad());
    nn::Sequential net(nn::Linear(2, 2), Block(2));
    fill(*net);
    auto twin = std::dynamic_pointer_cast<nn::SequentialImpl>(net->clone());
    report("clone.sequential", twin->forward(torch::ones({1, 2})));
    report_value("clone.apart", twin->parameters()[0].data_ptr() != net->parameters()[0].data_ptr());
    report_text("clone.keys", keys(*twin));
  });

  section("sequential", [] {
    nn::Sequential net(nn::Linear(2, 3), nn::Functional([](const Tensor& x) { return x.clamp_min(0); }),
                       nn::Functional(torch::leaky_relu, 0.1), nn::Linear(3, 2),
                       nn::Functional([](const Tensor& x) { return torch::log_softmax(x, 1); }));
    fill(*net);
    report("lambda", net->forward(ramp({2, 2}).to(torch::kFloat32)));
    report_text("lambda.keys", keys(*net));
    nn::Sequential two(Two(), nn::Functional([](const Tensor& x) { return x.sum(); }));
    report("two_inputs", two->forward(torch::ones({2}), torch::full({2}, 3.0)));
    nn::Sequential grown;
    grown->push_back("stem", nn::Linear(2, 2));
    grown->push_back(nn::ReLU());
    grown->push_back("head", nn::Linear(2, 1));
    report_text("grown", keys(*grown));
    report_value("grown.size", static_cast<double>(grown->size()));
    report_value("grown.at", static_cast<double>(grown->at<nn::LinearImpl>(2).options.out_features()));
    report_value("grown.is_empty", nn::Sequential()->is_empty());
    report_error("grown.twice", [&] { grown->push_back("stem", nn::ReLU()); });
    report_error("grown.at_wrong", [&] { grown->at<nn::Conv2dImpl>(0); });
    report_error("empty.forward", [] { nn::Sequential()->forward(torch::ones({1})); });
    int seen = 0;
    for (auto& module : *grown) seen += static_cast<int>(module.ptr()->parameters().size());
    report_value("grown.iterated", seen);
  });

  section("lists", [] {
    nn::ModuleList list(nn::Linear(2, 2), nn::Tanh());
    list->insert(1, nn::Linear(2, 3));
    list->extend(*nn::ModuleList(nn::ReLU(), nn::Linear(3, 1)));
    report_text("list", keys(*list));
    report_value("list.size", static_cast<double>(list->size()));
    report_value("list.ptr", list->ptr(0)->as<nn::Linear>() != nullptr);
    report_error("list.out", [&] { list->ptr(9); });
    nn::ModuleDict dict;
    dict->update(Modules{{"b", nn::Linear(1, 1).ptr()}, {"a", nn::ReLU().ptr()}});
    dict->update(Modules{{"c", nn::Tanh().ptr()}});
    std::string order;
    for (const auto& item : dict->items()) order += item.first + " ";
    report_text("dict", order);
    report_value("dict.contains", dict->contains("a"));
    dict->pop("b");
    report_value("dict.size", static_cast<double>(dict->size()));
    report_error("dict.missing", [&] { dict["d"]; });
    nn::ParameterList tensors(torch::ones({2}), torch::zeros({3}));
    tensors->append(torch::full({1}, 5.0));
    report_value("tensors", static_cast<double>(tensors->size()));
    report("tensors.at", tensors->at(2));
    report_value("tensors.requires", tensors->parameters()[0].requires_grad());
    nn::ParameterDict table;
    table->insert("w", torch::ones({2}));
    table->insert("b", torch::zeros({1}));
    report_value("table", static_cast<double>(table->size()));
    report("table.pop", table->pop("w"));
    report_value("table.contains", table->contains("w"));
  });

  section("any", [] {
    nn::AnyModule any{nn::Linear(2, 2)};
    fill(*any.ptr());
    report("any", any.forward<Tensor>(torch::ones({1, 2})));
    report_error("any.wrong", [&] { any.get<nn::Conv2d>(); });
    report_error("any.arguments", [&] { any.forward(1, 2); });
    nn::AnyModule other = any;
    report_value("any.shared", other.ptr() == any.ptr());
    nn::AnyModule apart = any.clone();
    report_value("any.apart", apart.ptr() != any.ptr());
    report("any.clone", apart.forward(torch::ones({1, 2})));
    nn::AnyModule assigned;
    assigned = nn::Linear(1, 1).ptr();
    report_value("any.assigned", assigned.is_empty());
    nn::AnyModule two{Two()};
    report("any.two", two.forward(torch::ones({1}), torch::ones({1})));
  });

  section("apply", [] {
    Net net;
    std::string visited;
    net->apply(
        [&](const std::string& name, nn::Module& module) {
          visited += name + ":" + std::to_string(module.parameters(false).size()) + " ";
        },
        "root");
    report_text("apply", visited);
    int linears = 0;
    net->apply([&](nn::Module& module) {
      torch::NoGradGuard guard;
      if (auto* linear = module.as<nn::Linear>()) linear->weight.fill_(++linears);
    });
    report("apply.last", net->heads["mean"]->as<nn::Linear>()->weight);
    net->train(false);
    report_value("apply.training", net->blocks[0]->is_training());
    net->to(torch::kFloat64);
    report("apply.to", net->named_parameters()["blocks.0.scale"]);
    report_text("path", net->named_parameters().keys().back());
    net->zero_grad();
    report_value("contains", net->named_parameters().contains("heads.all.0.bias"));
    report_error("missing", [&] { net->named_parameters()["nothing"]; });
  });
}

const Program program("containers", run);

}  // namespace containers
