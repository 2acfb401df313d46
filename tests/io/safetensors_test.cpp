// Safetensors files: what is written comes back, what is damaged is refused.
#include <ebb/ebb.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "support/catch.h"
#include "support/files.h"

using namespace ebb;
using support::Contains;
using support::temporary;

namespace {

std::string message_of(const std::string& bytes) {
  try {
    safetensors::parse(bytes.data(), bytes.size());
  } catch (const Error& e) {
    return e.what();
  }
  return "(no error)";
}

std::string file_of(const std::string& header, const std::string& data, std::uint64_t claimed = ~0ull) {
  const std::uint64_t n = claimed == ~0ull ? header.size() : claimed;
  std::string out(8, '\0');
  std::memcpy(out.data(), &n, 8);
  return out + header + data;
}

const std::string kGood =
    R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"U8","shape":[3],"data_offsets":[8,11]}})";

}  // namespace

TEST_CASE("tensors of every dtype come back as they were") {
  safetensors::NamedTensors tensors;
  for (DType t : {kF64, kF32, kF16, kBFloat16, kI64, kI32, kI16, kI8, kU8, kBool})
    tensors.emplace_back(to_string(t), tensor({0.0, 1.0, 1.0, 0.0, 1.0, 0.0}, kF64).view({2, 3}).to(t));
  tensors.emplace_back("scalar", tensor(2.5));
  tensors.emplace_back("nothing", zeros({0, 4}));
  tensors.emplace_back("transposed", arange(6, kF64).view({2, 3}).t());
  const std::string path = temporary("all.safetensors");
  safetensors::write(path, tensors, {{"made by", "a test"}});
  const safetensors::File file = safetensors::read(path);
  REQUIRE(file.metadata.at("made by") == "a test");
  REQUIRE(file.tensors.size() == tensors.size());
  for (const auto& [name, x] : tensors) {
    INFO(name);
    const Variable& y = file.at(name);
    CHECK(y.dtype() == x.dtype());
    CHECK(y.sizes() == x.sizes());
    CHECK(equal(y, x.contiguous()));
  }
  REQUIRE_THROWS_WITH(file.at("transposd"), Contains("nearest: \"transposed\""));
}

TEST_CASE("tensors keep their file's mapping alive, and writing to them leaves the file alone") {
  const std::string path = temporary("mapped.safetensors");
  safetensors::write(path, {{"x", arange(4, kF32)}});
  Variable x = safetensors::read(path).at("x");
  x.add_(10);
  REQUIRE(x[3].item<float>() == 13);
  REQUIRE(safetensors::read(path).at("x")[3].item<float>() == 3);
}

