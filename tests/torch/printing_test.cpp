// Printing in the format of libtorch: expected texts were printed by libtorch 1.13.1.
#include "support/catch.h"

#include <torch/torch.h>

#include <cmath>
#include <iomanip>
#include <map>
#include <sstream>
#include <utility>

namespace {

const double inf = HUGE_VAL, hole = std::nan("");

struct Printed {
  const char* what;
  torch::Tensor tensor;
  const char* text;
};

}  // namespace

TEST_CASE("tensors print as libtorch prints them") {
  const Printed all[] = {
      {"torch::ones({2, 3})", torch::ones({2, 3}),
       " 1  1  1\n"
       " 1  1  1\n"
       "[ CPUFloatType{2,3} ]"},
      {"torch::tensor(1.5)", torch::tensor(1.5),
       "1.5\n"
       "[ CPUFloatType{} ]"},
      {"torch::tensor(7)", torch::tensor(7),
       "7\n"
       "[ CPULongType{} ]"},
      {"torch::arange(4)", torch::arange(4),
       " 0\n"
       " 1\n"
       " 2\n"
       " 3\n"
       "[ CPULongType{4} ]"},
      {"torch::arange(12, torch::kFloat).view({2, 3, 2}) * 0.5",
       torch::arange(12, torch::kFloat).view({2, 3, 2}) * 0.5,
       "(1,.,.) = \n"
       "  0.0000  0.5000\n"
       "  1.0000  1.5000\n"
       "  2.0000  2.5000\n"
       "\n"
       "(2,.,.) = \n"
       "  3.0000  3.5000\n"
       "  4.0000  4.5000\n"
       "  5.0000  5.5000\n"
       "[ CPUFloatType{2,3,2} ]"},
      {"torch::tensor({0.001, 123456.0})", torch::tensor({0.001, 123456.0}),
       " 1.0000e-03\n"
       " 1.2346e+05\n"
       "[ CPUFloatType{2} ]"},
      {"torch::tensor({100000.5, 200000.25})", torch::tensor({100000.5, 200000.25}),
       "1e+05 *\n"
       " 1.0000\n"
       " 2.0000\n"
       "[ CPUFloatType{2} ]"},
      {"torch::tensor({{0.00012, 0.00034}, {0.00056, -0.00078}})",
       torch::tensor({{0.00012, 0.00034}, {0.00056, -0.00078}}),
       "0.0001 *\n"
       " 1.2000  3.4000\n"
       "  5.6000 -7.8000\n"
       "[ CPUFloatType{2,2} ]"},
      {"torch::tensor({{1e5 + 0.5, 1.5}, {2.5, -3.5}})", torch::tensor({{1e5 + 0.5, 1.5}, {2.5, -3.5}}),
       " 1.0000e+05  1.5000e+00\n"
       " 2.5000e+00 -3.5000e+00\n"
       "[ CPUFloatType{2,2} ]"},
      {"torch::tensor({1e-120, 2.5}, torch::kDouble)", torch::tensor({1e-120, 2.5}, torch::kDouble),
       " 1.0000e-120\n"
       "  2.5000e+00\n"
       "[ CPUDoubleType{2} ]"},
      {"torch::tensor({1.0, inf, -inf, hole})", torch::tensor({1.0, inf, -inf, hole}),
       " 1\n"
       "inf\n"
       "-inf\n"
       "nan\n"
       "[ CPUFloatType{4} ]"},
      {"torch::tensor({hole, hole})", torch::tensor({hole, hole}),
       "nan\n"
       "nan\n"
       "[ CPUFloatType{2} ]"},
      {"torch::tensor({1.5, hole})", torch::tensor({1.5, hole}),
       " 1.5000\n"
       "    nan\n"
       "[ CPUFloatType{2} ]"},
      {"torch::tensor({-1000.5, 1.5})", torch::tensor({-1000.5, 1.5}),
       "-1000.5000\n"
       "    1.5000\n"
       "[ CPUFloatType{2} ]"},
      {"torch::tensor({1e10, 2e10})", torch::tensor({1e10, 2e10}),
       " 1.0000e+10\n"
       " 2.0000e+10\n"
       "[ CPUFloatType{2} ]"},
      {"torch::tensor({0.0, 0.5})", torch::tensor({0.0, 0.5}),
       " 0.0000\n"
       " 0.5000\n"
       "[ CPUFloatType{2} ]"},
      {"torch::arange(30, torch::kInt).view({2, 15}) * 100000",
       torch::arange(30, torch::kInt).view({2, 15}) * 100000,
       "Columns 1 to 8       0   100000   200000   300000   400000   500000   600000   700000\n"
       " 1.5e+06  1.6e+06  1.7e+06  1.8e+06  1.9e+06    2e+06  2.1e+06  2.2e+06\n"
       "\n"
       "Columns 9 to 15  800000   900000    1e+06  1.1e+06  1.2e+06  1.3e+06  1.4e+06\n"
       " 2.3e+06  2.4e+06  2.5e+06  2.6e+06  2.7e+06  2.8e+06  2.9e+06\n"
       "[ CPUIntType{2,15} ]"},
      {"torch::arange(30, torch::kDouble).view({2, 15}) * 123456.789",
       torch::arange(30, torch::kDouble).view({2, 15}) * 123456.789,
       "Columns 1 to 6 0.0000e+00  1.2346e+05  2.4691e+05  3.7037e+05  4.9383e+05  6.1728e+05\n"
       " 1.8519e+06  1.9753e+06  2.0988e+06  2.2222e+06  2.3457e+06  2.4691e+06\n"
       "\n"
       "Columns 7 to 12 7.4074e+05  8.6420e+05  9.8765e+05  1.1111e+06  1.2346e+06  1.3580e+06\n"
       " 2.5926e+06  2.7160e+06  2.8395e+06  2.9630e+06  3.0864e+06  3.2099e+06\n"
       "\n"
       "Columns 13 to 15 1.4815e+06  1.6049e+06  1.7284e+06\n"
       " 3.3333e+06  3.4568e+06  3.5802e+06\n"
       "[ CPUDoubleType{2,15} ]"},
      {"torch::zeros({0})", torch::zeros({0}), "[ CPUFloatType{0} ]"},
      {"torch::zeros({2, 0})", torch::zeros({2, 0}), "[ CPUFloatType{2,0} ]"},
      {"torch::zeros({2, 0, 3})", torch::zeros({2, 0, 3}), "[ CPUFloatType{2,0,3} ]"},
      {"torch::ones({2, 1, 2, 2}, torch::kBool)", torch::ones({2, 1, 2, 2}, torch::kBool),
       "(1,1,.,.) = \n"
       "  1  1\n"
       "  1  1\n"
       "\n"
       "(2,1,.,.) = \n"
       "  1  1\n"
       "  1  1\n"
       "[ CPUBoolType{2,1,2,2} ]"},
      {"torch::tensor({1.5, 2.5}, torch::kHalf)", torch::tensor({1.5, 2.5}, torch::kHalf),
       " 1.5000\n"
       " 2.5000\n"
       "[ CPUHalfType{2} ]"},
      {"torch::ones({2}, torch::requires_grad()) * 3", torch::ones({2}, torch::requires_grad()) * 3,
       " 3\n"
       " 3\n"
       "[ CPUFloatType{2} ]"},
      {"torch::Tensor()", torch::Tensor(), "[ Tensor (undefined) ]"},
      {"torch::arange(6).view({2, 3}).t()", torch::arange(6).view({2, 3}).t(),
       " 0  3\n"
       " 1  4\n"
       " 2  5\n"
       "[ CPULongType{3,2} ]"},
      {"torch::tensor({{-0.5}, {-99.5}})", torch::tensor({{-0.5}, {-99.5}}),
       "-0.5000\n"
       "-99.5000\n"
       "[ CPUFloatType{2,1} ]"},
      {"torch::tensor({200, 3}, torch::kByte)", torch::tensor({200, 3}, torch::kByte),
       " 200\n"
       "   3\n"
       "[ CPUByteType{2} ]"},
      {"torch::tensor({{0.05, 0.5}, {0.01, 0.02}}).unsqueeze(0)",
       torch::tensor({{0.05, 0.5}, {0.01, 0.02}}).unsqueeze(0),
       "(1,.,.) = \n"
       "  0.0500  0.5000\n"
       "  0.0100  0.0200\n"
       "[ CPUFloatType{1,2,2} ]"},
      {"torch::arange(30, torch::kDouble).view({1, 2, 15}) * 0.000123456",
       torch::arange(30, torch::kDouble).view({1, 2, 15}) * 0.000123456,
       "(1,.,.) = \n"
       " Columns 1 to 9 0.001 *\n"
       "  0.0000  0.1235  0.2469  0.3704  0.4938  0.6173  0.7407  0.8642  0.9876\n"
       "   1.8518  1.9753  2.0988  2.2222  2.3457  2.4691  2.5926  2.7160  2.8395\n"
       "\n"
       "Columns 10 to 15 0.001 *\n"
       "  1.1111  1.2346  1.3580  1.4815  1.6049  1.7284\n"
       "   2.9629  3.0864  3.2099  3.3333  3.4568  3.5802\n"
       "[ CPUDoubleType{1,2,15} ]"},
  };
  for (const Printed& each : all) {
    INFO(each.what);
    CHECK(c10::str(each.tensor) == each.text);
  }
}

