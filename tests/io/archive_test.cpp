// Archives: ownership and order of the tensors read from them, and exchange with libtorch.
#include <ebb/ebb.h>
#include <ebb/io/pytorch.h>

#include "support/catch.h"
#include "support/files.h"

#include <filesystem>
#include <fstream>
#include <sstream>

// Archives: ownership and order of the tensors that are read from them.

using namespace ebb;

namespace {

serialize::InputArchive reread(const serialize::OutputArchive& out) {
  std::stringstream bytes;
  out.save_to(bytes);
  serialize::InputArchive in;
  in.load_from(bytes);
  return in;
}

}  // namespace

TEST_CASE("writing to a tensor that was read from an archive does not change the archive") {
  serialize::OutputArchive out;
  out.write("x", tensor({1, 2}));
  serialize::InputArchive in = reread(out);
  Variable first, second, placed = zeros({2}, kLong);
  in.read("x", first);
  in.read("x", placed);
  first.fill_(7);
  placed.fill_(8);
  in.read("x", second);
  CHECK(second.equal(tensor({1, 2})));
  CHECK(first.equal(tensor({7, 7})));
}

TEST_CASE("tensors that start at the same address keep their sizes and elements in a round trip") {
  const Tensor a = arange(9, kDouble).view({3, 3});
  const std::vector<std::pair<const char*, Tensor>> tensors = {{"a", a},
                                                               {"again", a.view({3, 3})},
                                                               {"transposed", a.t()},
                                                               {"row", a[0]},
                                                               {"column", a.select(1, 0)},
                                                               {"part", a.narrow(0, 0, 2)},
                                                               {"diagonal", a.diagonal()},
                                                               {"flat", a.view({9})},
                                                               {"expanded", a[0].expand({3, 3})},
                                                               {"behind", a[1]},
                                                               {"empty", a.narrow(0, 0, 0)}};
  std::stringstream file;
  serialize::OutputArchive out;
  for (const auto& [name, tensor] : tensors) out.write(name, tensor);
  out.save_to(file);
  serialize::InputArchive in;
  in.load_from(file);
  for (const auto& [name, tensor] : tensors) {
    INFO(name);
    Tensor read;
    in.read(name, read);
    CHECK(equal(read, tensor));
  }
}

TEST_CASE("a nested archive lists its keys in the order of the file") {
  serialize::OutputArchive inner, out;
  for (const char* name : {"c", "a", "b"}) inner.write(name, tensor(1));
  out.write("inner", inner);
  serialize::InputArchive in = reread(out), nested;
  in.read("inner", nested);
  CHECK(nested.keys() == std::vector<std::string>{"c", "a", "b"});
}

TEST_CASE("loading into a tensor keeps its requires_grad") {
  for (const bool requires_grad : {false, true}) {
    std::stringstream bytes;
    save(tensor({1.0, 2.0}), bytes);
    Variable x = zeros({3}).requires_grad_(requires_grad);
    load(x, bytes);
    CHECK(equal(x, tensor({1.0, 2.0})));
    CHECK(x.requires_grad() == requires_grad);
  }
}

TEST_CASE("an archive round trip keeps values of every kind") {
  using autograd::SavedValue;
  serialize::OutputArchive out;
  out.write("tensor", SavedValue(tensor({{1.5, 2.5}})));
  out.write("text", SavedValue(std::string("sixteen")));
  out.write("integers", SavedValue(std::vector<std::int64_t>{3, -4}));
  out.write("doubles", SavedValue(std::vector<double>{0.25, -8}));
  out.write("number", SavedValue(2.5));
  serialize::InputArchive in = reread(out);
  const auto read = [&](const char* key) {
    SavedValue value;
    REQUIRE(in.try_read(key, value));
    return value;
  };
  CHECK(equal(read("tensor").toTensor(), tensor({{1.5, 2.5}})));
  CHECK(read("text").toStringRef() == "sixteen");
  CHECK(read("integers").toIntVector() == std::vector<std::int64_t>{3, -4});
  CHECK(read("doubles").toDoubleVector() == std::vector<double>{0.25, -8});
  CHECK(read("number").toDouble() == 2.5);
}

