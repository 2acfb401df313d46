// NumPy's files: what NumPy writes is read, and it reads what is written.
#include <ebb/ebb.h>
#include <ebb/io/npy.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "support/catch.h"
#include "support/files.h"

using namespace ebb;
using support::Contains;
using support::temporary;

namespace {

// python3-numpy is among the packages of the tests; another Python that stands before Debian's may lack it.
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

TEST_CASE("what NumPy writes is read") {
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

TEST_CASE("NumPy reads what is written") {
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

TEST_CASE("a module loads an archive of NumPy's") {
  nn::Linear net(2, 1);
  npy::write_npz(temporary("net.npz"), {{"weight", tensor({{1.0, 2.0}})}, {"bias", tensor({3.0})}});
  load(net, temporary("net.npz"));
  CHECK(equal(net->weight, tensor({{1.0f, 2.0f}})));
}

TEST_CASE("headers of every version of the format are read, longer than 65,535 bytes too") {
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
