// Parameters that modules share: lists, states, files, optimizers, clones.
#include <ebb/ebb.h>

#include "support/catch.h"

#include <sstream>

using namespace ebb;
using support::Contains;

namespace {

using Names = std::vector<std::string>;

// An embedding whose weight is also the weight of the last layer.
struct TiedImpl : nn::Cloneable<TiedImpl> {
  TiedImpl() { TiedImpl::reset(); }
  void reset() override {
    table = register_module("table", nn::Embedding(5, 3));
    head = register_module("head", nn::Linear(nn::LinearOptions(3, 5).bias(false)));
    tie_weights();
  }
  void tie_weights() override {
    if (tied) head->weight = head->replace_parameter("weight", table->weight);
  }
  Variable forward(const Variable& words) { return head(table(words)); }
  nn::Embedding table = nullptr;
  nn::Linear head = nullptr;
  bool tied = true;
};
EBB_MODULE(Tied);

// A module whose clones are not tied.
struct CarelessImpl : nn::Cloneable<CarelessImpl> {
  CarelessImpl() {
    CarelessImpl::reset();
    b->weight = b->replace_parameter("weight", a->weight);
  }
  void reset() override {
    a = register_module("a", nn::Linear(2, 2));
    b = register_module("b", nn::Linear(2, 2));
  }
  nn::Linear a = nullptr, b = nullptr;
};

}  // namespace

TEST_CASE("a shared parameter is listed once, and state_dict contains it under each of its names") {
  Tied net;
  REQUIRE(net->parameters().size() == 1);
  CHECK(net->named_parameters().keys() == Names{"table.weight"});
  CHECK(net->state_dict().keys() == Names{"table.weight", "head.weight"});
  CHECK(net->head->weight.is_same(net->table->weight));

  nn::Sequential twice;
  const nn::BatchNorm1d norm(2);
  twice->push_back("a", norm);
  twice->push_back("b", norm);
  CHECK(twice->named_parameters().keys() == Names{"a.weight", "a.bias"});
  CHECK(twice->named_buffers().size() == 3);
  CHECK(twice->buffers().size() == 3);
  CHECK(twice->state_dict().size() == 10);
}

TEST_CASE("an optimizer updates a shared parameter once") {
  Tied net;
  optim::SGD sgd(net->parameters(), 0.5);
  const Variable before = net->table->weight.detach().clone();
  net->forward(tensor(std::vector<std::int64_t>{0, 3})).sum().backward();
  const Variable grad = net->table->weight.grad().clone();
  sgd.step();
  CHECK(allclose(net->head->weight, before - grad * 0.5));
}

TEST_CASE("load_state_dict sets a shared parameter by any of its names") {
  Tied from, to;
  CHECK(to->load_state_dict(from->state_dict()).missing_keys.empty());
  CHECK(equal(to->table->weight, from->table->weight));
  for (const char* name : {"table.weight", "head.weight"}) {
    nn::Module::StateDict one;
    one.insert(name, ones({5, 3}));
    Tied net;
    CHECK(net->load_state_dict(one).missing_keys.empty());
    CHECK(equal(net->head->weight, ones({5, 3})));
    CHECK(net->head->weight.is_same(net->table->weight));
  }
  CHECK(to->load_state_dict(from->state_dict(), true, /*assign=*/true).missing_keys.empty());
  CHECK(to->head->weight.is_same(to->table->weight));
  CHECK(to->parameters().size() == 1);
  CHECK_THROWS_WITH(to->load_state_dict(nn::Module::StateDict()),
                    Contains("\"table.weight\"") && Contains("\"head.weight\""));
}

TEST_CASE("a file contains a shared tensor once and loads into modules with and without sharing") {
  Tied net;
  std::ostringstream out;
  save(net, out);
  std::istringstream read(out.str());
  const safetensors::Reader file(read);
  CHECK(file.keys() == Names{"table.weight"});
  CHECK(file.metadata().at("head.weight") == "table.weight");
  Tied other;
  std::istringstream again(out.str());
  CHECK(load(other, again).missing_keys.empty());
  CHECK(equal(other->table->weight, net->table->weight));

  struct Untied : nn::Module {
    nn::Embedding table = register_module("table", nn::Embedding(5, 3));
    nn::Linear head = register_module("head", nn::Linear(nn::LinearOptions(3, 5).bias(false)));
  };
  const auto untied = std::make_shared<Untied>();
  std::istringstream third(out.str());
  load(*untied, third);
  CHECK(equal(untied->head->weight, net->table->weight));
  CHECK_FALSE(untied->head->weight.is_alias_of(untied->table->weight));
}

