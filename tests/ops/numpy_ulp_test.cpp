// NumPy's validation sets: 26,610 arguments of 20 functions, each with the exact result and the error allowed
// in units in the last place. They come with Debian's python3-numpy; without it the test says how much it
// skipped.
#include <ebb/ebb.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "support/catch.h"

namespace {

using ebb::Tensor;

struct Set {
  const char* file;
  Tensor (*op)(const Tensor&);
  int rows;
};

// cbrt (1,428 rows) is missing: ebb, like torch, has no cube root.
const Set kSets[] = {
    {"arccos", ebb::acos, 1428},   {"arccosh", ebb::acosh, 1428}, {"arcsin", ebb::asin, 1428},
    {"arcsinh", ebb::asinh, 1428}, {"arctan", ebb::atan, 1428},   {"arctanh", ebb::atanh, 1428},
    {"cos", ebb::cos, 1370},       {"cosh", ebb::cosh, 1428},     {"exp", ebb::exp, 367},
    {"exp2", ebb::exp2, 1428},     {"expm1", ebb::expm1, 1428},   {"log", ebb::log, 260},
    {"log10", ebb::log10, 1628},   {"log1p", ebb::log1p, 1428},   {"log2", ebb::log2, 1628},
    {"sin", ebb::sin, 1365},       {"sinh", ebb::sinh, 1428},     {"tan", ebb::tan, 1428},
    {"tanh", ebb::tanh, 1428},
};

std::string data_folder() {
  if (const char* given = std::getenv("EBB_NUMPY_DATA")) return given;
  for (const char* core : {"core", "_core"}) {
    const std::string folder = std::string("/usr/lib/python3/dist-packages/numpy/") + core + "/tests/data";
    if (std::filesystem::exists(folder + "/umath-validation-set-exp.csv")) return folder;
  }
  return "";
}

template <class T>
struct Rows {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  std::vector<T> x, y;
  std::vector<double> bound;
  void add(const std::string& in, const std::string& out, double ulp) {
    x.push_back(std::bit_cast<T>(static_cast<Bits>(std::stoull(in, nullptr, 16))));
    y.push_back(std::bit_cast<T>(static_cast<Bits>(std::stoull(out, nullptr, 16))));
    bound.push_back(ulp);
  }
};

// Distance in representable numbers; NaN is as good as any NaN.
template <class T>
double ulps(T a, T b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b) ? 0 : INFINITY;
  using Signed = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  const auto place = [](T v) {
    const Signed bits = std::bit_cast<Signed>(v);
    return static_cast<long double>(bits < 0
                                        ? -static_cast<long double>(bits & std::numeric_limits<Signed>::max())
                                        : static_cast<long double>(bits));
  };
  return static_cast<double>(std::fabs(place(a) - place(b)));
}

template <class T>
int check(const Set& set, const Rows<T>& rows) {
  const auto n = static_cast<std::int64_t>(rows.x.size());
  const Tensor x = ebb::empty({n}, ebb::dtype<T>());
  std::memcpy(x.data_ptr<T>(), rows.x.data(), rows.x.size() * sizeof(T));
  const Tensor y = set.op(x);
  double worst = 0;
  for (std::size_t i = 0; i < rows.x.size(); ++i) {
    const double error = ulps(y.data_ptr<T>()[i], rows.y[i]);
    INFO(set.file << "(" << rows.x[i] << ") = " << y.data_ptr<T>()[i] << ", exact " << rows.y[i]
                  << ", off by " << error << " ulp");
    if (!(error <= rows.bound[i])) CHECK(error <= rows.bound[i]);
    worst = std::max(worst, error);
  }
  CHECK(worst <= 4);

  // The same bits wherever an element stands: alone, and among strided ones.
  const Tensor wide = ebb::empty({n, 3}, ebb::dtype<T>());
  for (std::int64_t i = 0; i < n; ++i) wide.data_ptr<T>()[3 * i] = x.data_ptr<T>()[i];
  const Tensor strided = set.op(wide.as_strided({n}, {3}));
  int different =
      std::memcmp(strided.contiguous().data_ptr<T>(), y.data_ptr<T>(), rows.x.size() * sizeof(T)) != 0;
  for (std::int64_t i = 0; i < n; i += 7)
    different += std::memcmp(set.op(x.as_strided({1}, {1}, i)).template data_ptr<T>(), y.data_ptr<T>() + i,
                             sizeof(T)) != 0;
  CHECK(different == 0);
  return static_cast<int>(n);
}

}  // namespace

TEST_CASE("numpy's validation sets hold for float and double") {
  const std::string folder = data_folder();
  int rows = 0, expected = 0;
  for (const Set& set : kSets) expected += set.rows;
  if (folder.empty()) {
    WARN("skipped " << expected << " rows: python3-numpy is not installed");
    return;
  }
  for (const Set& set : kSets) {
    Rows<float> single;
    Rows<double> twice;
    std::ifstream file(folder + "/umath-validation-set-" + set.file + ".csv");
    REQUIRE(file);
    std::string line;
    while (std::getline(file, line)) {
      if (line.rfind("np.float", 0) != 0) continue;
      const auto a = line.find(','), b = line.find(',', a + 1), c = line.find(',', b + 1);
      const std::string in = line.substr(a + 1, b - a - 1), out = line.substr(b + 1, c - b - 1);
      const double bound = std::stod(line.substr(c + 1));
      if (line.rfind("np.float32", 0) == 0)
        single.add(in, out, bound);
      else
        twice.add(in, out, bound);
    }
    const int checked = check(set, single) + check(set, twice);
    CHECK(checked == set.rows);
    rows += checked;
  }
  CHECK(rows == expected);
}