TEST_CASE("files that are not sound are errors that say where") {
  REQUIRE(message_of(file_of(kGood, std::string(11, 'x'))) == "(no error)");
  CHECK_THAT(message_of("abc"), Contains("fewer than the 8"));
  CHECK_THAT(message_of(file_of(kGood, std::string(11, 'x'), 1ull << 62)), Contains("at most 100000000"));
  CHECK_THAT(message_of(file_of(kGood, "", 4000)), Contains("truncated"));
  CHECK_THAT(message_of(file_of(kGood, std::string(10, 'x'))), Contains("take 11 bytes"));
  CHECK_THAT(message_of(file_of(kGood, std::string(12, 'x'))), Contains("take 11 bytes"));
  CHECK_THAT(message_of(file_of("[1]", "")), Contains("does not begin with '{'"));
  CHECK_THAT(message_of(file_of("{\"a\":", "")), Contains("not JSON"));
  const auto with = [](const std::string& entry) {
    return message_of(file_of("{" + entry + "}", std::string(8, 'x')));
  };
  CHECK_THAT(
      with(
          R"("a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]})"),
      Contains("twice"));
  CHECK_THAT(
      with(
          R"("a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[2],"data_offsets":[0,8]})"),
      Contains("overlaps"));
  CHECK_THAT(with(R"("a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]})"), Contains("gap"));
  CHECK_THAT(with(R"("a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]})"), Contains("needs 12 bytes"));
  CHECK_THAT(with(R"("a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]})"), Contains("needs 8 bytes"));
  CHECK_THAT(with(R"("a":{"dtype":"Q4","shape":[2],"data_offsets":[0,8]})"), Contains("dtype \"Q4\""));
  CHECK_THAT(with(R"("a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]})"),
             Contains("not a natural number"));
  CHECK_THAT(with(R"("a":{"dtype":"F32","shape":[2.0],"data_offsets":[0,8]})"),
             Contains("not a natural number"));
  CHECK_THAT(with(R"("a":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,8]})"),
             Contains("overflows"));
  CHECK_THAT(with(R"("a":{"dtype":"F32","shape":[2]})"), Contains("lacks"));
  CHECK_THAT(with(R"("a":7)"), Contains("lacks"));
  for (const std::string offsets : {"[]", "[0]"}) {
    INFO(offsets);
    const std::string entry = R"({"dtype":"F32","shape":[0],"data_offsets":)" + offsets + "}";
    CHECK_THAT(message_of(file_of("{\"a\":" + entry + "}", "")), Contains("wrong kind"));
  }
  CHECK_THAT(with(R"("__metadata__":{"k":1})"), Contains("other than strings"));
  CHECK_THAT(with(R"("a":{"dtype":"BOOL","shape":[8],"data_offsets":[0,8]})"),
             Contains("other than 0 and 1"));
}

TEST_CASE("every truncation and many damaged bytes are errors or readable, never worse") {
  const std::string good = file_of(kGood, std::string(11, '\x01'));
  for (std::size_t n = 0; n < good.size(); ++n) CHECK(message_of(good.substr(0, n)) != "(no error)");
  std::uint32_t state = 12345;
  for (int i = 0; i < 20000; ++i) {
    std::string bad = good;
    for (int k = 0; k < 3; ++k) {
      state = state * 1664525u + 1013904223u;
      bad[(state >> 8) % bad.size()] = static_cast<char>(state >> 24);
    }
    (void)message_of(bad);
  }
}

TEST_CASE("a write that fails leaves the old file and no other") {
  const std::string path = temporary("kept.safetensors");
  safetensors::write(path, {{"x", ones({2})}});
  REQUIRE_THROWS_WITH(safetensors::write(path, {{"x", ones({2})}, {"x", ones({2})}}),
                      Contains("safetensors: the name \"x\" is given twice or reserved"));
  REQUIRE(safetensors::read(path).tensors.size() == 1);
  REQUIRE_THROWS_WITH(safetensors::write("no/such/folder/x.safetensors", {{"x", ones({2})}}),
                      Contains("no/such/folder"));
  REQUIRE_THROWS_WITH(safetensors::read("no/such/file"), Contains("no/such/file"));
}

TEST_CASE("modules, optimizers and tensors are saved and loaded") {
  manual_seed(1);
  const auto make = [] { return nn::Sequential(nn::Linear(3, 4), nn::BatchNorm1d(4), nn::Linear(4, 2)); };
  auto net = make(), other = make();
  optim::Adam optimizer(net->parameters(), optim::AdamOptions(0.1)),
      another(other->parameters(), optim::AdamOptions(0.1));
  const Variable x = randn({8, 3});
  const auto step = [&](auto& n, auto& o) {
    o.zero_grad();
    n->forward(x).pow(2).sum().backward();
    o.step();
  };
  step(net, optimizer);
  const std::string path = temporary("net.safetensors"), state = temporary("adam.safetensors");
  save(net, path);
  save(optimizer, state);
  load(other, path);
  load(another, state);
  step(net, optimizer);
  step(other, another);
  for (std::size_t i = 0; i < net->parameters().size(); ++i)
    CHECK(equal(net->parameters()[i], other->parameters()[i]));
  CHECK(equal(net->named_buffers()["1.running_mean"], other->named_buffers()["1.running_mean"]));

  nn::Sequential smaller(nn::Linear(3, 5));
  REQUIRE_THROWS_WITH(load(smaller, path), Contains("0.weight") && Contains("[4, 3]") && Contains("[5, 3]"));

  const std::string one = temporary("one.safetensors");
  save(x, one);
  Variable y;
  load(y, one);
  CHECK(equal(x, y));
  save(std::vector<Variable>{x, x + 1}, one);
  std::vector<Variable> several;
  load(several, one);
  REQUIRE(several.size() == 2);
  CHECK(equal(several[1], x + 1));
}

