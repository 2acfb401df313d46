// Module: registration, traversal, state, clones, errors with paths, and very deep trees.
#include <ebb/ebb.h>

#include "support/catch.h"

#include <pthread.h>

#include <algorithm>
#include <functional>
#include <sstream>

using namespace ebb;
using support::Contains;

namespace {

struct BlockImpl : nn::Cloneable<BlockImpl> {
  BlockImpl(std::int64_t in, std::int64_t out) : in_(in), out_(out) { reset(); }
  void reset() override {
    fc = register_module("fc", nn::Linear(in_, out_));
    norm = register_module("norm", nn::BatchNorm1d(out_));
    scale = register_parameter("scale", ones({1}));
    offset = register_buffer("offset", zeros({out_}));
  }
  Variable forward(const Variable& x) { return norm(fc(x)) * scale + offset; }
  std::int64_t in_, out_;
  nn::Linear fc{nullptr};
  nn::BatchNorm1d norm{nullptr};
  Variable scale, offset;
};
EBB_MODULE(Block);

struct Net : nn::Module {
  Net() {
    first = register_module("first", Block(3, 4));
    second = register_module("second", nn::Linear(4, 2));
  }
  Variable forward(const Variable& x) { return second->forward(relu(first(x))); }
  Block first{nullptr};
  nn::Linear second{nullptr};
};

template <class M>
std::string text(const M& module) {
  std::ostringstream stream;
  stream << module;
  return stream.str();
}

std::vector<std::string> keys(const nn::Module::StateDict& dict) { return dict.keys(); }

}  // namespace

TEST_CASE("named_parameters and named_buffers list dotted paths with parents first") {
  Net net;
  CHECK(keys(net.named_parameters()) ==
        std::vector<std::string>{"first.scale", "first.fc.weight", "first.fc.bias", "first.norm.weight",
                                 "first.norm.bias", "second.weight", "second.bias"});
  CHECK(keys(net.named_buffers()) == std::vector<std::string>{"first.offset", "first.norm.running_mean",
                                                              "first.norm.running_var",
                                                              "first.norm.num_batches_tracked"});
  CHECK(net.parameters(false).empty());
  CHECK(net.children().size() == 2);
  CHECK(net.modules(false).size() == 4);
  CHECK_THROWS_WITH(net.modules(), Contains("std::make_shared"));
  auto shared = std::make_shared<Net>();
  CHECK(shared->modules().front().get() == shared.get());
  CHECK(shared->named_modules("net").keys()[2] == "net.first.fc");
  CHECK(shared->first->fc->path() == "first.fc");
  CHECK(shared->first->fc->name() == "ebb::nn::LinearImpl");
  CHECK(shared->second->as<nn::Linear>() != nullptr);
  CHECK(shared->second->as<nn::Conv2d>() == nullptr);
}

TEST_CASE("train(), to() and zero_grad() apply to the whole module tree") {
  auto net = std::make_shared<Net>();
  net->eval();
  CHECK_FALSE(net->first->norm->is_training());
  net->train();
  CHECK(net->first->norm->is_training());
  net->to(kDouble);
  CHECK(net->second->weight.dtype() == kDouble);
  CHECK(net->first->norm->running_mean.dtype() == kDouble);
  CHECK(net->first->norm->num_batches_tracked.dtype() == kDouble);
  net->forward(ones({2, 3}, kDouble)).sum().backward();
  CHECK(net->second->bias.grad().defined());
  net->zero_grad();
  CHECK(net->second->bias.grad().abs().sum().item<double>() == 0);
  net->zero_grad(/*set_to_none=*/true);
  CHECK_FALSE(net->second->bias.grad().defined());
  int count = 0;
  std::string names;
  net->apply([&](nn::Module&) { ++count; });
  net->apply([&](const std::string& name, nn::Module&) { names += name + ","; });
  static_cast<const Net&>(*net).apply([&](const nn::Module&) { ++count; });
  net->apply([&](const std::shared_ptr<nn::Module>&) { ++count; });
  CHECK(count == 15);
  CHECK(names == ",first,first.fc,first.norm,second,");
}

TEST_CASE("zero_grad detaches gradients") {
  nn::Linear fc(2, 1);
  fc(ones({3, 2})).square().sum().backward({}, true, /*create_graph=*/true);
  REQUIRE(fc->weight.grad().requires_grad());
  fc->zero_grad();
  CHECK_FALSE(fc->weight.grad().requires_grad());
  CHECK(fc->weight.grad().abs().sum().item<float>() == 0);
}

