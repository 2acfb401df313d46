// LoadOptions, for all file formats of modules.
#include <ebb/checkpoint.h>
#include <ebb/ebb.h>
#include <ebb/io/npy.h>
#include <ebb/io/pytorch.h>
#include <ebb/io/sharded.h>

#include "support/catch.h"
#include "support/files.h"

#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

using namespace ebb;
using support::Contains;
using support::temporary;
using Names = std::vector<std::string>;
using Named = std::vector<std::pair<std::string, Tensor>>;

namespace {

// A file format: a function that writes tensors and returns the argument of load().
struct Kind {
  const char* name;
  std::function<std::string(const Named&)> write;
};
const Kind kKinds[] = {{"safetensors",
                        [](const Named& tensors) {
                          safetensors::write(temporary("one.safetensors"), tensors);
                          return temporary("one.safetensors");
                        }},
                       {"a folder of several",
                        [](const Named& tensors) {
                          std::filesystem::remove_all(temporary("several"));
                          safetensors::write_sharded(temporary("several"), tensors, 10);
                          return temporary("several");
                        }},
                       {"an index",
                        [](const Named& tensors) {
                          std::filesystem::remove_all(temporary("indexed"));
                          return safetensors::write_sharded(temporary("indexed"), tensors, 10);
                        }},
                       {"torch.save",
                        [](const Named& tensors) {
                          pytorch::write(temporary("one.pt"), tensors);
                          return temporary("one.pt");
                        }},
                       {"libtorch",
                        [](const Named& tensors) {
                          pytorch::write_archive(temporary("archive.pt"), tensors);
                          return temporary("archive.pt");
                        }},
                       {"NumPy", [](const Named& tensors) {
                          npy::write_npz(temporary("one.npz"), tensors);
                          return temporary("one.npz");
                        }}};

Named state_of(const nn::Module& module, const std::string& prefix = "") {
  Named tensors;
  for (const auto& item : module.state_dict()) tensors.emplace_back(prefix + item.key(), item.value());
  return tensors;
}

nn::Sequential net() { return nn::Sequential(nn::Linear(3, 2), nn::BatchNorm1d(2)); }

bool same(const nn::Module& a, const nn::Module& b) {
  const auto left = a.state_dict(), right = b.state_dict();
  for (const auto& item : left)
    if (!equal(item.value(), right[item.key()])) return false;
  return left.size() == right.size();
}

// Runs `check` with the path, and with a stream if the format supports streams.
void each_way(const std::string& path, const std::function<void(bool of_stream)>& check) {
  check(false);
  if (!std::filesystem::is_directory(path) && !path.ends_with(".json")) check(true);
}
nn::IncompatibleKeys load_from(bool of_stream, nn::Sequential& to, const std::string& path,
                               const LoadOptions& options) {
  if (!of_stream) return load(to, path, options);
  std::ifstream stream(path, std::ios::binary);
  return load(to, stream, options);
}

}  // namespace

TEST_CASE("a module loads from all file formats, completely or with strict=false partly") {
  for (const Kind& kind : kKinds) {
    INFO(kind.name);
    nn::Sequential from = net();
    Named tensors = state_of(*from);
    const std::string whole = kind.write(tensors);
    each_way(whole, [&](bool of_stream) {
      nn::Sequential to = net();
      const auto keys = load_from(of_stream, to, whole, {});
      CHECK((keys.missing_keys.empty() && keys.unexpected_keys.empty()));
      CHECK(same(*to, *from));
    });

    tensors[0].first = "0.weigth";
    const std::string wrong = kind.write(tensors);
    each_way(wrong, [&](bool of_stream) {
      nn::Sequential to = net();
      const nn::Sequential before(std::dynamic_pointer_cast<nn::SequentialImpl>(to->clone()));
      try {
        load_from(of_stream, to, wrong, {});
        FAIL("a file with a wrong name was taken");
      } catch (const Error& e) {
        const std::string what = e.what();
        CHECK_THAT(what, Contains("Missing:\n    \"0.weight\" (nearest: \"0.weigth\")") &&
                             Contains("Unexpected:\n    \"0.weigth\" (nearest: \"0.weight\")"));
        CHECK((of_stream || what.find(wrong) != std::string::npos));
      }
      CHECK(same(*to, *before));
      const auto keys = load_from(of_stream, to, wrong, LoadOptions().strict(false));
      CHECK(keys.missing_keys == Names{"0.weight"});
      CHECK(keys.unexpected_keys == Names{"0.weigth"});
      CHECK(equal(to->parameters()[0], before->parameters()[0]));
      CHECK(equal(to->parameters()[1], from->parameters()[1]));
      std::ostringstream report;
      report << keys;
      CHECK(report.str() ==
            "IncompatibleKeys:\n  Missing:\n    \"0.weight\" (nearest: \"0.weigth\")\n  Unexpected:\n    "
            "\"0.weigth\" (nearest: \"0.weight\")");
    });

    tensors = state_of(*from);
    tensors[1].second = ones({5});
    const std::string misshaped = kind.write(tensors);
    each_way(misshaped, [&](bool of_stream) {
      nn::Sequential to = net();
      const nn::Sequential before(std::dynamic_pointer_cast<nn::SequentialImpl>(to->clone()));
      for (const bool strict : {true, false})
        CHECK_THROWS_WITH(load_from(of_stream, to, misshaped, LoadOptions().strict(strict)),
                          Contains("\"0.bias\": the state has [5], the module [2]"));
      CHECK(same(*to, *before));
    });
  }
}