TEST_CASE("printing a tensor does not change the number format of the stream") {
  std::ostringstream out;
  out << std::setprecision(12) << 1.23456789012 << torch::ones({1}) << 1.23456789012;
  CHECK(out.str() == "1.23456789012 1\n[ CPUFloatType{1} ]1.23456789012");
}

TEST_CASE("print() limits its lines to the given width") {
  std::ostringstream out;
  at::print(out, torch::arange(20).view({1, 20}), 30);
  CHECK(out.str() ==
        "Columns 1 to 7  0   1   2   3   4   5   6\n\nColumns 8 to 14  7   8   9  10  11  12  13\n\n"
        "Columns 15 to 20 14  15  16  17  18  19\n[ CPULongType{1,20} ]");
}

TEST_CASE("containers print their elements") {
  CHECK(c10::str(std::vector<int64_t>{1, 2}, '|', std::vector<float>{1, 2.5}) == "1 2|1 2.5");
  CHECK(c10::str(std::vector<torch::Tensor>{torch::ones(1), torch::ones(1)}) ==
        " 1\n[ CPUFloatType{1} ]  1\n[ CPUFloatType{1} ]");
  CHECK(c10::str(std::make_pair(1, 2.5), std::map<int, int>{{1, 2}, {3, 4}}, std::set<int>{5, 6}) ==
        "(1, 2.5)(1, 2) (3, 4)5 6");
  CHECK(c10::str(torch::ones({2}).sizes(), torch::IntArrayRef({1, 2})) == "[2][1, 2]");
  CHECK(c10::str(std::vector<int>(101, 7)).substr(196) == "7 7 ...");
  const std::vector<int64_t> sizes{2, 3};
  CHECK_THROWS_WITH([&] { TORCH_CHECK(sizes.empty(), "sizes ", sizes); }(), support::Contains("sizes 2 3"));
}