TEST_CASE("register_parameter sets requires_grad to the given value") {
  nn::Module net("Net");
  for (const bool before : {false, true})
    for (const bool wanted : {false, true}) {
      const std::string name = std::to_string(before) + std::to_string(wanted);
      CHECK(net.register_parameter(name, zeros({1}).requires_grad_(before), wanted).requires_grad() ==
            wanted);
    }
}

TEST_CASE("to() with a memory format changes only tensors whose number of dimensions fits the format") {
  nn::Sequential net(nn::Conv2d(3, 4, 2), nn::BatchNorm2d(4), nn::Conv3d(2, 3, 2));
  const auto parameters = net->named_parameters();
  const Variable plane = parameters["0.weight"], space = parameters["2.weight"], bias = parameters["0.bias"];
  net->to(MemoryFormat::ChannelsLast);
  CHECK(plane.is_contiguous(MemoryFormat::ChannelsLast));
  CHECK(space.is_contiguous());
  CHECK(bias.is_contiguous());
  net->to(MemoryFormat::ChannelsLast3d);
  CHECK(space.is_contiguous(MemoryFormat::ChannelsLast3d));
  net->to(MemoryFormat::Contiguous);
  CHECK(plane.is_contiguous());
  CHECK(space.is_contiguous());
}

TEST_CASE("registered names must be new, non-empty and without dots") {
  nn::Sequential net(nn::Linear(1, 1));
  CHECK_THROWS_WITH(net->register_parameter("a.b", ones({1})),
                    Contains("must not contain a dot (got 'a.b')"));
  CHECK_THROWS_WITH(net->register_buffer("", ones({1})), Contains("must not be empty"));
  CHECK_THROWS_WITH(net->register_module("0", nn::Linear(1, 1)), Contains("Submodule '0' already defined"));
  CHECK_THROWS_WITH(net->unregister_module("x"), Contains("No Module with name `x`"));
  const auto old = net->ptr(0);
  const nn::Linear fresh(2, 3);
  net->replace_module("0", fresh);
  CHECK(old->path().empty());
  CHECK(fresh->path() == "0");
  CHECK(net->named_parameters()["0.weight"].sizes() == IntArrayRef({3, 2}));
  nn::Linear none{nullptr};
  CHECK_THROWS_WITH(none->forward(ones({1})), Contains("empty ModuleHolder"));
}

TEST_CASE("a clone has separate tensors with equal values") {
  Block block(3, 2);
  auto copy = std::dynamic_pointer_cast<BlockImpl>(block->clone());
  CHECK(equal(copy->fc->weight, block->fc->weight));
  CHECK(copy->fc->weight.requires_grad());
  {
    NoGradGuard no_grad;
    copy->fc->weight.zero_();
  }
  CHECK(block->fc->weight.abs().sum().item<float>() > 0);
  CHECK(copy->named_parameters()["fc.weight"].is_same(copy->fc->weight));
  CHECK(copy->fc->path() == "fc");
  Net net;
  CHECK_THROWS_WITH(net.clone(), Contains("clone() has not been implemented for") && Contains("Cloneable"));
  nn::Sequential sequence(Block(3, 2), nn::Tanh());
  auto twin = std::dynamic_pointer_cast<nn::SequentialImpl>(sequence->clone());
  const Variable x = rand({4, 3});
  CHECK(equal(twin->forward(x), sequence->forward(x)));
}

TEST_CASE("state_dict and load_state_dict transfer the state between modules") {
  auto a = std::make_shared<Net>(), b = std::make_shared<Net>();
  a->forward(rand({5, 3}));
  const auto state = a->state_dict();
  CHECK(state.keys()[0] == "first.scale");
  CHECK(state.keys()[1] == "first.offset");
  b->load_state_dict(state);
  a->eval();
  b->eval();
  const Variable x = rand({2, 3});
  CHECK(equal(a->forward(x), b->forward(x)));
  CHECK(b->first->norm->num_batches_tracked.item<std::int64_t>() == 1);
}

