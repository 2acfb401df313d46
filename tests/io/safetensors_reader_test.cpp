// What files hold besides tensors that ebb has: the bytes of the format, other dtypes, other formats, very
// many entries, and files that change while they are read.
#include <ebb/ebb.h>

#include <unistd.h>

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

std::string file_of(const std::string& header, const std::string& data) {
  const std::uint64_t n = header.size();
  std::string out(8, '\0');
  std::memcpy(out.data(), &n, 8);
  return out + header + data;
}

void put(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

safetensors::File parse(const std::string& bytes) { return safetensors::parse(bytes.data(), bytes.size()); }

// Two floats, a float8 and a complex one between them.
const std::string kMixed = file_of(
    R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"w8":{"dtype":"F8_E4M3","shape":[3],"data_offsets":[4,7]},)"
    R"("c":{"dtype":"C64","shape":[1],"data_offsets":[7,15]},"b":{"dtype":"F32","shape":[],"data_offsets":[15,19]}})",
    std::string("\0\0\x80\x3f", 4) + "xyz" + "12345678" + std::string("\0\0\0\x40", 4));

}  // namespace

TEST_CASE("the header names each dtype as the format spells it") {
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

TEST_CASE("names and metadata with quotes, escapes and other scripts come back") {
  const std::string name = "a \"quoted\"\\ name\n\xc3\xa9";
  std::stringstream stream;
  safetensors::write(stream, {{name, ones({1})}}, {{"key \"1\"", "value\t2"}});
  const safetensors::File file = safetensors::read(stream);
  CHECK(file.at(name).item<float>() == 1);
  CHECK(file.metadata.at("key \"1\"") == "value\t2");
  CHECK_THROWS_WITH(safetensors::write(stream, {{"\xff", ones({1})}}), Contains("UTF-8"));
  CHECK_THROWS_WITH(safetensors::write(stream, {{"__metadata__", ones({1})}}), Contains("reserved"));
}

TEST_CASE("entries may hold more than the format asks for, but nothing twice") {
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

TEST_CASE("tensors of dtypes that ebb lacks are named when they are asked for, and spare the others") {
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
  // Sizes of dtypes below a byte are checked as well.
  CHECK(parse(file_of(R"({"a":{"dtype":"F4","shape":[4],"data_offsets":[0,2]}})", "xy")).unsupported.size() ==
        1);
  CHECK_THROWS_WITH(parse(file_of(R"({"a":{"dtype":"F4","shape":[4],"data_offsets":[0,4]}})", "abcd")),
                    Contains("needs 2 bytes"));
}

TEST_CASE("files of other formats are named, with what to do") {
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

TEST_CASE("a file cut short keeps what was read of it, and is an error for the rest") {
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

TEST_CASE("a reader fills tensors where they are") {
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

// At this size anything quadratic takes hours.
TEST_CASE("a file of very many entries is read and written") {
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

TEST_CASE("an archive of very many entries is read by name") {
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
