// PyTorch's files: what torch wrote (tests/io/data/make.py) is read, and what is written can be read.
#include <ebb/ebb.h>
#include <ebb/io/pytorch.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "support/catch.h"
#include "support/files.h"
#include "support/source_dir.h"

using namespace ebb;
using pytorch::Value;
using support::Contains;
using support::temporary;

namespace {

std::string file(const std::string& name) { return source_dir() + "/tests/io/data/" + name; }

std::string bytes_of(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void check_values(const Value& values) {
  const Tensor dense = arange(12, kFloat).reshape({3, 4});
  CHECK(equal(values.at("dense").as_tensor(), dense));
  CHECK(equal(values.at("transposed").as_tensor(), dense.t()));
  CHECK(values.at("transposed").as_tensor().stride(0) == 1);
  CHECK(equal(values.at("row").as_tensor(), dense[1]));
  CHECK(values.at("row").as_tensor().is_alias_of(values.at("dense").as_tensor()));
  CHECK(equal(values.at("double").as_tensor(), tensor({1.5, -2.25}, kDouble)));
  CHECK(equal(values.at("half").as_tensor(), tensor({0.5, 65504.0}).to(kHalf)));
  CHECK(equal(values.at("bfloat").as_tensor(), tensor({1.0, -3.0}).to(kBFloat16)));
  CHECK(equal(values.at("long").as_tensor(), tensor({std::int64_t{1} << 40, std::int64_t{-1}})));
  CHECK(equal(values.at("byte").as_tensor(), tensor({0, 255}).to(kByte)));
  CHECK(equal(values.at("bool").as_tensor(), tensor({true, false, true})));
  CHECK(values.at("empty").as_tensor().sizes() == IntArrayRef({0, 3}));
  CHECK(values.at("scalar").as_tensor().dim() == 0);
  CHECK(values.at("scalar").as_tensor().item<float>() == 7);
  CHECK_THROWS_WITH(values.at("complex").as_tensor(), Contains("complex64"));
  CHECK(values.at("epoch").as_int() == 3);
  CHECK(values.at("loss").as_double() == 0.125);
  CHECK(values.at("big").as_int() == std::int64_t{1} << 40);
  CHECK(values.at("name").as_string() == "n\u00e4me");
  CHECK(values.at("flags").at(0).as_bool());
  CHECK(values.at("flags").at(1).is_none());
  CHECK(values.at("flags").at(2).at(1).as_int() == -2);
  CHECK(values.at("size").at(1).as_int() == 3);
  CHECK_THROWS_WITH(values.at("epoc"), Contains("\"epoch\""));
  CHECK_THROWS_WITH(values.at("epoch").as_tensor(), Contains("an integer, not a tensor"));
}

}  // namespace

TEST_CASE("torch.save's zip format is read") { check_values(pytorch::read(file("values.pt"))); }
TEST_CASE("torch.save's format before 1.6 is read") { check_values(pytorch::read(file("legacy.pt"))); }

TEST_CASE("what is written as torch.save does is read back") {
  const Value values = pytorch::read(file("values.pt"));
  pytorch::Dict kept;
  for (const auto& [key, value] : values.as_dict())
    if (key.as_string() != "complex") kept.emplace_back(key, value);
  pytorch::write(temporary("again.pt"), kept);
  const Value again = pytorch::read(temporary("again.pt"));
  for (const auto& [key, value] : kept) {
    INFO(key.as_string());
    const Value& read = again.at(key.as_string());
    CHECK(read.content().index() == value.content().index());
    if (value.is_tensor()) {
      CHECK(equal(read.as_tensor(), value.as_tensor()));
      CHECK(read.as_tensor().strides() == value.as_tensor().strides());
    }
  }
  CHECK(again.at("row").as_tensor().is_alias_of(again.at("dense").as_tensor()));
  std::ostringstream stream;
  pytorch::write(stream, kept);
  CHECK(stream.str() == bytes_of(temporary("again.pt")));
}

TEST_CASE("entries of a written archive begin at multiples of 64 bytes") {
  pytorch::write(temporary("aligned.pt"), {{"a", ones({3})}, {"b", ones({5}, kDouble)}});
  const std::string bytes = bytes_of(temporary("aligned.pt"));
  int entries = 0;
  for (std::size_t at = bytes.find("PK\3\4"); at != bytes.npos;
       at = bytes.find("PK\3\4", at + 1), ++entries) {
    const auto little = [&](std::size_t i) {
      return static_cast<unsigned char>(bytes[i]) | static_cast<unsigned char>(bytes[i + 1]) << 8;
    };
    CHECK((at + 30 + static_cast<std::size_t>(little(at + 26) + little(at + 28))) % 64 == 0);
  }
  CHECK(entries == 5);
}

TEST_CASE("a module loads a checkpoint of PyTorch by name, and one with a prefix") {
  struct NetImpl : nn::Module {
    nn::Linear fc{register_module("fc", nn::Linear(3, 2))};
    nn::BatchNorm1d norm{register_module("norm", nn::BatchNorm1d(2))};
  };
  nn::ModuleHolder<NetImpl> net(std::make_shared<NetImpl>());
  std::ostringstream report;
  report << load(net, file("checkpoint.pth"));
  CHECK(report.str() == "<All keys matched successfully>");
  // torch.manual_seed(0), torch.nn.Linear(3, 2)
  const Value weight = pytorch::read(file("checkpoint.pth")).at("state_dict").at("fc.weight");
  CHECK(equal(net->fc->weight, weight.as_tensor()));
  CHECK(net->fc->weight.requires_grad());
  CHECK_FALSE(net->fc->weight.is_alias_of(weight.as_tensor()));

  pytorch::NamedTensors wrapped;
  for (const auto& item : net->state_dict()) wrapped.emplace_back("module." + item.key(), item.value());
  wrapped.emplace_back("head.weight", ones({1}));
  pytorch::write(temporary("wrapped.pt"), wrapped);
  CHECK_THROWS_WITH(load(net, temporary("wrapped.pt")),
                    Contains("module.fc.weight") && Contains("wrapped.pt"));
  {
    NoGradGuard no_grad;
    net->fc->weight.zero_();
  }
  load(net, temporary("wrapped.pt"), LoadOptions().prefixes({{"module.", ""}}).ignore({"head."}));
  CHECK(equal(net->fc->weight, weight.as_tensor()));
  const auto left =
      load(net, temporary("wrapped.pt"), LoadOptions().prefixes({{"module.", ""}}).strict(false));
  CHECK(left.unexpected_keys == std::vector<std::string>{"head.weight"});
  CHECK_THROWS_WITH(
      load(net, temporary("wrapped.pt"), LoadOptions().prefixes({{"module.", ""}, {"head.", "fc."}})),
      Contains("one name"));
  load(net, temporary("wrapped.pt"),
       LoadOptions().prefixes({{"module.", ""}}).ignore({"head"}).dtype(kDouble));
  CHECK(net->fc->weight.dtype() == kDouble);
  std::ifstream stream(file("checkpoint.pth"), std::ios::binary);
  CHECK(load(net, stream).missing_keys.empty());
}

TEST_CASE("what only Python could make is refused by name") {
  CHECK_THROWS_WITH(pytorch::read(file("module.pt")), Contains("torch.nn.modules.container.Sequential") &&
                                                          Contains("state_dict()") && Contains("module.pt"));
}

TEST_CASE("damaged PyTorch files are errors") {
  const std::string whole = bytes_of(file("values.pt"));
  const auto parse = [](const std::string& bytes) { return pytorch::parse(bytes.data(), bytes.size()); };
  CHECK_THROWS_WITH(parse(whole.substr(0, whole.size() / 2)), Contains("no directory"));
  std::string wrong = whole;
  const std::size_t data = wrong.find(std::string("\0\0\x80\x3f\0\0\0\x40", 8));  // 1, 2 of the float tensor
  REQUIRE(data != wrong.npos);
  wrong[data] = 1;
  CHECK_THROWS_WITH(parse(wrong), Contains("CRC-32") && Contains("data/0"));
  CHECK_THROWS_WITH(parse("hello"), Contains("neither a zip archive"));
  CHECK_THROWS_WITH(parse("\x80\x04K\x01."), Contains("plain pickle"));
  CHECK_THROWS_WITH(parse(""), Contains("neither a zip archive"));
  const std::string legacy = bytes_of(file("legacy.pt"));
  for (std::size_t n = 14; n < legacy.size(); n += 97) CHECK_THROWS_AS(parse(legacy.substr(0, n)), Error);
}