TEST_CASE("load_state_dict of a wrong state reports all problems and changes nothing") {
  Net net;
  nn::Module::StateDict state;
  for (const auto& item : net.state_dict()) {
    if (item.key() == "second.bias")
      state.insert("second.biass", item.value());
    else if (item.key() == "second.weight")
      state.insert(item.key(), zeros({7}));
    else
      state.insert(item.key(), zeros_like(item.value()));
  }
  const Variable before = net.first->fc->weight.detach().clone();
  CHECK_THROWS_WITH(net.load_state_dict(state),
                    Contains("Missing") && Contains("\"second.bias\" (nearest: \"second.biass\")") &&
                        Contains("Unexpected") && Contains("[7]") && Contains("[2, 4]"));
  CHECK(equal(net.first->fc->weight, before));
  state["second.weight"] = zeros({2, 4});
  net.load_state_dict(state, /*strict=*/false);
  CHECK(net.first->fc->weight.abs().sum().item<float>() == 0);
}

TEST_CASE("an error in forward names the module") {
  auto net = std::make_shared<Net>();
  CHECK_THROWS_WITH(net->forward(ones({2, 5})),
                    Contains("in module 'first.fc', ebb::nn::Linear(in_features=3"));
  nn::Sequential sequence(nn::Linear(2, 3), nn::BatchNorm2d(3));
  CHECK_THROWS_WITH(sequence->forward(ones({1, 2})),
                    Contains("expected 4D input (got 2D input)") && Contains("in module '1'"));
}

TEST_CASE("modules and tensors can be found by their paths") {
  const auto net = std::make_shared<Net>();
  CHECK(net->get_submodule("") == net);
  CHECK(net->get_submodule("first") == net->first.ptr());
  CHECK(net->get_submodule("first.fc") == net->first->fc.ptr());
  CHECK(net->get_parameter("first.fc.weight").is_same(net->first->fc->weight));
  CHECK(net->get_parameter("first.scale").is_same(net->first->scale));
  CHECK(net->get_buffer("first.norm.running_mean").is_same(net->first->norm->running_mean));
  CHECK(Net().first->get_parameter("scale").defined());
  CHECK_THROWS_WITH(net->get_submodule("first.fv"), Contains("has no module") && Contains("\"first.fc\""));
  CHECK_THROWS_WITH(net->get_submodule("second.weight"), Contains("has no module \"second.weight\""));
  CHECK_THROWS_WITH(net->get_parameter("second.weigth"), Contains("nearest: \"second.weight\""));
  CHECK_THROWS_WITH(net->get_parameter("first.offset"), Contains("has no parameter"));
  CHECK_THROWS_WITH(net->get_buffer("first.ofset"), Contains("nearest: \"first.offset\""));

  nn::Linear plain(nn::LinearOptions(2, 2).bias(false));
  CHECK_THROWS_WITH(plain->get_parameter("bias"), Contains("has no parameter \"bias\""));
}

TEST_CASE("a module is freed with its last owner, and its children then have an empty path") {
  nn::Linear fc(2, 2);
  {
    nn::Sequential parent(fc);
    CHECK(fc->path() == "0");
  }
  CHECK(fc->path().empty());
  std::weak_ptr<nn::Module> weak = fc.ptr();
  fc = nullptr;
  CHECK(weak.expired());
}

TEST_CASE("a small network learns") {
  manual_seed(3);
  nn::Sequential net(nn::Linear(2, 8), nn::Tanh(), nn::Linear(8, 2));
  optim::Adam optimizer(net->parameters(), optim::AdamOptions(0.05));
  const Variable x = tensor({{0.F, 0.F}, {0.F, 1.F}, {1.F, 0.F}, {1.F, 1.F}});
  const Variable t = tensor({0, 1, 1, 0});
  for (int i = 0; i < 200; ++i) {
    optimizer.zero_grad();
    nn::functional::cross_entropy(net(x), t).backward();
    optimizer.step();
  }
  CHECK(nn::functional::cross_entropy(net(x), t).item<float>() < 0.01F);
  CHECK(text(net).find("ebb::nn::Sequential(\n  (0): ebb::nn::Linear(in_features=2") == 0);
}

// Very deep trees of modules, which would overflow a recursion.

