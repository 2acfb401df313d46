// Safetensors files: round trips, damaged files, and unsupported dtypes.
#include <ebb/ebb.h>

#include "support/catch.h"
#include "support/files.h"

#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

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

TEST_CASE("a safetensors round trip keeps tensors of all dtypes") {
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

TEST_CASE("tensors of a mapped file keep the mapping alive, and writes to them do not change the file") {
  const std::string path = temporary("mapped.safetensors");
  safetensors::write(path, {{"x", arange(4, kF32)}});
  Variable x = safetensors::read(path).at("x");
  x.add_(10);
  REQUIRE(x[3].item<float>() == 13);
  REQUIRE(safetensors::read(path).at("x")[3].item<float>() == 3);
}

TEST_CASE("an invalid safetensors file is an error that names the defect") {
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

TEST_CASE("truncated safetensors files throw, and damaged ones are read or throw") {
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

TEST_CASE("a failed write of safetensors keeps the old file") {
  const std::string path = temporary("kept.safetensors");
  safetensors::write(path, {{"x", ones({2})}});
  REQUIRE_THROWS_WITH(safetensors::write(path, {{"x", ones({2})}, {"x", ones({2})}}),
                      Contains("safetensors: the name \"x\" is given twice or reserved"));
  REQUIRE(safetensors::read(path).tensors.size() == 1);
  REQUIRE_THROWS_WITH(safetensors::write("no/such/folder/x.safetensors", {{"x", ones({2})}}),
                      Contains("no/such/folder"));
  REQUIRE_THROWS_WITH(safetensors::read("no/such/file"), Contains("no/such/file"));
}

TEST_CASE("save and load of modules and optimizers and tensors keep their values") {
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

TEST_CASE("save and load work on streams for tensors and modules and optimizers") {
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

TEST_CASE("nested archives contain modules and optimizers") {
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

// Unusual files: other fields, unsupported dtypes, other formats, very many entries, and files that change
// during reading.

namespace {

void put(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

safetensors::File parse(const std::string& bytes) { return safetensors::parse(bytes.data(), bytes.size()); }

// Two floats, with a float8 and a complex tensor between them.
const std::string kMixed = file_of(
    R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"w8":{"dtype":"F8_E4M3","shape":[3],"data_offsets":[4,7]},)"
    R"("c":{"dtype":"C64","shape":[1],"data_offsets":[7,15]},"b":{"dtype":"F32","shape":[],"data_offsets":[15,19]}})",
    std::string("\0\0\x80\x3f", 4) + "xyz" + "12345678" + std::string("\0\0\0\x40", 4));

}  // namespace

TEST_CASE("the safetensors header spells dtypes as the format requires") {
  const std::pair<DType, const char*> spelling[] = {
      {kF64, "F64"}, {kF32, "F32"}, {kF16, "F16"}, {kBFloat16, "BF16"}, {kI64, "I64"},
      {kI32, "I32"}, {kI16, "I16"}, {kI8, "I8"},   {kU8, "U8"},         {kBool, "BOOL"}};
  for (const auto& [dtype, name] : spelling) {
    std::ostringstream out;
    const Variable x = ones({2, 1}, dtype);
    safetensors::write(out, {{"x", x}});
    const std::string end = std::to_string(x.nbytes());
    std::string header =
        std::string(R"({"x":{"dtype":")") + name + R"(","shape":[2,1],"data_offsets":[0,)" + end + "]}}";
    header.append((8 - header.size() % 8) % 8, ' ');
    const std::string data(static_cast<const char*>(x.data_ptr()), x.nbytes());
    CHECK(out.str() == file_of(header, data));
  }
  std::ostringstream one, none;
  safetensors::write(one, {{"h", tensor({1.0}).to(kHalf)}, {"b", tensor({1.0}).to(kBFloat16)}});
  CHECK_THAT(one.str(), support::EndsWith(std::string("\x00\x3c\x80\x3f", 4)));
  safetensors::write(none, {});
  CHECK(none.str() == file_of("{}      ", ""));
}

TEST_CASE("a round trip keeps names and metadata with quotes and escapes and non-Latin scripts") {
  const std::string name = "a \"quoted\"\\ name\n\xc3\xa9";
  std::stringstream stream;
  safetensors::write(stream, {{name, ones({1})}}, {{"key \"1\"", "value\t2"}});
  const safetensors::File file = safetensors::read(stream);
  CHECK(file.at(name).item<float>() == 1);
  CHECK(file.metadata.at("key \"1\"") == "value\t2");
  CHECK_THROWS_WITH(safetensors::write(stream, {{"\xff", ones({1})}}), Contains("UTF-8"));
  CHECK_THROWS_WITH(safetensors::write(stream, {{"__metadata__", ones({1})}}), Contains("reserved"));
}

TEST_CASE("unknown fields of a header entry are ignored and duplicate fields are refused") {
  CHECK(
      parse(
          file_of(
              R"({"a":{"note":[{"dtype":1},[2]],"dtype":"U8","more":{"shape":{}},"shape":[1],"data_offsets":[0,1]}})",
              "x"))
          .tensors.size() == 1);
  CHECK_THROWS_WITH(
      parse(file_of(R"({"a":{"dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1]}})", "x")),
      Contains("twice"));
  CHECK_THROWS_WITH(parse(file_of(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1,2]}})", "x")),
                    Contains("wrong kind"));
  CHECK_THROWS_WITH(parse(file_of(R"({"a":{"dtype":"U8","shape":[[1]],"data_offsets":[0,1]}})", "x")),
                    Contains("not a natural number"));
  CHECK_THROWS_WITH(parse(file_of(R"({"a":{"dtype":"U8","shape":{},"data_offsets":[0,1]}})", "x")),
                    Contains("wrong kind"));
  CHECK_THROWS_WITH(parse(file_of(R"({"__metadata__":{},"__metadata__":{}})", "")), Contains("twice"));
  CHECK_THROWS_WITH(parse(file_of(R"({"__metadata__":[]})", "")), Contains("not an object"));
}

TEST_CASE("reading a tensor with an unsupported dtype throws and names it, and other tensors stay readable") {
  const safetensors::File file = parse(kMixed);
  CHECK(file.tensors.size() == 2);
  CHECK(file.at("a").item<float>() == 1);
  CHECK(file.at("b").item<float>() == 2);
  CHECK(file.unsupported == safetensors::Unsupported{{"w8", "F8_E4M3"}, {"c", "C64"}});
  CHECK_THROWS_WITH(file.at("w8"), Contains("\"w8\"") && Contains("F8_E4M3") && Contains("bfloat16"));
  CHECK_THROWS_WITH(file.at("c"), Contains("C64") && Contains("view_as_real"));

  const std::string path = temporary("mixed.safetensors");
  put(path, kMixed);
  const safetensors::Reader reader(path);
  CHECK(reader.keys() == std::vector<std::string>{"a", "w8", "c", "b"});
  CHECK(reader.dtype("w8") == "F8_E4M3");
  CHECK(reader.sizes("w8") == std::vector<std::int64_t>{3});
  CHECK_FALSE(reader.is_supported("w8"));
  CHECK(reader.get_tensor("b").item<float>() == 2);
  CHECK_THROWS_WITH(reader.get_tensor("w8"), Contains("F8_E4M3") && Contains(path));
  CHECK_THROWS_WITH(reader.get_tensor("w7"), Contains("nearest: \"w8\"") && Contains(path));

  serialize::InputArchive archive;
  archive.load_from(path);
  Variable x;
  archive.read("a", x);
  CHECK(x.item<float>() == 1);
  CHECK_THROWS_WITH(archive.read("w8", x), Contains("F8_E4M3"));
  CHECK(archive.keys() == std::vector<std::string>{"a", "b", "c", "w8"});

  nn::Module net("Net");
  net.register_parameter("a", zeros({1}));
  CHECK(load(net, path, /*strict=*/false).unexpected_keys == std::vector<std::string>{"w8", "c", "b"});
  CHECK(net.named_parameters()["a"].item<float>() == 1);
  net.register_parameter("w8", zeros({3}));
  CHECK_THROWS_WITH(load(net, path, /*strict=*/false), Contains("\"w8\" is of dtype F8_E4M3"));
  CHECK_THROWS_WITH(net.load(archive), Contains("\"w8\" is of dtype F8_E4M3"));
  // Sizes of dtypes smaller than a byte are checked as well.
  CHECK(parse(file_of(R"({"a":{"dtype":"F4","shape":[4],"data_offsets":[0,2]}})", "xy")).unsupported.size() ==
        1);
  CHECK_THROWS_WITH(parse(file_of(R"({"a":{"dtype":"F4","shape":[4],"data_offsets":[0,4]}})", "abcd")),
                    Contains("needs 2 bytes"));
}

TEST_CASE("the error for a file of another format names the format and gives advice") {
  const auto message = [](const std::string& bytes) {
    const std::string path = temporary("foreign");
    put(path, bytes);
    try {
      safetensors::read(path);
    } catch (const Error& e) {
      CHECK_THAT(e.what(), Contains(path) && !Contains("not sound"));
      return std::string(e.what());
    }
    return std::string();
  };
  const std::string zeros(100, '\0');
  for (const std::string& zip :
       {std::string("PK\3\4"), "PK\3\4" + zeros, "PK\3\4" + std::string("\0\0\x08\x08", 4) + zeros})
    CHECK_THAT(message(zip), Contains("PyTorch") && Contains(".pt") && Contains("ebb::pytorch::read"));
  CHECK_THAT(message("\x80\x02\x8a\nl\xfc\x9c" + zeros),
             Contains("old PyTorch") && Contains("ebb::pytorch::read"));
  CHECK_THAT(message("{\n  \"metadata\": {}, \"weight_map\": {}}"),
             Contains("index") && Contains("weight_map"));
  CHECK_THAT(message("{}"), Contains("JSON"));
  CHECK_THAT(message("version https://git-lfs.github.com/spec/v1\n"), Contains("git lfs pull"));
  CHECK_THAT(message("GGUF\3" + std::string(3, '\0') + "\1" + zeros),
             Contains("GGUF") || Contains("not sound"));
}

TEST_CASE("tensors that were read before a file was truncated stay valid, and later reads throw") {
  const std::string path = temporary("cut.safetensors");
  safetensors::write(path, {{"a", ones({1 << 16})}, {"flags", zeros({1 << 16}, kBool)}});
  const safetensors::Reader reader(path);
  const Variable before = safetensors::read(path).at("a");
  REQUIRE(::truncate(path.c_str(), 4096) == 0);
  CHECK(before.sum().item<float>() == 1 << 16);
  CHECK_THROWS_WITH(reader.get_tensor("a"), Contains("became shorter") && Contains(path));
  CHECK_THROWS_WITH(reader.get_tensor("flags"), Contains("became shorter"));
  Variable x = zeros({1 << 16});
  CHECK_THROWS_WITH(reader.read_into("a", x), Contains("became shorter"));
}

TEST_CASE("a safetensors reader fills tensors in place") {
  const std::string path = temporary("into.safetensors");
  safetensors::write(path, {{"x", arange(6, kF32).view({2, 3})}});
  const safetensors::Reader reader(path);
  Variable same = zeros({2, 3}), transposed = zeros({3, 2}).t(), other = zeros({2, 3}, kF64),
           wrong = zeros({3, 2}), none;
  const void* address = same.data_ptr();
  const auto version = same._version();
  for (Variable* x : {&same, &transposed, &other}) {
    reader.read_into("x", *x);
    CHECK(x->to(kF32).equal(arange(6, kF32).view({2, 3})));
  }
  CHECK(same.data_ptr() == address);
  CHECK(same._version() > version);
  CHECK(other.dtype() == kF64);
  CHECK_THROWS_WITH(reader.read_into("x", wrong), Contains("[2, 3]") && Contains("[3, 2]"));
  CHECK_THROWS_WITH(reader.read_into("x", none), Contains("undefined"));
}

// With this many entries, a quadratic algorithm would take hours.
TEST_CASE("a file with very many entries is written and read") {
  constexpr int kEntries = 200'000;
  std::string header = "{";
  for (int i = 0; i < kEntries; ++i)
    header += "\"" + std::to_string(i) + R"(":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},)";
  header.back() = '}';
  const safetensors::File file = parse(file_of(header, ""));
  REQUIRE(file.tensors.size() == kEntries);
  std::stringstream stream;
  safetensors::write(stream, file.tensors);
  std::vector<Variable> tensors;
  load(tensors, stream);
  CHECK(tensors.size() == kEntries);
  std::int64_t elements = 0;
  for (int i = 0; i < kEntries; ++i) elements += file.at(std::to_string(i)).numel();
  CHECK(elements == 0);
  header.back() = ',';
  CHECK_THROWS_WITH(parse(file_of(header + R"("7":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}})", "")),
                    Contains("names \"7\" twice"));
}

TEST_CASE("an archive with very many entries is read by name") {
  constexpr int kEntries = 50'000;
  serialize::OutputArchive out;
  const Variable x = ones({1});
  for (int i = 0; i < kEntries; ++i) out.write("m" + std::to_string(i) + ".x", x);
  std::stringstream stream;
  out.save_to(stream);
  serialize::InputArchive in, nested;
  in.load_from(stream);
  const std::vector<std::string> keys = in.keys();
  REQUIRE(keys.size() == kEntries);
  int found = 0;
  for (const std::string& key : keys) {
    Variable y;
    found += in.try_read(key, nested) && nested.try_read("x", y) && in.try_read(key + ".x", y);
  }
  CHECK(found == kEntries);
}
