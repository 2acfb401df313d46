// Clones of nested modules, and moved modules.
#include <ebb/nn/parametrize.h>

#include "nn/module_rows.h"
#include "support/catch.h"
#include "support/compare.h"

#include <map>
#include <sstream>

using namespace ebb;
using support::require_same;
using Names = std::vector<std::string>;

namespace {

using modules::Row;

// A module with a child of the row, whose reset() creates a child of another row of the same class.
struct Above : nn::Cloneable<Above> {
  Above(const Row& row, const Row& other) : rows{&row, &other} { Above::reset(); }
  void reset() override { child = register_module("child", rows[made++]->make()); }
  std::vector<const Row*> rows;
  std::size_t made = 0;
  std::shared_ptr<nn::Module> child;
};

// Containers that reset() creates empty.
struct Keeper : nn::Cloneable<Keeper> {
  Keeper() { Keeper::reset(); }
  void reset() override {
    chain = register_module("chain", nn::Sequential());
    list = register_module("list", nn::ModuleList());
    dict = register_module("dict", nn::ModuleDict());
    tensors = register_module("tensors", nn::ParameterList());
    named = register_module("named", nn::ParameterDict());
  }
  nn::Sequential chain;
  nn::ModuleList list;
  nn::ModuleDict dict;
  nn::ParameterList tensors;
  nn::ParameterDict named;
};

template <class M>
std::string text(const M& module) {
  std::ostringstream stream;
  stream << module;
  return stream.str();
}

template <class M>
std::shared_ptr<M> copy_of(const std::shared_ptr<M>& module) {
  const auto copy = std::dynamic_pointer_cast<M>(module->clone());
  REQUIRE(copy);
  return copy;
}

void check_copy(const Row& row, const Row& other) {
  INFO(row.name << ", where reset() makes " << other.name);
  const auto above = std::make_shared<Above>(row, other);
  modules::fill(*above);
  above->eval();
  const auto called = [&](Above& m) {
    manual_seed(5);
    return row.call(*m.child, row.inputs);
  };
  const variable_list expected = called(*above);
  const auto copy = copy_of(above);
  CHECK(copy->state_dict().keys() == above->state_dict().keys());
  CHECK(text(*copy) == text(*above));
  const auto parts = copy->named_modules();
  CHECK(parts.keys() == above->named_modules().keys());
  for (const auto& part : parts) {
    CHECK(part.value()->path() == part.key());
    CHECK_FALSE(part.value()->is_training());
  }
  for (const Variable& x : above->state_dict().values()) x.add_(1);
  require_same(called(*copy), expected);
}

}  // namespace

TEST_CASE("clone copies submodules of every class completely even if reset() creates different submodules") {
  std::map<std::string, std::vector<Row>> by_class;
  for (auto* rows : {modules::activation_rows, modules::convolution_rows, modules::pooling_rows,
                     modules::shape_rows, modules::norm_rows, modules::recurrent_rows,
                     modules::attention_rows, modules::table_rows, modules::loss_rows})
    for (Row& row : rows()) by_class[row.name.substr(0, row.name.find(' '))].push_back(std::move(row));
  for (const auto& [name, rows] : by_class)
    for (std::size_t i = 0; i < rows.size(); ++i) check_copy(rows[i], rows[(i + 1) % rows.size()]);
}

TEST_CASE("a clone copies the tensors that were passed to the module as options") {
  const auto given = [] { return ones({4, 3}).requires_grad_(); };
  const std::vector<std::shared_ptr<nn::Module>> originals = {
      nn::Embedding(nn::EmbeddingOptions(4, 3)._weight(ones({4, 3}))).ptr(),
      nn::EmbeddingBag(nn::EmbeddingBagOptions(4, 3)._weight(given())).ptr(),
      nn::Embedding::from_pretrained(ones({4, 3})).ptr(),
      nn::CrossEntropyLoss(nn::CrossEntropyLossOptions().weight(given())).ptr(),
      nn::BCEWithLogitsLoss(nn::BCEWithLogitsLossOptions().weight(given()).pos_weight(given())).ptr(),
      nn::LinearCrossEntropyLoss(nn::LinearCrossEntropyLossOptions(2, 4).weight(ones({4}).requires_grad_()))
          .ptr(),
      nn::FractionalMaxPool2d(nn::FractionalMaxPool2dOptions(2).output_size(1)._random_samples(given()))
          .ptr()};
  for (const auto& original : originals) {
    INFO(text(*original));
    const auto copy = original->clone();
    const auto before = original->state_dict();
    copy->to(kDouble);
    const auto own = copy->state_dict();
    CHECK(own.keys() == before.keys());
    for (const auto& item : original->state_dict()) {
      CHECK(item->dtype() == kFloat);
      CHECK(own[item.key()].dtype() == kDouble);
      CHECK(own[item.key()].requires_grad() == item->requires_grad());
      CHECK_FALSE(own[item.key()].is_same(before[item.key()]));
    }
  }
}

TEST_CASE("a clone has the same frozen parameters") {
  nn::Linear m(2, 3);
  m->bias.requires_grad_(false);
  const auto copy = copy_of(m.ptr());
  CHECK(copy->weight.requires_grad());
  CHECK_FALSE(copy->bias.requires_grad());
  const auto table = nn::Embedding::from_pretrained(ones({4, 3}));
  CHECK_FALSE(copy_of(table.ptr())->weight.requires_grad());
  CHECK_FALSE(table->weight.requires_grad());
}

