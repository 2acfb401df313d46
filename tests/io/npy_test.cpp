// NumPy files (npy and npz), and rarely used functions of the other formats.
#include <ebb/ebb.h>
#include <ebb/io/npy.h>
#include <ebb/io/pytorch.h>

#include "support/catch.h"
#include "support/files.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

// NumPy files: NumPy and ebb read the files of each other.

using namespace ebb;
using support::Contains;
using support::temporary;

namespace {

// python3-numpy is among the packages of the tests. Another Python that comes earlier in PATH may lack it.
void numpy(const std::string& lines) {
  std::ofstream(temporary("script.py")) << "import numpy as np\n" << lines;
  REQUIRE(std::system(("cd " + temporary("") + " && /usr/bin/python3 script.py").c_str()) == 0);
}

Tensor parsed(const std::string& descr, const std::string& order, const std::string& shape,
              const std::string& data) {
  const std::string text =
      "{'descr': " + descr + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
  const std::string bytes =
      std::string("\x93NUMPY\1\0", 8) + static_cast<char>(text.size()) + '\0' + text + data;
  return npy::parse(bytes.data(), bytes.size());
}

}  // namespace

TEST_CASE("files that NumPy writes are read") {
  numpy(
      "a = np.arange(6).reshape(2, 3)\n"
      "for t in ['b1', 'i1', 'u1', 'i2', 'i4', 'i8', 'f2', 'f4', 'f8', '>f4', '>i8']: np.save(t + '.npy', (a "
      "% 2 if t == 'b1' else a).astype(t))\n"
      "np.save('fortran.npy', np.asfortranarray(a.astype('f4')))\n"
      "np.save('scalar.npy', np.float64(2.5)); np.save('empty.npy', np.zeros((0, 4), 'f4')); "
      "np.save('complex.npy', np.array([1j]))\n"
      "np.savez('stored.npz', a=a, b=a.T * 0.5); np.savez_compressed('packed.npz', a=a, "
      "b=np.zeros(10000))\n");
  const Tensor a = arange(6).reshape({2, 3});
  const std::pair<const char*, DType> kinds[] = {
      {"i1", kChar}, {"u1", kByte},  {"i2", kShort},  {"i4", kInt},    {"i8", kLong},
      {"f2", kHalf}, {"f4", kFloat}, {"f8", kDouble}, {">f4", kFloat}, {">i8", kLong}};
  for (const auto& [name, dtype] : kinds) {
    INFO(name);
    const Tensor read = npy::read(temporary(std::string(name) + ".npy"));
    CHECK(read.dtype() == dtype);
    CHECK(equal(read, a.to(dtype)));
  }
  CHECK(equal(npy::read(temporary("b1.npy")), (a % 2).to(kBool)));
  const Tensor fortran = npy::read(temporary("fortran.npy"));
  CHECK(equal(fortran, a.to(kFloat)));
  CHECK(fortran.stride(0) == 1);
  CHECK(npy::read(temporary("scalar.npy")).item<double>() == 2.5);
  CHECK(npy::read(temporary("empty.npy")).sizes() == IntArrayRef({0, 4}));
  CHECK_THROWS_WITH(npy::read(temporary("complex.npy")), Contains("<c16") && Contains("astype"));

  const auto stored = npy::read_npz(temporary("stored.npz"));
  REQUIRE(stored.size() == 2);
  CHECK(stored[0].first == "a");
  CHECK(equal(stored[0].second, a));
  CHECK(equal(stored[1].second, a.t().to(kDouble) * 0.5));
  CHECK(npy::read_npz(temporary("packed.npz"))[1].second.numel() == 10000);
}

TEST_CASE("NumPy reads files that ebb writes") {
  npy::write(temporary("ours.npy"), arange(6, kFloat).reshape({2, 3}).t());
  npy::write_npz(temporary("ours.npz"), {{"x", arange(4)}, {"y", ones({2}, kBool)}});
  numpy(
      "x = np.load('ours.npy'); assert x.dtype == np.float32 and (x == np.arange(6).reshape(2, 3).T).all()\n"
      "z = np.load('ours.npz'); assert (z['x'] == np.arange(4)).all() and z['y'].dtype == bool and "
      "z['y'].all()\n");
  std::stringstream stream;
  npy::write(stream, arange(3));
  CHECK(equal(npy::read(stream), arange(3)));
  CHECK_THROWS_WITH(npy::write(temporary("no.npy"), ones({2}, kBFloat16)),
                    Contains("BFloat16") || Contains("bfloat16"));
}

