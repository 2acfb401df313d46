// The functions that are not as exact as they should be, by rows of the op table.
#include "accuracy/exceptions.h"

#include <map>

namespace accuracy {
namespace {

/// The parts that miss the bound, each with its dtypes: d, s, h and b for f64, f32, f16 and bf16.
struct Entry {
  const char *parts, *reason;
};

constexpr const char* kHalf = "16-bit numbers are rounded after each op of the derivative";
constexpr const char* kSide = "a difference from 1 or from the larger operand loses the small side";
constexpr const char* kSquare = "a square, product or quotient on the way overflows or underflows";
constexpr const char* kCancels = "terms cancel, or are infinite where the whole is not";
constexpr const char* kTurns =
    "two parts of opposite sign, each exact to 3 units, cancel where the derivative turns";
constexpr const char* kExponent = "powers of s = 1e37 have exponents that the test itself cannot hold";

const std::map<std::string, Entry> kExceptions = {
    {"gelu.tanh", {"f_a:s f_aa:ds", kTurns}},
    {"logaddexp", {"f_a:dshb f_b:dshb f_aa:dshb f_ab:dshb f_bb:dshb", kSide}},
    {"logaddexp2", {"f_a:dshb f_b:dshb f_aa:dshb f_ab:dshb f_bb:dshb", kSide}},
    {"mish", {"f_a:ds f_aa:ds", kTurns}},
    {"special_zeta", {"f:b f_bb:b", kExponent}},
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
