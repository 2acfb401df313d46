// Functions that exceed the bounds of accuracy, by rows of the op table.
#include "accuracy/measure.h"

#include <map>

namespace accuracy {
namespace {

/// The parts that exceed the bound, each with its dtypes: d, s, h and b for f64, f32, f16 and bf16.
struct Entry {
  const char *parts, *reason;
};

constexpr const char* kTurns =
    "two terms of opposite sign, each accurate to 3 ulp, cancel at the sign change of the derivative";
constexpr const char* kFactors = "the power and two logarithms are rounded before they are multiplied";
constexpr const char* kCube =
    "the derivative uses the cube of the tangent, which has a rounding error itself";
constexpr const char* kExponent = "powers with s = 1e37 have exponents that the test cannot represent";

const std::map<std::string, Entry> kExceptions = {
    {"gelu.tanh", {"f_a:s f_aa:ds", kTurns}},
    {"mish", {"f_a:ds f_aa:ds", kTurns}},
    {"pow", {"f_bb:s", kFactors}},
    {"special_zeta", {"f:b f_b:b f_bb:b", kExponent}},
    {"tan", {"f_aa:ds", kCube}},
};

}  // namespace

std::string exception_of(const std::string& row, Part part, ebb::DType dtype) {
  const auto entry = kExceptions.find(row);
  if (entry == kExceptions.end()) return "";
  const std::string parts = std::string(" ") + entry->second.parts + " ";
  const std::size_t from = parts.find(std::string(" ") + name_of(part) + ":");
  if (from == parts.npos) return "";
  const char letter = dtype == ebb::kF64 ? 'd' : dtype == ebb::kF32 ? 's' : dtype == ebb::kHalf ? 'h' : 'b';
  const std::string dtypes = parts.substr(from + 1, parts.find(' ', from + 1) - from - 1);
  return dtypes.find(letter, dtypes.find(':')) == dtypes.npos ? "" : entry->second.reason;
}

}  // namespace accuracy
