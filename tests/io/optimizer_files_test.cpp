// Optimizer files of PyTorch and libtorch (tests/io/data): they are read, and training continues with the
// same results.
#include <ebb/ebb.h>
#include <ebb/io/pytorch.h>

#include "support/catch.h"
#include "support/files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <sstream>

using namespace ebb;
using support::Contains;
using support::temporary;

namespace {

std::string file(const std::string& name) { return source_dir() + "/tests/io/data/" + name; }

using Groups = std::vector<optim::OptimizerParamGroup>;
using Made = std::unique_ptr<optim::Optimizer>;

// The options differ from those of the files, which must win.
template <class Kind>
Made made(const Groups& groups) {
  return std::make_unique<Kind>(groups);
}
const std::map<std::string, Made (*)(const Groups&)> kMakers{{"sgd", made<optim::SGD>},
                                                             {"adam", made<optim::Adam>},
                                                             {"adamw", made<optim::AdamW>},
                                                             {"rmsprop", made<optim::RMSprop>},
                                                             {"adagrad", made<optim::Adagrad>},
                                                             {"lbfgs", made<optim::LBFGS>},
                                                             {"nadam", made<optim::NAdam>},
                                                             {"radam", made<optim::RAdam>},
                                                             {"adadelta", made<optim::Adadelta>},
                                                             {"adamax", made<optim::Adamax>},
                                                             {"asgd", made<optim::ASGD>},
                                                             {"rprop", made<optim::Rprop>},
                                                             {"adafactor", made<optim::Adafactor>},
                                                             {"muon", made<optim::Muon>}};
constexpr const char* kOfLibtorch[] = {"sgd", "adam", "adamw", "rmsprop", "adagrad", "lbfgs"};

// Trains like make.py and libtorch.cpp.
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

/// The parameter groups of an optimizer in a file: one group, one each for weight and bias, or only the
/// weight.
Groups grouped(const nn::Linear& model, const std::string& path, const std::string& name) {
  const pytorch::Value groups = pytorch::read(path).at(name).at("optimizer").at("param_groups");
  if (!std::holds_alternative<pytorch::List>(groups.content()) ||
      groups.at(0).at("params").as_list().size() == 2)
    return {model->parameters()};
  Groups split{std::vector<Tensor>{model->weight}};
  if (groups.as_list().size() == 2) split.emplace_back(std::vector<Tensor>{model->bias});
  return split;
}

void goes_on(const std::string& path, const std::string& name) {
  INFO(path << " " << name);
  nn::Linear model(2, 1), after(2, 1);
  load(model, path, LoadOptions().key(name + ".model"));
  load(after, path, LoadOptions().key(name + ".after"));
  CHECK_FALSE(equal(model->weight, after->weight));
  const Made optimizer = kMakers.at(name)(grouped(model, path, name));
  load(*optimizer, path, name + ".optimizer");
  steps(model, *optimizer, 2);
  check_same(model, after);
}

/// Checks that two values are equal; the entries in `less` may be missing on one side.
void same(const pytorch::Value& mine, const pytorch::Value& theirs, const std::vector<std::string>& less) {
  if (theirs.is_dict()) {
    for (const auto& [key, value] : theirs.as_dict()) {
      const std::string name = key.content().index() == 2 ? std::to_string(key.as_int()) : key.as_string();
      if (std::find(less.begin(), less.end(), name) != less.end()) continue;
      INFO(name);
      const auto& own = mine.as_dict();
      const auto found = std::find_if(own.begin(), own.end(), [&k = key](const auto& entry) {
        return entry.first.content().index() == k.content().index() &&
               (k.content().index() == 2 ? entry.first.as_int() == k.as_int()
                                         : entry.first.as_string() == k.as_string());
      });
      REQUIRE(found != own.end());
      same(found->second, value, less);
    }
  } else if (theirs.is_tensor()) {
    const Tensor &x = mine.as_tensor(), &y = theirs.as_tensor();
    CHECK(x.sizes() == y.sizes());
    CHECK(allclose(x.to(kDouble), y.to(kDouble), 1e-6, 1e-9));
  } else if (theirs.is_none()) {
    CHECK(mine.is_none());
  } else if (std::holds_alternative<bool>(theirs.content())) {
    CHECK(mine.as_bool() == theirs.as_bool());
  } else if (std::holds_alternative<std::string>(theirs.content())) {
    CHECK(mine.as_string() == theirs.as_string());
  } else if (std::holds_alternative<pytorch::List>(theirs.content()) ||
             std::holds_alternative<pytorch::Tuple>(theirs.content())) {
    REQUIRE(mine.content().index() == theirs.content().index());
    REQUIRE(mine.as_list().size() == theirs.as_list().size());
    for (std::size_t i = 0; i < theirs.as_list().size(); ++i) same(mine.at(i), theirs.at(i), less);
  } else {
    CHECK(mine.as_double() == theirs.as_double());
  }
}

}  // namespace

TEST_CASE("training resumes from a PyTorch optimizer state_dict as in PyTorch") {
  for (const char* const path : {"runs.pt", "groups.pt"}) {
    const pytorch::Value runs = pytorch::read(file(path));
    for (const auto& [name, run] : runs.as_dict()) goes_on(file(path), name.as_string());
    CHECK(runs.as_dict().size() >= 12);
  }
}

