// Helpers for tests of the PTX interpreter: kernels of one instruction, inputs, and comparisons with a host
// function.
#pragma once

#include "cuda/ptx/interpreter/instruction.h"
#include "cuda/ptx/interpreter/interpreter.h"
#include "support/catch.h"

#include <bit>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

namespace ebb::ptx::testing {

/// A program with the entry "kernel", whose one parameter is the address of memory. The body may use that
/// address as %out, the thread number as %tid, and registers %p<10> (predicates), %h<30> (16 bits), %r<30>
/// (32 bits) and %x<30> (64 bits). `outside` is placed before the entry.
std::string program(const std::string& body, const std::string& outside = "", const std::string& bounds = "");

/// The result of a kernel, and the memory after it.
struct Outcome {
  Status status = Status::success;
  std::string findings;
  std::vector<u32> memory;
};
Outcome launch(const std::string& program, std::vector<u32> memory, const Grid& grid);
Outcome launch(const std::string& program, std::vector<u32> memory, unsigned threads = 32);
/// The memory after a body with that many threads; the memory has one word for each of them. Throws if there
/// are findings.
std::vector<u32> words_of(const std::string& body, unsigned threads = 32, std::vector<u32> memory = {},
                          const std::string& outside = "");
/// The instructions of a body that the interpreter refuses, with the reasons.
std::string refused(const std::string& body, const std::string& outside = "");

/// The values of a register as bytes.
struct Column {
  std::vector<unsigned char> bytes;
  unsigned each = 0;
};
/// Executes instructions once for each row of the inputs %a, %b, %c and %e; returns the column of %d. The
/// text may use %p, %q and %s for predicates, and %h<9>, %w<9> and %x<9> for 16, 32 and 64 bits.
std::vector<unsigned char> evaluate_columns(const std::string& text, unsigned result,
                                            std::vector<Column> inputs);

template <class T>
Column column_of(const std::vector<T>& values) {
  Column made{std::vector<unsigned char>(values.size() * sizeof(T)), sizeof(T)};
  std::memcpy(made.bytes.data(), values.data(), made.bytes.size());
  return made;
}
template <class D, class... A>
std::vector<D> evaluate(const std::string& text, const std::vector<A>&... inputs) {
  const auto bytes = evaluate_columns(text, sizeof(D), {column_of(inputs)...});
  std::vector<D> results(bytes.size() / sizeof(D));
  std::memcpy(results.data(), bytes.data(), bytes.size());
  return results;
}

/// A value that is known up to a relative error.
struct Near {
  double value, tolerance;
};
template <class T>
bool same(T got, T wanted) {
  return (got != got && wanted != wanted) || std::memcmp(&got, &wanted, sizeof got) == 0;
}
template <class T>
bool same(T got, Near wanted) {
  const double found = static_cast<double>(got);
  if (std::isnan(wanted.value) || std::isinf(wanted.value) || wanted.value == 0)
    return (std::isnan(found) && std::isnan(wanted.value)) || found == wanted.value;
  return std::fabs(found - wanted.value) <= wanted.tolerance * std::fabs(wanted.value);
}

template <class T>
std::string shown(T value) {
  std::ostringstream text;
  u64 bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  text << std::hex << "0x" << bits;
  if constexpr (std::is_floating_point_v<T>) text << " = " << value;
  return text.str();
}
inline std::string shown(Near value) { return std::to_string(value.value); }

/// The tables of %a, %b, %c and %e.
template <class... A>
std::tuple<std::vector<A>...> in(const std::vector<A>&... tables) {
  return {tables...};
}

/// Checks for all combinations of inputs that %d equals the result of a function. If the text has no
/// operands, those of the function are added.
template <class D, class F, class... A>
void agrees(std::string text, const std::tuple<std::vector<A>...>& tables, F expected) {
  const std::string operands(" %d, %a, %b, %c, %e", 3 + 4 * sizeof...(A));
  if (text.find('%') == text.npos) text += operands + ";";
  std::tuple<std::vector<A>...> rows;
  std::size_t count = 1, stride = 1;
  std::apply([&](auto&... table) { count = (table.size() * ...); }, tables);
  const auto fill = [&](auto& row, const auto& table) {
    for (std::size_t n = 0; n < count; ++n) row.push_back(table[n / stride % table.size()]);
    stride *= table.size();
  };
  std::apply([&](auto&... row) { std::apply([&](auto&... table) { (fill(row, table), ...); }, tables); },
             rows);
  const auto got = std::apply([&](auto&... row) { return evaluate<D>(text, row...); }, rows);
  for (std::size_t n = 0; n < count; ++n) {
    const auto result = std::apply([&](auto&... row) { return expected(row[n]...); }, rows);
    using Wanted = std::conditional_t<std::is_same_v<std::decay_t<decltype(result)>, Near>, Near, D>;
    const Wanted wanted = static_cast<Wanted>(result);
    if (same(got[n], wanted)) continue;
    const auto inputs = std::apply([&](auto&... row) { return ((shown(row[n]) + ", ") + ...); }, rows);
    FAIL_CHECK(text << " of " << inputs << "gives " << shown(got[n]) << ", not " << shown(wanted));
    return;
  }
  SUCCEED();
}
/// The same with one table for all arguments of the function.
template <class D, class F, class A>
void agrees(const std::string& text, const std::vector<A>& table, F expected) {
  if constexpr (std::is_invocable_v<F, A>)
    agrees<D>(text, in(table), expected);
  else if constexpr (std::is_invocable_v<F, A, A>)
    agrees<D>(text, in(table, table), expected);
  else
    agrees<D>(text, in(table, table, table), expected);
}

/// Calls a function with a value of each type.
template <class... T, class F>
void for_types(F function) {
  (function(T{}), ...);
}
template <class T>
std::string name_of() {
  const std::string bits = std::to_string(8 * sizeof(T));
  return (std::is_floating_point_v<T> ? "f" : std::is_signed_v<T> ? "s" : "u") + bits;
}
/// "add.u32" of "add", and "and.b32" of "and".
template <class T>
std::string typed(const std::string& op) {
  return op + "." + name_of<T>();
}
template <class T>
std::string sized(const std::string& op) {
  return op + ".b" + std::to_string(8 * sizeof(T));
}

u64 random_bits();
/// Small values, extremes, powers of two, and random values.
template <class T>
std::vector<T> integers() {
  using Limits = std::numeric_limits<T>;
  constexpr T kMin = Limits::min(), kMax = Limits::max(),
              kTop = static_cast<T>(u64{1} << (8 * sizeof(T) - 1));
  std::vector<T> made{
      0,    1,    2,        3,        7,   10, static_cast<T>(-1), static_cast<T>(-2), static_cast<T>(-7),
      kMin, kMax, kMax - 1, kMin + 1, kTop};
  for (int n = 0; n < 6; ++n)
    made.push_back(static_cast<T>(random_bits())), made.push_back(static_cast<T>(random_bits() >> 56));
  return made;
}
/// Zeros, ones, ties, subnormals, extremes, infinities, NaN, and random values of all magnitudes and near 1.
template <class T>
std::vector<T> floats(int random = 20) {
  using Limits = std::numeric_limits<T>;
  std::vector<T> made;
  for (const T size : {T(0), T(1), T(1.5), T(3), Limits::epsilon(), T(1) + Limits::epsilon(), Limits::min(),
                       Limits::denorm_min(), Limits::min() - Limits::denorm_min(), Limits::max(),
                       Limits::infinity(), Limits::quiet_NaN()})
    made.push_back(size), made.push_back(-size);
  for (int n = 0; n < random; ++n) {
    using Bits = std::conditional_t<sizeof(T) == 4, u32, u64>;
    made.push_back(std::bit_cast<T>(static_cast<Bits>(random_bits())));
    made.push_back(static_cast<T>(std::ldexp(static_cast<double>(random_bits() >> 11), n % 8 - 55)));
  }
  return made;
}

/// A 16-bit format.
struct Format {
  const char* name;
  int mantissa, bias;
};
constexpr Format kHalf{"f16", 10, 15}, kBrain{"bf16", 7, 127};
double value_in(Format format, u16 bits);
/// The value of the format that is nearest to the exact sum of two numbers in a rounding mode, found by
/// search over all values.
u16 nearest(Format format, double a, double b = -0.0, int mode = FE_TONEAREST);
/// Edge cases and random values of a format.
std::vector<u16> numbers_of(Format format);

/// Rounding modes by their PTX names.
struct Mode {
  const char* name;
  int mode;
};
constexpr Mode kModes[] = {
    {"rn", FE_TONEAREST}, {"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}};
}  // namespace ebb::ptx::testing