TEST_CASE("clone copies the whole content of containers that were filled after reset()") {
  const auto m = std::make_shared<Keeper>();
  m->chain->push_back(nn::Linear(2, 3));
  m->list->push_back(nn::Bilinear(1, 2, 3));
  m->dict->insert("norm", nn::BatchNorm1d(3).ptr());
  m->tensors->append(randn({2}));
  m->named->insert("w", randn({3}));
  const auto copy = copy_of(m);
  const auto state = m->state_dict();
  CHECK(state.keys() == Names{"chain.0.weight", "chain.0.bias", "list.0.weight", "list.0.bias",
                              "dict.norm.weight", "dict.norm.bias", "dict.norm.running_mean",
                              "dict.norm.running_var", "dict.norm.num_batches_tracked", "tensors.0",
                              "named.w"});
  CHECK(copy->state_dict().keys() == state.keys());
  require_same(copy->state_dict().values(), state.values());
  for (const auto& item : state) CHECK_FALSE(item->is_alias_of(copy->state_dict()[item.key()]));
  CHECK(copy->chain->forward(ones({1, 2})).equal(m->chain->forward(ones({1, 2}))));
  CHECK(copy->list[0]->path() == "list.0");
  CHECK(copy->dict["norm"]->path() == "dict.norm");
  CHECK(copy->tensors[0].is_same(copy->get_parameter("tensors.0")));
  CHECK(copy->named["w"].is_same(copy->get_parameter("named.w")));
}

TEST_CASE("as in libtorch, clone leaves a child that has no clone() as reset() created it") {
  struct Plain : nn::Module {
    Plain() { weight = register_parameter("weight", ones({2})); }
    Variable weight;
  };
  struct Parent : nn::Cloneable<Parent> {
    Parent() { Parent::reset(); }
    void reset() override {
      own = register_parameter("own", ones({1}));
      child = register_module("child", std::make_shared<Plain>());
    }
    Variable own;
    std::shared_ptr<Plain> child;
  };
  const auto parent = std::make_shared<Parent>();
  parent->own.detach().fill_(5);
  parent->child->weight.detach().fill_(5);
  const auto copy = copy_of(parent);
  CHECK(equal(copy->own, full({1}, 5.0)));
  CHECK(equal(copy->child->weight, ones({2})));
  CHECK_THROWS_WITH(parent->child->clone(), support::Contains("clone() has not been implemented for"));
}

TEST_CASE("a clone of a parametrized module applies the parametrization to its own weight") {
  nn::Linear m(2, 3);
  nn::utils::parametrize::register_parametrization(*m, "weight", [](const Variable& x) { return x.exp(); });
  const auto copy = copy_of(m.ptr());
  const std::string original = "parametrizations.weight.original";
  CHECK(copy->named_parameters().keys() == m->named_parameters().keys());
  const Variable x = randn({4, 2}), weight = m->get_parameter(original).detach().clone();
  copy->get_parameter(original).detach().fill_(0);
  CHECK(equal(m->forward(x), nn::functional::linear(x, weight.exp(), m->bias)));
  CHECK(equal(copy->forward(x), nn::functional::linear(x, ones({3, 2}), m->bias)));
}

TEST_CASE("move assignment of a module transfers name, tensors, children and mode") {
  nn::Module from("From"), to("To");
  const Variable weight = from.register_parameter("weight", ones({2}));
  const Variable count = from.register_buffer("count", zeros({1}));
  const nn::Linear child = from.register_module("child", nn::Linear(1, 1));
  from.eval();
  to.register_parameter("old", ones({1}));
  to = std::move(from);
  CHECK(to.name() == "From");
  CHECK(to.named_parameters().keys() == Names{"weight", "child.weight", "child.bias"});
  CHECK(to.get_parameter("weight").is_same(weight));
  CHECK(to.get_buffer("count").is_same(count));
  CHECK(to.children() == std::vector<std::shared_ptr<nn::Module>>{child.ptr()});
  CHECK_FALSE(to.is_training());
}

TEST_CASE("children of a moved or assigned module have a path below their new parent") {
  struct Net : nn::Module {
    Net() { fc = register_module("fc", nn::Linear(2, 3)); }
    Tensor forward(const Tensor& x) { return fc(x); }
    nn::Linear fc{nullptr};
  };
  auto first = std::make_unique<Net>();
  Net moved(std::move(*first));
  first.reset();
  CHECK(moved.fc->path() == "fc");
  CHECK_THROWS_WITH(moved.forward(ones({1, 5})), support::Contains("fc"));
  Net assigned;
  const nn::Linear before = assigned.fc;
  assigned = std::move(moved);
  CHECK(assigned.fc->path() == "fc");
  CHECK(before->path().empty());
  Net source, target;
  const nn::Linear old = target.fc;
  target = source;  // target shares the children, whose parent remains the source
  CHECK(old->path().empty());
  CHECK(source.fc->path() == "fc");
  nn::AnyModule any{Net()};
  CHECK_THROWS_WITH(any.forward(ones({1, 5})), support::Contains("fc"));
}
