// Trees of modules that are deeper than any stack.
#include <ebb/ebb.h>

#include <pthread.h>

#include <algorithm>
#include <functional>
#include <sstream>

#include "support/catch.h"

using namespace ebb;

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

/// `depth` modules; the innermost has a parameter and a buffer.
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

/// On a stack of 256 KiB.
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

TEST_CASE("modules nested a hundred thousand deep are walked and destroyed") {
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

TEST_CASE("containers nested a hundred thousand deep are walked and destroyed") {
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

TEST_CASE("a deep tree is printed on a small stack") {
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

TEST_CASE("train and zero_grad call what a class made of them, at every depth") {
  // Its own child stays as it is whatever it is told.
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