TEST_CASE("LoadOptions rename, ignore and select names in all file formats") {
  for (const Kind& kind : kKinds) {
    INFO(kind.name);
    nn::Sequential from = net();
    Named tensors = state_of(*from, "module.");
    const std::string wrapped = kind.write(tensors);
    nn::Sequential to = net();
    CHECK_THROWS_WITH(load(to, wrapped), Contains("All names in the file begin with \"module.\"") &&
                                             Contains("prefixes({{\"module.\", \"\"}})"));
    load(to, wrapped, LoadOptions().prefixes({{"module.", ""}}));
    CHECK(same(*to, *from));

    tensors.emplace_back("head.weight", ones({1}));
    tensors.emplace_back("header", ones({1}));
    const std::string headed = kind.write(tensors);
    to = net();
    CHECK_THROWS_WITH(load(to, headed, LoadOptions().prefixes({{"module.", ""}}).ignore({"head."})),
                      Contains("header"));
    load(to, headed, LoadOptions().prefixes({{"x.", "y."}, {"module.", ""}}).ignore({"head"}));
    CHECK(same(*to, *from));
    CHECK_THROWS_WITH(
        load(to, headed, LoadOptions().prefixes({{"module.0.bias", "0.weight"}, {"module.", ""}})),
        Contains("the same name \"0.weight\""));

    tensors = state_of(*from, "ema.model.module.");
    tensors.emplace_back("epoch.value", ones({1}));
    const std::string parts = kind.write(tensors);
    each_way(parts, [&](bool of_stream) {
      nn::Sequential loaded = net();
      load_from(of_stream, loaded, parts, LoadOptions().key("ema.model").prefixes({{"module.", ""}}));
      CHECK(same(*loaded, *from));
    });
    load(to, parts, LoadOptions().key("ema.model.module"));
    CHECK_THROWS_WITH(load(to, parts, LoadOptions().key("ema.modle")), Contains("ema.model"));
  }
}

TEST_CASE("load gives a module its own dtype, the dtype of the file or the requested dtype") {
  for (const Kind& kind : kKinds) {
    INFO(kind.name);
    nn::Sequential from = net();
    from->to(kDouble);
    const std::string path = kind.write(state_of(*from));
    nn::Sequential to = net();
    const void* const address = to->parameters()[0].data_ptr();
    load(to, path);
    CHECK(to->parameters()[0].dtype() == kFloat);
    CHECK(to->parameters()[0].data_ptr() == address);
    CHECK(equal(to->parameters()[0], from->parameters()[0].to(kFloat)));
    load(to, path, LoadOptions().dtype(kHalf));
    CHECK(to->parameters()[0].dtype() == kHalf);
    CHECK(to->buffers()[2].dtype() == kLong);
    CHECK_THROWS_WITH(load(to, path, LoadOptions().dtype(kLong)), Contains("not floating"));
    CHECK_THROWS_WITH(load(to, path, LoadOptions().dtype(kDouble).prefixes({{"0.", "2."}})),
                      Contains("Missing"));
    CHECK(to->parameters()[0].dtype() == kHalf);
    load(to, path, LoadOptions().assign(true).device(Device::CPU));
    CHECK(to->parameters()[0].dtype() == kDouble);
    CHECK(to->parameters()[0].requires_grad());
    CHECK(same(*to, *from));
  }
}

