// Mistakes that a running program makes, and the whole of what it is told.
#include <ebb/ebb.h>

#include <functional>
#include <sstream>
#include <stdexcept>

#include "support/catch.h"
#include "support/warnings.h"

using namespace ebb;
using support::Contains;
namespace F = nn::functional;

namespace {

struct Mistake {
  const char* what;
  std::function<void()> make;
  const char* message;
};

std::string message_of(const Mistake& mistake) {
  try {
    mistake.make();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "nothing";
}

struct BrokenSet : data::datasets::Dataset<BrokenSet> {
  data::Example<> get(std::size_t index) override {
    if (index == 2) throw std::out_of_range("no such picture");
    return {ones({1}), ones({1})};
  }
  optional<std::size_t> size() const override { return 4; }
};

// Its member is not registered.
struct ForgetfulImpl : nn::Module {
  nn::Linear fc{2, 2};
  Tensor forward(const Tensor& x) { return fc(x); }
};
EBB_MODULE(Forgetful);

struct FlatImpl : nn::Module {
  Tensor forward(const Tensor& x) { return x.view({7, 7}); }
};
EBB_MODULE(Flat);

struct NetImpl : nn::Module {
  nn::Sequential layers{nn::Conv2d(3, 4, 3), nn::BatchNorm2d(5)};
  Flat flat;
  NetImpl() {
    register_module("layers", layers);
    register_module("flat", flat);
  }
  Tensor forward(const Tensor& x) { return layers->forward(x); }
};
EBB_MODULE(Net);

}  // namespace

TEST_CASE("errors of common mistakes name the op, the module, the place and what to do") {
  nn::Linear linear(2, 2);
  const Mistake mistakes[] = {
      {"a negative size",
       [] {
         zeros({2, -3});
       },
       "zeros: a size is negative in shape [2, -3]; sizes must be at least 0."},
      {"a negative size of a random tensor", [] { randn({-1}); },
       "randn: a size is negative in shape [-1]; sizes must be at least 0."},
      {"a class that is too large",
       [] {
         F::cross_entropy(zeros({4, 3}), tensor({0, 1, 2, 3}, kLong));
       },
       "cross_entropy_loss: Target 3 is out of bounds for 3 classes, at [3] of the targets."},
      {"a class of a pixel",
       [] {
         F::cross_entropy(zeros({1, 3, 2, 2}), tensor({0, 1, 2, 7}, kLong).view({1, 2, 2}));
       },
       "cross_entropy_loss: Target 7 is out of bounds for 3 classes, at [0, 1, 1] of the targets."},
      {"an empty holder",
       [] {
         nn::Linear { nullptr } -> forward(ones({1}));
       },
       "Accessing empty ModuleHolder of ebb::nn::Linear. It was made with nullptr: assign a module before it "
       "is "
       "used, fc = register_module(\"fc\", ebb::nn::Linear(...))."},
      {"an optimizer without parameters", [] { optim::SGD(std::vector<Tensor>(), 0.1).step(); },
       "SGD: there are no parameters. Give the optimizer net->parameters(), after all modules of the net are "
       "registered."},
      {"a module that is saved without anything registered",
       [] {
         std::stringstream file;
         save(Forgetful(), file);
       },
       "save: (anonymous namespace)::ForgetfulImpl has no parameter, no buffer and no module in it. Register "
       "what it "
       "has in the constructor: fc = register_module(\"fc\", Linear(...))."},
      {"a module that is loaded without anything registered",
       [&] {
         std::stringstream file;
         save(linear, file);
         Forgetful forgetful;
         load(forgetful, file);
       },
       "load: (anonymous namespace)::ForgetfulImpl has no parameter, no buffer and no module in it. Register "
       "what it "
       "has in the constructor: fc = register_module(\"fc\", Linear(...))."},
      {"channels that do not fit deep in a net",
       [] {
         Net()(ones({8, 2, 5, 5}));
       },
       "conv2d: a weight of shape [4, 3, 3, 3] in 1 groups expects 3 channels, but the input of shape [8, 2, "
       "5, 5] "
       "has 2.\n  in module 'layers.0', ebb::nn::Conv2d(3, 4, kernel_size=[3, 3], stride=[1, 1])"},
      {"an error in a module of the program's own",
       [] {
         Net net;
         net->flat(ones({2}));
       },
       "view: shape '[7, 7]' is invalid for input of size 2.\n  in module 'flat', (anonymous "
       "namespace)::FlatImpl"},
      {"a device that is not there", [] { ones({1}).to(kMPS); },
       "Device: ebb has no devices of type mps. It has kCPU and kCUDA."},
      {"an index beyond a table",
       [] {
         nn::Embedding(3, 2)(tensor({0, 5}, kLong));
       },
       "embedding: index 5 is out of bounds for dimension 0 with size 3.\n  in module "
       "ebb::nn::Embedding(num_embeddings=3, embedding_dim=2)"},
      {"shapes that do not multiply",
       [&] {
         linear->forward(ones({4, 3}));
       },
       "linear: input of shape [4, 3] does not fit a weight of shape [2, 2] ([out, in]): the last dimension "
       "of "
       "the input must be `in`.\n  in module ebb::nn::Linear(in_features=2, out_features=2, bias=true)"},
  };
  for (const Mistake& each : mistakes) {
    INFO(each.what);
    CHECK(message_of(each) == each.message);
  }
}

TEST_CASE("an error of a worker has its type, the dataset and the examples") {
  const auto loader = data::make_data_loader<data::samplers::SequentialSampler>(
      BrokenSet().map(data::transforms::Stack<>()), data::DataLoaderOptions(4).workers(1));
  CHECK_THROWS_WITH(*loader->begin(),
                    Contains("Original message: no such picture\n  of type std::out_of_range\n  reading the "
                             "examples [0, 1, 2, 3] of ebb::data::datasets::MapDataset<(anonymous "
                             "namespace)::BrokenSet"));
}

TEST_CASE("an error in backward names the module whose forward recorded the op") {
  Net net;
  const auto conv = net->layers->ptr<nn::Conv2dImpl>(0);
  const Tensor y = conv->forward(ones({1, 3, 4, 4}, TensorOptions().requires_grad(true)));
  {
    NoGradGuard no_grad;
    conv->weight.add_(1);
  }
  CHECK_THROWS_WITH(
      y.sum().backward(),
      Contains("modified by an inplace operation") &&
          Contains("\n  in the backward of ConvolutionBackward0, recorded in module 'layers.0', "
                   "ebb::nn::Conv2dImpl"));
}

TEST_CASE("an error in backward outside of modules, and of a module that is gone, names none") {
  const auto fail = [](Tensor weight, const Tensor& y) {
    {
      NoGradGuard no_grad;
      weight.add_(1);
    }
    y.sum().backward();
  };
  Tensor w = ones({2, 2}, TensorOptions().requires_grad(true));
  CHECK_THROWS_WITH(fail(w, w.exp() * w), !Contains("recorded in"));
  auto linear = std::make_unique<nn::Linear>(2, 2);
  const Tensor x = ones({2, 2}, TensorOptions().requires_grad(true)), y = (*linear)(x);
  const Tensor weight = (*linear)->weight;
  linear.reset();
  CHECK_THROWS_WITH(fail(weight, y),
                    Contains("modified by an inplace operation") && !Contains("recorded in"));
}

TEST_CASE("nodes that a backward records remember the module too, and anomaly mode says it") {
  const autograd::DetectAnomalyGuard guard;
  nn::Sequential net(nn::Functional([](const Tensor& x) { return x.sqrt(); }));
  const Tensor x = zeros({2}, TensorOptions().requires_grad(true));
  CHECK_THROWS_WITH(
      (net->forward(x) * 0).sum().backward(),
      Contains("'SqrtBackward0' returned nan values in its 0th output, the gradient of input 1.") &&
          Contains("recorded in module '0', ebb::nn::FunctionalImpl"));
}

TEST_CASE("a member with parameters that is not registered warns at its first forward") {
  const support::Warnings warnings;
  Forgetful forgetful;
  forgetful(ones({1, 2}));
  forgetful(ones({1, 2}));
  REQUIRE(warnings.texts.size() == 1);
  CHECK_THAT(warnings.texts[0],
             Contains("ebb::nn::LinearImpl with parameters is called in the forward of module (anonymous "
                      "namespace)::ForgetfulImpl, but no module has registered it"));
  nn::Sequential net(nn::Functional([](const Tensor& x) { return nn::ReLU()(x); }), nn::Linear(2, 2));
  net->forward(ones({1, 2}));
  nn::Linear alone(2, 2);
  alone(ones({1, 2}));
  CHECK(warnings.texts.size() == 1);
}

TEST_CASE("a schedule that is stepped before its optimizer warns once") {
  nn::Linear linear(2, 2);
  optim::SGD optimizer(linear->parameters(), 0.1);
  optim::StepLR schedule(optimizer, 1);
  const support::Warnings warnings;
  schedule.step();
  schedule.step();
  REQUIRE(warnings.texts.size() == 1);
  CHECK_THAT(warnings.texts[0], Contains("LRScheduler: step() is called before the optimizer's step()"));
  optim::SGD stepped(linear->parameters(), 0.1);
  optim::StepLR after(stepped, 1);
  stepped.step();
  after.step();
  CHECK(warnings.texts.size() == 1);
}

TEST_CASE("the library says the version of its headers") {
  CHECK(std::string(version()) == EBB_VERSION);
  CHECK(EBB_VERSION == std::to_string(EBB_VERSION_MAJOR) + "." + std::to_string(EBB_VERSION_MINOR) + "." +
                           std::to_string(EBB_VERSION_PATCH));
}