TEST_CASE("an archive stores a shared tensor once and loads it under each name") {
  Tied net;
  serialize::OutputArchive out, inner;
  net->save(inner);
  out.write("model", inner);
  out.write("also", net->table->weight);
  std::stringstream bytes;
  out.save_to(bytes);
  const safetensors::Reader file(bytes);
  CHECK(file.keys() == Names{"model.table.weight"});
  CHECK(file.metadata().at("model.head.weight") == "model.table.weight");

  std::istringstream again(bytes.str());
  serialize::InputArchive in, model;
  in.load_from(again);
  CHECK(in.keys() == Names{"model", "also"});
  in.read("model", model);
  Tied to;
  to->load(model);
  CHECK(equal(to->head->weight, net->head->weight));
  CHECK(to->head->weight.is_same(to->table->weight));
  Variable also;
  in.read("also", also);
  CHECK(equal(also, net->table->weight));

  // A file with a tensor under each name can also be loaded.
  std::stringstream twice;
  safetensors::write(twice, {{"table.weight", ones({5, 3})}, {"head.weight", ones({5, 3})}});
  serialize::InputArchive both;
  both.load_from(twice);
  to->load(both);
  CHECK(equal(to->head->weight, ones({5, 3})));
  CHECK(to->parameters().size() == 1);
}

TEST_CASE("an archive stores a transposed view as a separate tensor") {
  const Variable x = arange(4, kFloat).reshape({2, 2});
  serialize::OutputArchive out;
  out.write("x", x);
  out.write("turned", x.t());
  std::stringstream bytes;
  out.save_to(bytes);
  serialize::InputArchive in;
  in.load_from(bytes);
  Variable turned;
  in.read("turned", turned);
  CHECK(equal(turned, x.t()));
}

TEST_CASE("metadata that refers to a missing tensor adds no key") {
  std::stringstream bytes;
  safetensors::write(bytes, {{"x", ones({1})}}, {{"format", "pt"}, {"x", "x"}, {"y", "z"}});
  serialize::InputArchive in;
  in.load_from(bytes);
  CHECK(in.keys() == Names{"x"});
}

TEST_CASE("the optimizer state of shared parameters survives saving and loading") {
  Tied net, other;
  optim::Adam adam(net->parameters(), 0.1), again(other->parameters(), 0.1);
  const Variable words = tensor(std::vector<std::int64_t>{0, 3});
  for (int i = 0; i < 2; ++i) {
    adam.zero_grad();
    net->forward(words).pow(2).sum().backward();
    adam.step();
  }
  std::stringstream weights, state;
  save(net, weights);
  save(adam, state);
  load(other, weights);
  load(again, state);
  const std::pair<Tied, optim::Adam*> runs[] = {{net, &adam}, {other, &again}};
  for (auto [each, optimizer] : runs) {
    optimizer->zero_grad();
    each->forward(words).pow(2).sum().backward();
    optimizer->step();
  }
  CHECK(equal(net->head->weight, other->head->weight));
}

TEST_CASE("clone preserves sharing of parameters and modules") {
  Tied net;
  const auto copy = std::dynamic_pointer_cast<TiedImpl>(net->clone());
  CHECK(copy->head->weight.is_same(copy->table->weight));
  CHECK(copy->parameters().size() == 1);
  CHECK(equal(copy->head->weight, net->head->weight));
  CHECK_FALSE(copy->head->weight.is_alias_of(net->head->weight));
  SECTION("nested modules that share a parameter") {
    nn::Sequential outer(net);
    const auto deep = std::dynamic_pointer_cast<nn::SequentialImpl>(outer->clone());
    CHECK(deep->parameters().size() == 1);
    CHECK(deep->at<TiedImpl>(0).head->weight.is_same(deep->at<TiedImpl>(0).table->weight));
  }
  SECTION("a module that occurs twice is copied once") {
    const nn::Linear linear(2, 2);
    const nn::Sequential twice(linear, nn::ReLU(), linear);
    const auto both = std::dynamic_pointer_cast<nn::SequentialImpl>(twice->clone());
    CHECK(both->ptr(0) == both->ptr(2));
    CHECK(both->ptr(0) != twice->ptr(0));
    CHECK(both->parameters().size() == 2);
    CHECK(nn::Linear(linear->clone()->as<nn::Linear>()->options)->parameters().size() == 2);
    CHECK(linear->clone() != linear->clone());
  }
  SECTION("a parameter that occurs twice in a list is copied once") {
    const Variable w = ones({2}).requires_grad_();
    const nn::ParameterList list(w, w);
    const auto both = std::dynamic_pointer_cast<nn::ParameterListImpl>(list->clone());
    CHECK(both->size() == 2);
    CHECK(both->at(0).is_same(both->at(1)));
  }
  SECTION("an error explains sharing that clone cannot restore") {
    CHECK_THROWS_WITH(std::make_shared<CarelessImpl>()->clone(),
                      Contains("'b.weight'") && Contains("tie_weights()"));
  }
}

TEST_CASE("a parameter can be replaced by a tensor of the same shape") {
  nn::Linear linear(2, 3);
  CHECK_THROWS_WITH(linear->replace_parameter("weight", ones({2, 3})), Contains("the shape [3, 2]"));
  CHECK_THROWS_WITH(linear->replace_parameter("weight", Variable()), Contains("undefined"));
  CHECK_THROWS_WITH(linear->replace_parameter("wait", ones({2, 3})), Contains("'wait' is not defined"));
}
