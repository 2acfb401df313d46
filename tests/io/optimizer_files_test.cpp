// Optimizers of PyTorch and libtorch: their files (tests/io/data) are read, and training goes on as theirs
// did.
#include <ebb/ebb.h>
#include <ebb/io/pytorch.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <sstream>

#include "support/catch.h"
#include "support/files.h"
#include "support/source_dir.h"

using namespace ebb;
using support::Contains;
using support::temporary;

namespace {

std::string file(const std::string& name) { return source_dir() + "/tests/io/data/" + name; }

using Parameters = std::vector<Tensor>;
using Made = std::unique_ptr<optim::Optimizer>;

// With other options than the files have, which must win.
template <class Kind>
Made made(const Parameters& parameters) {
  return std::make_unique<Kind>(parameters);
}
Made made_lbfgs(const Parameters& parameters) {
  return std::make_unique<optim::LBFGS>(parameters, optim::LBFGSOptions(1));
}
const std::map<std::string, std::function<Made(const Parameters&)>> kMakers{
    {"sgd",
     [](const Parameters& parameters) {
       return std::make_unique<optim::SGD>(parameters, optim::SGDOptions(1));
     }},
    {"adam", made<optim::Adam>},
    {"adamw", made<optim::AdamW>},
    {"rmsprop", made<optim::RMSprop>},
    {"adagrad", made<optim::Adagrad>},
    {"lbfgs", made_lbfgs},
    {"nadam", made<optim::NAdam>},
    {"radam", made<optim::RAdam>},
    {"adadelta", made<optim::Adadelta>},
    {"adamax", made<optim::Adamax>},
    {"asgd", made<optim::ASGD>},
    {"rprop", made<optim::Rprop>}};
constexpr const char* kOfLibtorch[] = {"sgd", "adam", "adamw", "rmsprop", "adagrad", "lbfgs"};

// As make.py and libtorch.cpp train.
void steps(nn::Linear& model, optim::Optimizer& optimizer, int count) {
  const Tensor x = tensor({{1.0F, 2.0F}, {3.0F, -1.0F}, {0.5F, 0.0F}}), y = tensor({{1.0F}, {-2.0F}, {0.5F}});
  for (int i = 0; i < count; ++i)
    optimizer.step([&] {
      optimizer.zero_grad();
      Tensor loss = mse_loss(tanh(model(x)), y);
      loss.backward();
      return loss;
    });
}

void check_same(const nn::Linear& a, const nn::Linear& b) {
  INFO(a->weight << " " << b->weight);
  CHECK(allclose(a->weight, b->weight, 1e-5, 1e-7));
  CHECK(allclose(a->bias, b->bias, 1e-5, 1e-7));
}

void goes_on(const std::string& path, const std::string& name) {
  INFO(path << " " << name);
  nn::Linear model(2, 1), after(2, 1);
  load(model, path, LoadOptions().key(name + ".model"));
  load(after, path, LoadOptions().key(name + ".after"));
  CHECK_FALSE(equal(model->weight, after->weight));
  const Made optimizer = kMakers.at(name)(model->parameters());
  load(*optimizer, path, name + ".optimizer");
  steps(model, *optimizer, 2);
  check_same(model, after);
}

}  // namespace

TEST_CASE("training goes on from an optimizer's state_dict of PyTorch as it did there") {
  for (const auto& [name, make] : kMakers) goes_on(file("runs.pt"), name);
}

TEST_CASE("training goes on from an optimizer of a libtorch archive as it did there") {
  for (const char* const name : kOfLibtorch) goes_on(file("libtorch_runs.pt"), name);
}