TEST_CASE("a module loads an .npz file of NumPy") {
  nn::Linear net(2, 1);
  npy::write_npz(temporary("net.npz"), {{"weight", tensor({{1.0, 2.0}})}, {"bias", tensor({3.0})}});
  load(net, temporary("net.npz"));
  CHECK(equal(net->weight, tensor({{1.0f, 2.0f}})));
}

TEST_CASE("npy headers of all versions are read even if they are longer than 65535 bytes") {
  for (const char version : {1, 2, 3})
    for (const std::size_t blanks : {std::size_t{3}, std::size_t{70000}}) {
      if (version == 1 && blanks > 65000) continue;
      INFO("version " << int{version} << ", " << blanks << " blanks");
      const std::string text =
          "{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }" + std::string(blanks, ' ') + "\n";
      std::string bytes = std::string("\x93NUMPY") + version + '\0';
      for (int i = 0; i < (version == 1 ? 2 : 4); ++i)
        bytes += static_cast<char>(text.size() >> 8 * i & 0xff);
      bytes += text + "ab";
      CHECK(equal(npy::parse(bytes.data(), bytes.size()), tensor({97, 98}).to(kByte)));
    }
}

TEST_CASE("damaged .npy files are errors") {
  CHECK(equal(parsed("'|u1'", "False", "(2,)", "ab"), tensor({97, 98}).to(kByte)));
  CHECK_THROWS_WITH(parsed("'|u1'", "False", "(3,)", "ab"), Contains("cut short"));
  CHECK_THROWS_WITH(parsed("'|u1'", "False", "(9223372036854775807, 9223372036854775807)", "ab"),
                    Contains("too large"));
  CHECK_THROWS_WITH(parsed("'|u1'", "False", "(-2,)", "ab"), Contains("shape"));
  CHECK_THROWS_WITH(parsed("[('x', '<f4')]", "False", "(2,)", "ab"), Contains("structures"));
  CHECK_THROWS_WITH(parsed("'|O'", "False", "(2,)", "ab"), Contains("|O"));
  CHECK_THROWS_WITH(parsed("'|b1'", "False", "(2,)", "ab"), Contains("0 and 1"));
  CHECK_THROWS_WITH(npy::parse("hello", 5), Contains("NUMPY"));
}

// Rarely used functions of the file formats.

using namespace std::string_literals;
using support::Saying;

namespace {

std::string with_header(const std::string& header) {
  const std::uint64_t size = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &size, 8);
  return bytes + header + "\0\0\x80\x3f"s;
}

}  // namespace

TEST_CASE("is_npz is true for an archive of arrays and does not change the position of the stream") {
  npy::write_npz(temporary("a.npz"), {{"x", arange(3)}});
  npy::write(temporary("a.npy"), arange(3));
  pytorch::write(temporary("a.pt"), pytorch::NamedTensors{{"x", arange(3)}});
  for (const auto& [name, expected] : {std::pair("a.npz", true), {"a.npy", false}, {"a.pt", false}}) {
    INFO(name);
    CHECK(npy::is_npz(temporary(name)) == expected);
    std::stringstream stream("before" + support::read_file(temporary(name)));
    stream.seekg(6);
    CHECK(npy::is_npz(stream) == expected);
    CHECK(stream.tellg() == std::streampos(6));
    if (expected) CHECK(equal(npy::read_npz(stream).at(0).second, arange(3)));
  }
  std::stringstream empty;
  CHECK_FALSE(npy::is_npz(empty));
}

TEST_CASE("write_npz with a too long name keeps the old file and leaves no temporary file") {
  const support::Folder folder;
  const std::string path = folder / "a.npz";
  npy::write_npz(path, {{"x", arange(3)}});
  CHECK_THROWS_MATCHES(npy::write_npz(path, {{"x", arange(4)}, {std::string(60000, 'n'), arange(5)}}), Error,
                       Saying("zip: a name of 60004 bytes is too long."));
  CHECK(equal(npy::read_npz(path).at(0).second, arange(3)));
  CHECK(folder.names() == std::set<std::string>{"a.npz"});
}