namespace {

constexpr int kDepth = 100000;

struct Nest : nn::Module {
  explicit Nest(std::shared_ptr<Nest> inner = nullptr) : child(std::move(inner)) {
    if (child) register_module("c", child);
  }
  ~Nest() override { ++destroyed; }
  std::shared_ptr<Nest> child;
  inline static int destroyed = 0;
};

/// Returns `depth` nested modules; the innermost has a parameter and a buffer.
std::shared_ptr<Nest> nest(int depth) {
  auto module = std::make_shared<Nest>();
  module->register_parameter("weight", ones({2}));
  module->register_buffer("count", zeros({1}));
  for (int i = 1; i < depth; ++i) module = std::make_shared<Nest>(module);
  return module;
}

const nn::Module& innermost(const nn::Module& module) {
  const nn::Module* at = &module;
  while (const auto* nest = at->as<Nest>()) {
    if (!nest->child) break;
    at = nest->child.get();
  }
  return *at;
}

/// Runs the body on a stack of 256 KiB.
void on_small_stack(std::function<void()> body) {
  pthread_attr_t attributes;
  REQUIRE(pthread_attr_init(&attributes) == 0);
  REQUIRE(pthread_attr_setstacksize(&attributes, 256 << 10) == 0);
  pthread_t thread;
  const auto run = [](void* f) -> void* {
    (*static_cast<std::function<void()>*>(f))();
    return nullptr;
  };
  REQUIRE(pthread_create(&thread, &attributes, run, &body) == 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

}  // namespace

TEST_CASE("modules nested 100,000 deep can be traversed and destroyed") {
  Nest::destroyed = 0;
  {
    const auto module = nest(kDepth);
    const nn::Module& last = innermost(*module);
    CHECK(module->parameters().size() == 1);
    CHECK(module->buffers().size() == 1);
    CHECK(module->modules().size() == kDepth);
    const auto parameters = module->named_parameters();
    REQUIRE(parameters.size() == 1);
    CHECK(parameters.front().key().size() == 2 * (kDepth - 1) + 6);
    CHECK(module->state_dict().size() == 2);
    CHECK(last.path().size() == 2 * (kDepth - 1) - 1);

    module->eval();
    CHECK_FALSE(last.is_training());
    CHECK_FALSE(module->is_training());
    module->train();
    CHECK(last.is_training());
    module->parameters()[0].sum().backward();
    module->zero_grad(true);
    CHECK_FALSE(module->parameters()[0].grad().defined());
    module->to(kFloat64);
    CHECK(last.parameters()[0].dtype() == kFloat64);
    int count = 0;
    module->apply([&](nn::Module&) { ++count; });
    CHECK(count == kDepth);
  }
  CHECK(Nest::destroyed == kDepth);
}

TEST_CASE("containers nested 100,000 deep can be traversed and destroyed") {
  nn::Sequential model(nn::Linear(1, 1));
  for (int i = 1; i < kDepth; ++i) {
    nn::Sequential outer;
    outer->push_back(model);
    model = outer;
  }
  CHECK(model->parameters().size() == 2);
  model->eval();
  CHECK(model->modules().size() == kDepth + 1);
  CHECK_THROWS_WITH(model->clone(), support::Contains("levels deep"));
  CHECK(nn::ModuleList(nn::Sequential(nn::Linear(1, 1)))->clone()->parameters().size() == 2);
}

TEST_CASE("a deep module tree can be printed on a small stack") {
  constexpr int depth = 3000;
  std::string text;
  on_small_stack([&] {
    std::ostringstream stream;
    stream << *nest(depth);
    text = stream.str();
  });
  CHECK(std::count(text.begin(), text.end(), '\n') == 2 * (depth - 1));
  CHECK(text.ends_with("\n  )\n)"));
}

TEST_CASE("train and zero_grad call overrides of submodules at every depth") {
  // A module whose child stays in evaluation mode in every call of train().
  struct Frozen : nn::Module {
    Frozen() : inner(register_module("inner", std::make_shared<Nest>())) { inner->eval(); }
    void train(bool on) override {
      ++calls;
      Module::train(on);
      inner->eval();
    }
    std::shared_ptr<Nest> inner;
    int calls = 0;
  };
  for (const int depth : {1, 10, 5000}) {
    const auto frozen = std::make_shared<Frozen>();
    std::shared_ptr<nn::Module> module = frozen;
    for (int i = 0; i < depth; ++i) {
      auto outer = std::make_shared<nn::Module>("outer");
      outer->register_module("c", module);
      module = outer;
    }
    for (const bool on : {true, false, true}) {
      module->train(on);
      CHECK(frozen->is_training() == on);
      CHECK_FALSE(frozen->inner->is_training());
    }
    CHECK(frozen->calls == 3);
  }
}
