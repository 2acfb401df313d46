// Common mistakes at run time, and their full error messages.
#include <ebb/ebb.h>

#include "support/catch.h"
#include "support/scopes.h"

#include <functional>
#include <sstream>
#include <stdexcept>

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
    // The line of the call is removed, because it changes with this file.
    const std::string message = error.what();
    return message.substr(0, message.find("\n  in backward() called at "));
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

// A module with an unregistered member.
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

TEST_CASE("errors of common mistakes name the op, the module, the location and a remedy") {
  nn::Linear linear(2, 2);
  const Mistake mistakes[] = {
      {"a negative size", [] { zeros({2, -3}); },
       "zeros: a size is negative in shape [2, -3]; sizes must be at least 0."},
      {"a negative size of a random tensor", [] { randn({-1}); },
       "randn: a size is negative in shape [-1]; sizes must be at least 0."},
      {"a class that is too large", [] { F::cross_entropy(zeros({4, 3}), tensor({0, 1, 2, 3}, kLong)); },
       "cross_entropy_loss: Target 3 is out of bounds for 3 classes, at [3] of the targets."},
      {"a class of a pixel",
       [] { F::cross_entropy(zeros({1, 3, 2, 2}), tensor({0, 1, 2, 7}, kLong).view({1, 2, 2})); },
       "cross_entropy_loss: Target 7 is out of bounds for 3 classes, at [0, 1, 1] of the targets."},
      {"an empty holder",
       [] {
         nn::Linear { nullptr } -> forward(ones({1}));
       },
       "Accessing empty ModuleHolder of ebb::nn::Linear. It was constructed with nullptr. Assign a module "
       "before the first use: fc = register_module(\"fc\", ebb::nn::Linear(...))."},
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
      {"channels that do not fit deep in a net", [] { Net()(ones({8, 2, 5, 5})); },
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
      {"an index beyond a table", [] { nn::Embedding(3, 2)(tensor({0, 5}, kLong)); },
       "embedding: index 5 is out of bounds for dimension 0 with size 3.\n  in module "
       "ebb::nn::Embedding(num_embeddings=3, embedding_dim=2)"},
      {"shapes that do not multiply", [&] { linear->forward(ones({4, 3})); },
       "linear: input of shape [4, 3] does not fit a weight of shape [2, 2] ([out, in]): the last dimension "
       "of "
       "the input must be `in`.\n  in module ebb::nn::Linear(in_features=2, out_features=2, bias=true)"},
      {"a backward without anything recorded", [] { ones({2}).sum().backward(); },
       "element 0 of tensors does not require grad and does not have a grad_fn. Call requires_grad_() on the "
       "leaves, and check that no NoGradGuard was alive in the forward pass."},
      {"a second backward",
       [&] {
         const Tensor y = linear(ones({1, 2})).exp().sum();
         y.backward();
         y.backward();
       },
       "Trying to backward through the graph a second time (ExpBackward0): the saved tensors have already "
       "been "
       "freed. Specify retain_graph=true in the first backward() or grad() call."},
      {"a backward from many numbers", [&] { linear(ones({1, 2})).backward(); },
       "grad can be implicitly created only for scalar outputs; got shape [1, 2]. Pass a gradient of that "
       "shape, or reduce with sum() first."},
      {"a parameter that is written in place", [&] { linear->weight.add_(1); },
       "add_: a leaf Variable that requires grad is being used in an in-place operation. Write under "
       "NoGradGuard, or use the out-of-place op."},
      {"shapes that do not broadcast", [] { ones({2, 3}) + ones({2, 4}); },
       "add: the shapes [2, 3] and [2, 4] do not broadcast: the size at dimension 1 must match or be 1 (3 "
       "and "
       "4)."},
      {"classes as floats", [] { F::cross_entropy(ones({4, 3}), ones({4})); },
       "cross_entropy_loss: expected scalar type Long but found Float. Convert the target with "
       ".to(ebb::kLong)."},
      {"integers into a layer", [&] { linear(ones({1, 2}, kLong)); },
       "linear: expected both tensors in one dtype, got Long and Float. Convert one with .to(dtype).\n  in "
       "module ebb::nn::Linear(in_features=2, out_features=2, bias=true)"},
      {"an image without a batch dimension", [] { nn::BatchNorm2d(3)(ones({3, 8, 8})); },
       "expected 4D input (got 3D input): shape [3, 8, 8].\n  in module ebb::nn::BatchNorm2d(3, eps=1e-05, "
       "momentum=0.1, affine=true, track_running_stats=true)"},
      {"a batch of one example in training", [] { nn::BatchNorm1d(3)(ones({1, 3})); },
       "Expected more than 1 value per channel when training, got input size [1, 3]. Give it a larger batch, "
       "or call eval() first.\n  in module ebb::nn::BatchNorm1d(3, eps=1e-05, momentum=0.1, affine=true, "
       "track_running_stats=true)"},
      {"a module that is registered twice", [] { Net()->register_module("flat", Flat()); },
       "Submodule 'flat' already defined. Give it another name."},
      {"a name with a dot", [] { Net()->register_module("a.b", Flat()); },
       "Submodule name must not contain a dot (got 'a.b'): dots separate the modules of a path. Use an "
       "underscore."},
      {"a gradient that is not there", [&] { nn::Linear(2, 2)->weight.grad().add(1); },
       "the tensor is undefined: it was default-constructed, moved from, or is an absent gradient. Assign it "
       "before use, or test it with defined()."},
      {"many numbers as one", [] { (void)ones({2}).item<float>(); },
       "item: a Tensor with 2 elements cannot be converted to Scalar; shape [2]. Index one element first."},
      {"doubles as floats", [] { (void)ones({2}, kDouble).data_ptr<float>(); },
       "data_ptr: expected scalar type Float but found Double. Request the tensor's own type, or convert it "
       "with .to(dtype)."},
      {"a view of a transpose", [] { ones({2, 3}).t().view({6}); },
       "view: size [6] is not compatible with the sizes [3, 2] and strides [1, 3] of the input (at least one "
       "dimension spans two contiguous subspaces). Use reshape(...) instead."},
      {"an optimizer of what is computed", [&] { optim::SGD({linear->weight * 2}, 0.1); },
       "optimizer: can't optimize a non-leaf Tensor, of shape [2, 2] and computed by MulBackward1. Pass the "
       "leaf, such as one of module->parameters(), or a detach()ed copy."},
      {"a learning rate below 0", [&] { optim::SGD(linear->parameters(), -0.1); },
       "SGD: Invalid learning rate: -0.1."},
      {"a state of another net",
       [&] {
         std::stringstream file;
         save(linear, file);
         nn::Linear wider(3, 2);
         load(wider, file);
       },
       "load_state_dict: the state does not fit ebb::nn::LinearImpl:\n  Of another shape:\n    \"weight\": "
       "the state has [2, 2], the module [2, 3]\nWhere shapes differ, construct the module with "
       "those of the state, or load a state without these entries with strict=false."},
      {"a file that is not there",
       [] {
         Tensor x;
         load(x, "nothing.pt");
       },
       "cannot open \"nothing.pt\": No such file or directory. Check the path and its permissions."},
      {"gradients of integers", [] { ones({2}, kLong).set_requires_grad(true); },
       "only Tensors of floating point dtype can require gradients, got Long. Convert with .to(kFloat) "
       "first."},
      {"a probability above 1", [] { nn::Dropout(2.0); },
       "dropout probability has to be between 0 and 1, but got 2."},
      {"a batch of no examples",
       [] { data::make_data_loader(data::datasets::TensorDataset(ones({4, 2})), 0); },
       "DataLoader: batch_size must be at least 1, got 0."},
      {"a clone of a module that is not Cloneable", [] { Flat()->clone(); },
       "clone() has not been implemented for (anonymous namespace)::FlatImpl. Subclass "
       "ebb::nn::Cloneable<(anonymous namespace)::FlatImpl> instead of ebb::nn::Module to inherit the "
       "ability "
       "to clone."},
      {"a tensor of InferenceMode in a graph",
       [&] {
         Tensor x;
         {
           const InferenceMode guard;
           x = ones({1, 2});
         }
         linear(x);
       },
       "AddmmBackward0: inference tensors cannot be saved for backward. clone() the tensor outside "
       "InferenceMode, or run the op under NoGradGuard.\n  in module ebb::nn::Linear(in_features=2, "
       "out_features=2, bias=true)"},
  };
  for (const Mistake& each : mistakes) {
    INFO(each.what);
    CHECK(message_of(each) == each.message);
  }
}

TEST_CASE("an error in a DataLoader worker names its type, the dataset and the indices of the examples") {
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

TEST_CASE("an error in backward names the line that called backward") {
  const auto called_at = [](int line) {
    return Contains("\n  in backward() called at tests/mistakes/mistakes_test.cpp:" + std::to_string(line));
  };
  CHECK_THROWS_WITH(ones({1}).backward(), called_at(__LINE__));
  CHECK_THROWS_WITH(autograd::backward({ones({1})}), called_at(__LINE__));
}

TEST_CASE("an error in backward names no module if the op ran outside modules or the module was destroyed") {
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

TEST_CASE("anomaly mode names the module of a failing node") {
  const autograd::DetectAnomalyGuard guard;
  nn::Sequential net(nn::Functional([](const Tensor& x) { return x.sqrt(); }));
  const Tensor x = zeros({2}, TensorOptions().requires_grad(true));
  CHECK_THROWS_WITH(
      (net->forward(x) * 0).sum().backward(),
      Contains("'SqrtBackward0' returned nan values in its 0th output, the gradient of input 1.") &&
          Contains("recorded in module '0', ebb::nn::FunctionalImpl"));
}

TEST_CASE("an unregistered member with parameters warns at its first forward") {
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

TEST_CASE("a scheduler that is stepped before its optimizer warns once") {
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

TEST_CASE("version() returns the version of the headers") {
  CHECK(std::string(version()) == EBB_VERSION);
  CHECK(EBB_VERSION == std::to_string(EBB_VERSION_MAJOR) + "." + std::to_string(EBB_VERSION_MINOR) + "." +
                           std::to_string(EBB_VERSION_PATCH));
}
