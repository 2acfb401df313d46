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
constexpr const char* kRecurrence = "steps of the recurrence overflow before the polynomial does, or cancel";

const std::map<std::string, Entry> kExceptions = {
    {"digamma", {"f_aa:d", kCancels}},
    {"digamma.negative", {"f_aa:d", kCancels}},
    {"erf", {"f_a:b f_aa:dshb", kCancels}},
    {"erfc", {"f_a:b f_aa:dshb", kCancels}},
    {"erfinv", {"f_a:h f_aa:dhb", kSide}},
    {"i0", {"f_aa:dshb", kCancels}},
    {"igamma", {"f_b:dshb f_bb:dshb", kSquare}},
    {"igamma.in_place", {"f:d", kCancels}},
    {"igammac", {"f_b:dshb f_bb:dshb", kSquare}},
    {"logaddexp", {"f_a:ds f_b:ds f_aa:dsb f_ab:dsb f_bb:dsb", kSide}},
    {"logaddexp2", {"f_a:ds f_b:ds f_aa:dsb f_ab:dsb f_bb:dsb", kSide}},
    {"mvlgamma", {"f:dshb f_a:dshb f_aa:dshb", kCancels}},
    {"polygamma", {"f_aa:d", kCancels}},
    {"polygamma.second", {"f_aa:d", kCancels}},
    {"special_bessel_j0", {"f:d f_a:d f_aa:dshb", kCancels}},
    {"special_bessel_j1", {"f:d f_a:dshb f_aa:dshb", kCancels}},
    {"special_bessel_y0", {"f:d f_a:d f_aa:dshb", kCancels}},
    {"special_bessel_y1", {"f:d f_a:hb f_aa:dshb", kCancels}},
    {"special_chebyshev_polynomial_t", {"f:ds", kRecurrence}},
    {"special_chebyshev_polynomial_u", {"f:ds", kRecurrence}},
    {"special_chebyshev_polynomial_v", {"f:ds", kRecurrence}},
    {"special_chebyshev_polynomial_w", {"f:ds", kRecurrence}},
    {"special_erfcx", {"f:d f_a:dshb f_aa:dshb", kCancels}},
    {"special_hermite_polynomial_h", {"f:ds", kRecurrence}},
    {"special_hermite_polynomial_he", {"f:ds", kRecurrence}},
    {"special_i0e", {"f:d f_a:dshb f_aa:dshb", kCancels}},
    {"special_i1", {"f_a:dshb f_aa:dshb", kCancels}},
    {"special_i1e", {"f:d f_a:dshb f_aa:dshb", kCancels}},
    {"special_laguerre_polynomial_l", {"f:ds", kRecurrence}},
    {"special_legendre_polynomial_p", {"f:ds", kRecurrence}},
    {"special_log_ndtr", {"f_a:dshb f_aa:dshb", kCancels}},
    {"special_modified_bessel_k0", {"f_aa:hb", kHalf}},
    {"special_modified_bessel_k1", {"f_aa:hb", kHalf}},
    {"special_ndtr", {"f_a:hb f_aa:dshb", kSide}},
    {"special_ndtri", {"f_a:dshb f_aa:dshb", kSide}},
    {"special_shifted_chebyshev_polynomial_t", {"f:ds", kRecurrence}},
    {"special_shifted_chebyshev_polynomial_u", {"f:ds", kRecurrence}},
    {"special_shifted_chebyshev_polynomial_v", {"f:ds", kRecurrence}},
    {"special_shifted_chebyshev_polynomial_w", {"f:ds", kRecurrence}},
    {"special_zeta", {"f_b:b f_bb:db", kCancels}},
    {"special_zeta.number_first", {"f_aa:hb", kHalf}},
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