TEST_CASE("an optimizer round trip through the state_dict format of PyTorch resumes training") {
  for (const char* const path : {"runs.pt", "groups.pt"}) {
    const pytorch::Value runs = pytorch::read(file(path));
    for (const auto& [key, run] : runs.as_dict()) {
      const std::string name = key.as_string();
      INFO(path << " " << name);
      nn::Linear model(2, 1);
      const Made optimizer = kMakers.at(name)(grouped(model, file(path), name));
      load(*optimizer, file(path), name + ".optimizer");
      const pytorch::Value mine = pytorch::state_dict(*optimizer);
      // L-BFGS stores "al" for its own use, and the other entries select the implementation.
      same(mine, run.at("optimizer"),
           {"al", "foreach", "fused", "capturable", "differentiable", "param_names"});
      same(run.at("optimizer"), mine, {"initial_lr", "maximize", "decoupled_weight_decay"});
      const std::string written = temporary("written.pt");
      pytorch::write(written, pytorch::Dict{{name, pytorch::Dict{{"model", run.at("model")},
                                                                 {"optimizer", mine},
                                                                 {"after", run.at("after")}}}});
      goes_on(written, name);
    }
  }
  nn::Linear model(2, 1);
  CHECK_THROWS_WITH(pytorch::state_dict(optim::Lion(model->parameters())),
                    Contains("PyTorch has no such optimizer"));
  CHECK_THROWS_WITH(
      pytorch::state_dict(optim::Adam(model->parameters(), optim::AdamOptions().master_weights(true))),
      Contains("master_weights"));
}

TEST_CASE("training resumes from an optimizer in a libtorch archive as in libtorch") {
  for (const char* const name : kOfLibtorch) goes_on(file("libtorch_runs.pt"), name);
}

TEST_CASE("loading a PyTorch optimizer loads its options but not its implementation flags") {
  nn::Linear model(2, 1);
  optim::Adam adam(model->parameters());
  load(adam, file("runs.pt"), "adam.optimizer");
  const auto& options = static_cast<optim::AdamOptions&>(adam.param_groups()[0].options());
  CHECK(options.lr() == 0.05);
  CHECK(options.betas() == std::tuple(0.8, 0.95));
  CHECK(options.amsgrad());
  auto& state = static_cast<optim::AdamParamState&>(*adam.state().at(model->bias.unsafeGetTensorImpl()));
  CHECK(state.step() == 3);
  // In PyTorch, rates and betas may be tensors.
  const pytorch::Dict group{{"lr", scalar_tensor(0.25, kFloat)},
                            {"betas", pytorch::Tuple{{scalar_tensor(0.5, kFloat), 0.75}}},
                            {"params", pytorch::List{0, 1}}};
  pytorch::write(temporary("tensors.pt"),
                 pytorch::Dict{{"state", pytorch::Dict()}, {"param_groups", pytorch::List{group}}});
  load(adam, temporary("tensors.pt"));
  CHECK(options.lr() == 0.25);
  CHECK(options.betas() == std::tuple(0.5, 0.75));
  // The optimizer of a checkpoint is found under its usual names.
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

TEST_CASE("loading the state of an optimizer that does not match throws and changes nothing") {
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
  // A setting that the optimizer does not have is an error, like a wrong name.
  const auto group = [](const char* option, bool value) {
    pytorch::write(temporary("option.pt"),
                   pytorch::Dict{{"state", pytorch::Dict()},
                                 {"param_groups", pytorch::List{pytorch::Dict{
                                                      {option, value}, {"params", pytorch::List{0, 1}}}}}});
  };
  group("amsgrad", true);
  CHECK_THROWS_WITH(load(sgd, temporary("option.pt")), Contains("SGD"));
  group("decoupled_weight_decay", false);
  optim::AdamW adamw(nn::Linear(2, 1)->parameters());
  CHECK_THROWS_WITH(load(adamw, temporary("option.pt")), Contains("Load it into an Adam"));
}

TEST_CASE("an optimizer round trip through a libtorch archive keeps its state") {
  for (const char* const name : kOfLibtorch) {
    INFO(name);
    nn::Linear model(2, 1), after(2, 1), again(2, 1);
    load(model, file("runs.pt"), LoadOptions().key(std::string(name) + ".model"));
    const Made optimizer = kMakers.at(name)({model->parameters()});
    load(*optimizer, file("runs.pt"), std::string(name) + ".optimizer");
    const std::string start = temporary(name);
    pytorch::save(*model, start + "_model.pt");
    pytorch::save(*optimizer, start + "_optimizer.pt");
    steps(model, *optimizer, 2);
    pytorch::save(*model, start + "_after.pt");

    load(again, start + "_model.pt");
    const Made other = kMakers.at(name)({again->parameters()});
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
                    Contains("master_weights"));
  CHECK_THROWS_WITH(pytorch::save(optim::SGD(model->parameters(), optim::SGDOptions().maximize(true)),
                                  temporary("maximize.pt")),
                    Contains("libtorch has no option maximize"));
  CHECK_THROWS_WITH(
      pytorch::save(optim::Adam(model->parameters(), optim::AdamOptions().decoupled_weight_decay(true)),
                    temporary("decoupled.pt")),
      Contains("libtorch has no option decoupled_weight_decay"));
}