TEST_CASE("loading a module from an archive fills the module's tensors and throws for a missing key") {
  nn::Linear from(2, 3), into(2, 3);
  const Tensor weight = into->weight;
  serialize::OutputArchive out;
  from->save(out);
  serialize::InputArchive in = reread(out);
  into->load(in);
  CHECK(equal(weight, from->weight));
  CHECK(into->weight.is_same(weight));
  serialize::OutputArchive part;
  part.write("weight", from->weight);
  serialize::InputArchive short_one = reread(part);
  CHECK_THROWS_WITH(into->load(short_one), support::Contains("bias"));
}

// Archives of libtorch: files that torch::save wrote (tests/io/data/libtorch.cpp) are read, and ebb writes
// files in the same format.

using pytorch::Dict;
using pytorch::List;
using pytorch::Value;
using support::Contains;
using support::temporary;

namespace {

std::string file(const std::string& name) { return source_dir() + "/tests/io/data/" + name; }

nn::Sequential net() { return nn::Sequential(nn::Linear(3, 2), nn::BatchNorm1d(2), nn::Linear(2, 1)); }

bool same(const nn::Module& a, const nn::Module& b) {
  const auto left = a.state_dict(), right = b.state_dict();
  for (const auto& item : left)
    if (!equal(item.value(), right[item.key()])) return false;
  return left.size() == right.size();
}

std::string archived(const Value& value) {
  std::ostringstream stream;
  pytorch::write_archive(stream, value);
  return stream.str();
}

Value again(const Value& value) {
  const std::string bytes = archived(value);
  return pytorch::parse(bytes.data(), bytes.size());
}

}  // namespace

TEST_CASE("a module is loaded from a libtorch archive by parameter name") {
  const auto read = pytorch::read_state_dict(file("libtorch_module.pt"));
  std::vector<std::string> names;
  for (const auto& item : read) names.push_back(item.first);
  CHECK(names == std::vector<std::string>{"0.weight", "0.bias", "1.weight", "1.bias", "1.running_mean",
                                          "1.running_var", "1.num_batches_tracked", "2.weight", "2.bias"});
  nn::Sequential model = net();
  std::ostringstream report;
  report << load(model, file("libtorch_module.pt"));
  CHECK(report.str() == "<All keys matched successfully>");
  CHECK(equal(model->parameters()[0], read[0].second));
  CHECK(allclose(read[1].second, tensor({0.1528F, -0.1745F}), 0, 1e-4));  // as Python prints it
  CHECK(allclose(read[8].second, tensor({-0.5820F}), 0, 1e-4));
}

TEST_CASE("loading a file of torch.jit.save reads the tensors and ignores the code") {
  struct NetImpl : nn::Module {
    nn::Linear fc{register_module("fc", nn::Linear(3, 2))};
    nn::BatchNorm1d norm{register_module("norm", nn::BatchNorm1d(2))};
  };
  nn::ModuleHolder<NetImpl> scripted(std::make_shared<NetImpl>()), plain(std::make_shared<NetImpl>());
  load(scripted, file("script.pt"));
  load(plain, file("checkpoint.pth"));
  CHECK(same(*scripted, *plain));
  CHECK(pytorch::read(file("script.pt")).at("norm").at("training").as_bool());
}

TEST_CASE("load reads a single tensor or a list of tensors from a libtorch archive") {
  std::vector<Tensor> tensors;
  load(tensors, file("libtorch_tensors.pt"));
  REQUIRE(tensors.size() == 2);
  CHECK(equal(tensors[0], arange(3)));
  CHECK(tensors[1].dtype() == kBFloat16);
  CHECK(equal(tensors[1], ones({1, 2}, kBFloat16)));
  Tensor one;
  CHECK_THROWS_WITH(load(one, file("libtorch_tensors.pt")), Contains("libtorch_tensors.pt"));
  pytorch::write_archive(temporary("one.pt"), pytorch::NamedTensors{{"0", arange(4)}});
  load(one, temporary("one.pt"));
  CHECK(equal(one, arange(4)));
}

TEST_CASE("an InputArchive reads the entries of a libtorch archive by name") {
  serialize::InputArchive archive, run, optimizer;
  archive.load_from(file("libtorch_runs.pt"));
  archive.read("adam", run);
  Tensor weight, lr;
  serialize::InputArchive model;
  run.read("model", model);
  model.read("weight", weight);
  CHECK(weight.sizes() == IntArrayRef({1, 2}));
  run.read("optimizer", optimizer);
  optimizer.read("param_groups.0.lr", lr);
  CHECK(lr.item<double>() == 0.05);
  nn::Linear linear(2, 1);
  optim::Adam adam(linear->parameters());
  adam.load(optimizer);
  CHECK(static_cast<optim::AdamOptions&>(adam.param_groups()[0].options()).amsgrad());
}