TEST_CASE("tensors, modules and optimizers pass through streams") {
  std::stringstream one, several, net, state;
  const Variable x = tensor({{1.5, 2.5}}, kF64);
  save(x.t(), one);
  Variable y;
  load(y, one);
  CHECK(y.equal(x.t()));

  const std::vector<Variable> list = {x, tensor({1, 2})};
  save(list, several);
  std::vector<Variable> back;
  load(back, several);
  REQUIRE(back.size() == 2);
  CHECK(back[1].equal(list[1]));

  nn::Linear a(3, 2), b(3, 2);
  save(a, net);
  load(b, net);
  CHECK(b->weight.equal(a->weight));

  optim::SGD first(a->parameters(), optim::SGDOptions(0.1).momentum(0.9)),
      second(b->parameters(), optim::SGDOptions(0.1).momentum(0.9));
  a(ones({1, 3})).sum().backward();
  first.step();
  save(first, state);
  load(second, state);
  CHECK(second.state_dict().size() == 2);

  std::stringstream damaged(one.str().substr(0, 20)), empty;
  CHECK_THROWS_WITH(load(y, damaged), Contains("safetensors: the file is not sound: its header claims 64"));
  CHECK_THROWS_WITH(load(y, empty), Contains("safetensors: the file is not sound: it has 0 bytes, fewer"));
  std::stringstream closed;
  closed.setstate(std::ios::badbit);
  CHECK_THROWS_WITH(save(x, closed), Contains("stream"));
}

TEST_CASE("archives nest, and hold modules and optimizers") {
  nn::Sequential net(nn::Linear(3, 2), nn::BatchNorm1d(2)), other(nn::Linear(3, 2), nn::BatchNorm1d(2));
  optim::Adam adam(net->parameters()), second(other->parameters());
  net->forward(ones({4, 3})).square().sum().backward();
  adam.step();
  serialize::OutputArchive out, model, steps;
  net->save(model);
  adam.save(steps);
  out.write("model", model);
  out.write("adam", steps);
  out.write("epoch", tensor(7));
  std::stringstream stream;
  out.save_to(stream);

  serialize::InputArchive in, part;
  in.load_from(stream);
  CHECK(in.keys() == std::vector<std::string>{"model", "adam", "epoch"});
  Variable epoch, absent, placed = zeros({1}).requires_grad_();
  in.read("epoch", epoch);
  CHECK(epoch.item<int>() == 7);
  in.read("model", part);
  other->load(part);
  CHECK(other->forward(ones({2, 3})).sizes() == IntArrayRef({2, 2}));
  CHECK(other->named_parameters()["0.weight"].equal(net->named_parameters()["0.weight"]));
  part.read("0.bias", placed);
  CHECK(placed.equal(net->named_parameters()["0.bias"]));
  CHECK(placed.requires_grad());
  in.read("adam", part);
  second.load(part);
  CHECK(second.state_dict().size() == adam.state_dict().size());
  CHECK_FALSE(in.try_read("epochs", absent));
  CHECK_THROWS_WITH(in.read("epochs", absent), Contains("epoch"));
  CHECK_THROWS_WITH(in.read("optimizer", part), Contains("InputArchive: there is no archive \"optimizer"));
}