TEST_CASE("options come with an optimizer of PyTorch, and those that say how it computes do not") {
  nn::Linear model(2, 1);
  optim::Adam adam(model->parameters());
  load(adam, file("runs.pt"), "adam.optimizer");
  const auto& options = static_cast<optim::AdamOptions&>(adam.param_groups()[0].options());
  CHECK(options.lr() == 0.05);
  CHECK(options.betas() == std::tuple(0.8, 0.95));
  CHECK(options.amsgrad());
  auto& state = static_cast<optim::AdamParamState&>(*adam.state().at(model->bias.unsafeGetTensorImpl()));
  CHECK(state.step() == 3);
  // The optimizer of a checkpoint is found by the names that programs give it.
  optim::Adam again(model->parameters());
  const pytorch::Value run = pytorch::read(file("runs.pt")).at("adam");
  for (const char* const name : {"optimizer", "optimizer_state_dict", "optim"}) {
    pytorch::write(temporary("checkpoint.pt"),
                   pytorch::Dict{{"model", run.at("model")}, {name, run.at("optimizer")}, {"epoch", 3}});
    optim::Adam found(model->parameters());
    load(found, temporary("checkpoint.pt"));
    CHECK(static_cast<optim::AdamOptions&>(found.defaults()).amsgrad() == false);
    CHECK(static_cast<optim::AdamOptions&>(found.param_groups()[0].options()).amsgrad());
    std::ifstream stream(temporary("checkpoint.pt"), std::ios::binary);
    load(again, stream);
  }
}

TEST_CASE("an optimizer that does not fit is refused, and nothing has changed") {
  nn::Linear model(2, 1);
  optim::SGD sgd(model->parameters(), optim::SGDOptions(0.5).momentum(0.9));
  CHECK_THROWS_WITH(load(sgd, file("runs.pt"), "adam.optimizer"), Contains("runs.pt") && Contains("SGD"));
  CHECK_THROWS_WITH(load(sgd, file("runs.pt"), "sdg.optimizer"), Contains("sgd"));
  CHECK_THROWS_WITH(load(sgd, file("values.pt")), Contains("values.pt"));
  CHECK(sgd.param_groups()[0].options().get_lr() == 0.5);
  CHECK(sgd.state().empty());
  nn::Linear wider(3, 1);
  optim::Adam adam(wider->parameters());
  CHECK_THROWS_WITH(load(adam, file("runs.pt"), "adam.optimizer"), Contains("[1, 2]") && Contains("[1, 3]"));
  // What PyTorch can and ebb cannot is no less an error than a wrong name.
  pytorch::write(
      temporary("maximize.pt"),
      pytorch::Dict{
          {"state", pytorch::Dict()},
          {"param_groups",
           pytorch::List{pytorch::Dict{{"lr", 0.1}, {"maximize", true}, {"params", pytorch::List{0, 1}}}}}});
  CHECK_THROWS_WITH(load(sgd, temporary("maximize.pt")), Contains("maximize"));
}

TEST_CASE("an optimizer is written for libtorch, and is read back") {
  for (const char* const name : kOfLibtorch) {
    INFO(name);
    nn::Linear model(2, 1), after(2, 1), again(2, 1);
    load(model, file("runs.pt"), LoadOptions().key(std::string(name) + ".model"));
    const Made optimizer = kMakers.at(name)(model->parameters());
    load(*optimizer, file("runs.pt"), std::string(name) + ".optimizer");
    const std::string start = temporary(name);
    pytorch::save(*model, start + "_model.pt");
    pytorch::save(*optimizer, start + "_optimizer.pt");
    steps(model, *optimizer, 2);
    pytorch::save(*model, start + "_after.pt");

    load(again, start + "_model.pt");
    const Made other = kMakers.at(name)(again->parameters());
    load(*other, start + "_optimizer.pt");
    steps(again, *other, 2);
    check_same(again, model);
    std::ostringstream stream;
    pytorch::save(*other, stream);
    CHECK(pytorch::parse(stream.str().data(), stream.str().size()).contains("param_groups"));
  }
  nn::Linear model(2, 1);
  CHECK_THROWS_WITH(pytorch::save(optim::Lion(model->parameters()), temporary("lion.pt")),
                    Contains("libtorch has no such optimizer"));
  CHECK_THROWS_WITH(pytorch::save(optim::Adam(model->parameters(), optim::AdamOptions().master_weights(true)),
                                  temporary("master.pt")),
                    Contains("master weights"));
}