TEST_CASE("load with assign copies parameters that share a storage in the file") {
  const Tensor both = arange(8, kFloat);
  pytorch::write(temporary("shared.pt"), pytorch::NamedTensors{{"0.weight", both.slice(0, 0, 6).view({2, 3})},
                                                               {"0.bias", both.slice(0, 4, 6)}});
  nn::Sequential to(nn::Linear(3, 2));
  load(to, temporary("shared.pt"), LoadOptions().assign(true));
  CHECK(equal(to->parameters()[1], tensor({4.0F, 5.0F})));
  CHECK_FALSE(to->parameters()[0].is_alias_of(to->parameters()[1]));
}

TEST_CASE("load selects the dict of a model in a checkpoint by key or by common names") {
  nn::Linear last(2, 1), average(2, 1), loaded(2, 1);
  const auto dict_of = [](const nn::Linear& linear) {
    pytorch::Dict dict;
    for (const auto& [name, tensor] : state_of(*linear)) dict.emplace_back(name, tensor);
    return dict;
  };
  for (const char* const name : {"state_dict", "model_state_dict", "model", "net", "module"}) {
    INFO(name);
    pytorch::write(temporary("checkpoint.pt"),
                   pytorch::Dict{{"epoch", 7},
                                 {"optimizer", pytorch::Dict{{"state", pytorch::Dict{{0, ones({1})}}}}},
                                 {"ema", pytorch::Dict{{"inner", dict_of(average)}, {"decay", 0.9}}},
                                 {name, dict_of(last)}});
    load(loaded, temporary("checkpoint.pt"));
    CHECK(same(*loaded, *last));
    load(loaded, temporary("checkpoint.pt"), LoadOptions().key("ema.inner"));
    CHECK(same(*loaded, *average));
    load(loaded, temporary("checkpoint.pt"), LoadOptions().key(name));
    CHECK(same(*loaded, *last));
    CHECK_THROWS_WITH(load(loaded, temporary("checkpoint.pt"), LoadOptions().key("emma")),
                      Contains("\"ema\"") && Contains("checkpoint.pt"));
    CHECK_THROWS_WITH(load(loaded, temporary("checkpoint.pt"), LoadOptions().key("epoch")),
                      Contains("holds no tensor") || Contains("not a dict"));
  }
}

TEST_CASE("load reads a module and an optimizer from the checkpoint of a run") {
  nn::Linear model(2, 1), loaded(2, 1);
  optim::Adam adam(model->parameters(), optim::AdamOptions(0.25)), other(loaded->parameters());
  model(ones({1, 2})).sum().backward();
  adam.step();
  Checkpoint run(temporary("run.ckpt"));
  run.add("net", model).add("optimizer", adam).add("best", model);
  run.save();
  load(loaded, temporary("run.ckpt"), LoadOptions().key("net"));
  CHECK(same(*loaded, *model));
  load(loaded, temporary("run.ckpt"), LoadOptions().key("best"));  // the same tensors under other names
  load(other, temporary("run.ckpt"));
  CHECK(other.param_groups()[0].options().get_lr() == 0.25);
  CHECK(other.state().size() == 2);
  CHECK_THROWS_WITH(load(loaded, temporary("run.ckpt"), LoadOptions().key("model")),
                    Contains("no name in the file begins with \"model.\""));
}

TEST_CASE("load detects the format of a tensor file by content and not by file name") {
  Tensor x;
  npy::write(temporary("x.npy"), arange(3));
  load(x, temporary("x.npy"));
  CHECK(equal(x, arange(3)));
  pytorch::write(temporary("x.pt"), pytorch::Value(ones({2})));
  load(x, temporary("x.pt"));
  CHECK(equal(x, ones({2})));
  std::vector<Tensor> several;
  pytorch::write(temporary("list.pt"), pytorch::Value(pytorch::List{ones({2}), arange(3)}));
  load(several, temporary("list.pt"));
  REQUIRE(several.size() == 2);
  CHECK(equal(several[1], arange(3)));
  npy::write_npz(temporary("list.npz"), {{"arr_0", zeros({2})}, {"arr_1", arange(2)}, {"arr_2", ones({1})}});
  std::ifstream stream(temporary("list.npz"), std::ios::binary);
  load(several, stream);
  REQUIRE(several.size() == 3);
  CHECK(equal(several[1], arange(2)));
  pytorch::write(temporary("named.pt"), pytorch::NamedTensors{{"w", ones({2})}, {"b", ones({1})}});
  CHECK_THROWS_WITH(load(x, temporary("named.pt")), Contains("no tensor \"tensor\"") && Contains("named.pt"));
  CHECK_THROWS_WITH(load(several, temporary("named.pt")), Contains("no tensor \"0\""));
  nn::Linear linear(2, 1);
  CHECK_THROWS_WITH(load(linear, temporary("x.npy")), Contains("NumPy .npy") && Contains("x.npy"));
}