TEST_CASE("pytorch::save writes a module in the format of libtorch") {
  nn::Sequential model = net(), loaded = net();
  model(ones({4, 3}));
  pytorch::save(*model, temporary("module.pt"));
  load(loaded, temporary("module.pt"));
  CHECK(same(*loaded, *model));
  // The values that libtorch.cpp compares with.
  std::vector<std::pair<std::string, Tensor>> values;
  for (const Tensor& x : model->parameters()) values.emplace_back(std::to_string(values.size()), x.detach());
  for (const Tensor& x : model->buffers()) values.emplace_back(std::to_string(values.size()), x);
  pytorch::write_archive(temporary("values.pt"), values);

  const std::string bytes = support::read_file(temporary("module.pt"));
  const std::size_t code = bytes.find("class Module");
  REQUIRE(code != bytes.npos);
  CHECK_THAT(bytes.substr(code, 700),
             Contains("(Module):\n  __parameters__ = [\"weight\", \"bias\", ]\n  __buffers__ = []\n"
                      "  __annotations__ = []\n  __annotations__[\"weight\"] = Tensor\n") &&
                 Contains("__buffers__ = [\"running_mean\", \"running_var\", \"num_batches_tracked\", ]"));
  std::ostringstream stream;
  pytorch::save(*model, stream);
  CHECK(stream.str() == bytes);
}

TEST_CASE("a libtorch archive round trip keeps numbers and strings and tuples and lists") {
  const Tensor shared = arange(6, kFloat);
  const Value read = again(Dict{{"count", 3},
                                {"large", std::int64_t{1} << 40},
                                {"rate", 0.5},
                                {"on", true},
                                {"name", "adam"},
                                {"none", Value()},
                                {"betas", pytorch::Tuple{{0.9, 0.999}}},
                                {"dims", List{1, 2}},
                                {"rates", List{0.5, 0.25}},
                                {"flags", List{true, false}},
                                {"moments", List{shared, shared.view({2, 3})}},
                                {"inner", Dict{{"x/size", shared}, {"deeper", Dict()}}}});
  CHECK(read.at("count").as_int() == 3);
  CHECK(read.at("large").as_int() == std::int64_t{1} << 40);
  CHECK(read.at("rate").as_double() == 0.5);
  CHECK(read.at("on").as_bool());
  CHECK(read.at("name").as_string() == "adam");
  CHECK(read.at("none").is_none());
  CHECK(read.at("betas").at(1).as_double() == 0.999);
  CHECK(read.at("dims").at(1).as_int() == 2);
  CHECK(read.at("rates").at(0).as_double() == 0.5);
  CHECK_FALSE(read.at("flags").at(1).as_bool());
  CHECK(equal(read.at("moments").at(1).as_tensor(), shared.view({2, 3})));
  CHECK(read.at("inner").at("x/size").as_tensor().is_alias_of(read.at("moments").at(0).as_tensor()));
  CHECK(read.at("inner").at("deeper").as_dict().empty());
}

TEST_CASE("writing a value that libtorch cannot read is an error") {
  CHECK_THROWS_WITH(archived(3), Contains("dict"));
  CHECK_THROWS_WITH(archived(Dict{{"a\"", 1}}), Contains("cannot be a name"));
  CHECK_THROWS_WITH(archived(Dict{{"", 1}}), Contains("cannot be a name"));
  CHECK_THROWS_WITH(archived(Dict{{"a", 1}, {"a", 2}}), Contains("two entries \"a\""));
  CHECK_THROWS_WITH(archived(Dict{{"a", List{1, 0.5}}}), Contains("one type"));
  CHECK_THROWS_WITH(archived(Dict{{"a", pytorch::Tuple{{Dict()}}}}), Contains("tuple"));
  CHECK_THROWS_WITH(archived(Dict{{"a", pytorch::Object{"X", {}}}}), Contains("object of X"));
  CHECK_THROWS_WITH(archived(Dict{{"a", Tensor()}}), Contains("undefined"));
  CHECK_THROWS_WITH(pytorch::write_archive(temporary("twice.pt"), {{"a", ones({1})}, {"a.b", ones({1})}}),
                    Contains("cannot be a name"));
  CHECK_FALSE(std::filesystem::exists(temporary("twice.pt")));
}