TEST_CASE("a safetensors reader can be moved from and assigned") {
  std::stringstream first, second;
  safetensors::write(first, {{"a", tensor(1)}});
  safetensors::write(second, {{"b", tensor(2)}});
  safetensors::Reader from(first), to(second);
  safetensors::Reader moved(std::move(to));
  CHECK(moved.get_tensor("b").item<int>() == 2);
  moved = std::move(from);
  CHECK(moved.keys() == std::vector<std::string>{"a"});
  CHECK(moved.get_tensor("a").item<int>() == 1);
}

TEST_CASE("null, true and 1.5 in a safetensors header are ignored in unknown fields and refused in others") {
  for (const std::string word : {"null", "true", "1.5"}) {
    const auto read = [](const std::string& header) {
      const std::string bytes = with_header(header);
      return safetensors::parse(bytes.data(), bytes.size());
    };
    const auto entry = [](const std::string& dtype, const std::string& size, const std::string& more) {
      return R"({"a":{"dtype":)" + dtype + R"(,"shape":[)" + size + R"(],"data_offsets":[0,4])" + more + "}}";
    };
    CHECK(read(entry(R"("F32")", "1", R"(,"note":)" + word)).at("a").item<float>() == 1);
    const std::pair<std::string, const char*> wrong[] = {
        {entry(word, "1", ""), "tensor \"a\" has a dtype, shape or data_offsets of the wrong kind"},
        {entry(R"("F32")", word, ""), "tensor \"a\": a size is not a natural number"},
        {R"({"__metadata__":{"k":)" + word + "}}",
         "__metadata__ holds something other than strings at \"k\""},
        {R"({"__metadata__":)" + word + "}", "__metadata__ is not an object"},
        {R"({"a":)" + word + "}", "tensor \"a\" lacks dtype, shape or data_offsets"}};
    for (const auto& [header, message] : wrong) CHECK_THROWS_MATCHES(read(header), Error, Saying(message));
  }
}

TEST_CASE("load to a given device works, and load with assign works for renamed tensors") {
  nn::Linear from(2, 3), to(2, 3), other(2, 3);
  save(from, temporary("linear.safetensors"));
  const auto keys = load(*to, temporary("linear.safetensors"), Device(kCPU));
  CHECK(keys.missing_keys.empty());
  CHECK(equal(to->weight, from->weight));
  CHECK(equal(to->bias, from->bias));
  safetensors::write(temporary("named.safetensors"),
                     {{"w", from->weight.to(kDouble)}, {"b", from->bias.to(kDouble)}});
  load(other, temporary("named.safetensors"),
       LoadOptions().prefixes({{"w", "weight"}, {"b", "bias"}}).assign(true));
  CHECK(other->weight.dtype() == kDouble);
  CHECK(equal(other->weight, from->weight.to(kDouble)));
  CHECK(equal(other->bias, from->bias.to(kDouble)));
}

TEST_CASE("an optimizer option of type string is written as a string for libtorch") {
  const Tensor p = ones({2}).requires_grad_();
  const optim::LBFGS optimizer({p}, optim::LBFGSOptions(0.5).line_search_fn("strong_wolfe"));
  std::stringstream stream;
  pytorch::save(optimizer, stream);
  const pytorch::Value options = pytorch::read(stream).at("param_groups").at("param_groups/0").at("options");
  CHECK(options.at("line_search_fn").as_string() == "strong_wolfe");
  CHECK(options.at("lr").as_double() == 0.5);
}

TEST_CASE("a save function receives single characters, and an incomplete write throws") {
  std::string taken;
  const auto keep = [&](const void* data, std::size_t size) {
    taken.append(static_cast<const char*>(data), size);
    return size;
  };
  serialize::detail::with_stream(keep, [](std::ostream& stream) { stream.put('a').put('\xff') << "bc"; });
  CHECK(taken ==
        "a\xff"
        "bc");
  const auto refuse = [](const void*, std::size_t) { return std::size_t{0}; };
  CHECK_THROWS_MATCHES(serialize::detail::with_stream(refuse, [](std::ostream& stream) { stream.put('a'); }),
                       Error, Saying("save: the function that writes took 0 of 1 bytes."));
}
