// Comparisons of every type, and what joins them with predicates.
#include "support.h"

namespace ebb::ptx::testing {
namespace {

// A comparison: what it says of numbers in order (less, equal, greater), and of NaN.
struct Comparison {
  const char* name;
  bool less, equal, greater, nan;
  bool of_floats;
};
constexpr Comparison kOrdered[] = {
    {"eq", false, true, false, false, false}, {"ne", true, false, true, false, false},
    {"lt", true, false, false, false, false}, {"le", true, true, false, false, false},
    {"gt", false, false, true, false, false}, {"ge", false, true, true, false, false}};
constexpr Comparison kOfFloats[] = {
    {"equ", false, true, false, true, true}, {"neu", true, false, true, true, true},
    {"ltu", true, false, false, true, true}, {"leu", true, true, false, true, true},
    {"gtu", false, false, true, true, true}, {"geu", false, true, true, true, true},
    {"num", true, true, true, false, true},  {"nan", false, false, false, true, true}};
constexpr Comparison kOfUnsigned[] = {{"lo", true, false, false, false, false},
                                      {"ls", true, true, false, false, false},
                                      {"hi", false, false, true, false, false},
                                      {"hs", false, true, true, false, false}};

template <class T>
bool holds(const Comparison& how, T a, T b) {
  if (a != a || b != b) return how.nan;
  return a < b ? how.less : b < a ? how.greater : how.equal;
}

/// Checks a comparison of a type. `value` makes the number that is compared.
template <class T, class Value>
void check(const Comparison& how, const std::string& type, const std::vector<T>& v, Value value) {
  const std::string set = "setp." + std::string(how.name) + type + " %p, %a, %b; selp.u32 %d, 1, 0, %p;";
  agrees<u32>(set, v, [&](T a, T b) { return holds(how, value(a), value(b)) ? 1 : 0; });
}

const auto itself = [](auto value) { return value; };

}  // namespace

TEST_CASE("Integers are compared by the sign of their type", "[ptx]") {
  for_types<u16, s16, u32, s32, u64, s64>([]<class T>(T) {
    const auto v = integers<T>();
    for (const Comparison& how : kOrdered) check(how, "." + name_of<T>(), v, itself);
    if (std::is_unsigned_v<T>) {
      for (const Comparison& how : kOfUnsigned) check(how, "." + name_of<T>(), v, itself);
      for (const Comparison& how : {kOrdered[0], kOrdered[1]})
        check(how, ".b" + std::to_string(8 * sizeof(T)), v, itself);
    }
  });
}

TEST_CASE("Floating numbers are compared with and without NaN", "[ptx]") {
  const auto check_all = [](const std::string& type, const auto& v, auto value) {
    for (const Comparison& how : kOrdered) check(how, type, v, value);
    for (const Comparison& how : kOfFloats) check(how, type, v, value);
  };
  check_all(".f32", floats<float>(), itself);
  check_all(".ftz.f32", floats<float>(), [](float a) { return std::fpclassify(a) == FP_SUBNORMAL ? 0 : a; });
  check_all(".f64", floats<double>(), itself);
  for (const Format format : {kHalf, kBrain})
    check_all(std::string(".") + format.name, numbers_of(format), [=](u16 a) { return value_in(format, a); });
}

TEST_CASE("Comparisons are joined with a predicate, and give the joined opposite as well", "[ptx]") {
  const std::vector<u32> both{0, 1};
  const auto v = floats<float>(0);
  const auto joined = [](const std::string& join, bool a, bool b) {
    return join == "and" ? a && b : join == "or" ? a || b : a != b;
  };
  for (const std::string join : {"and", "or", "xor"})
    for (const bool negated : {false, true})
      for (const char* how : {"lt", "ltu"})
        agrees<u32>("setp.ne.u32 %s, %c, 0; setp." + std::string(how) + "." + join + ".f32 %p|%q, %a, %b, " +
                        (negated ? "!" : "") +
                        "%s; selp.u32 %d, 1, 0, %p; selp.u32 %w0, 2, 0, %q; or.b32 %d, %d, %w0;",
                    in(v, v, both), [&](float a, float b, u32 c) {
                      const bool less = std::string(how) == "lt" ? a < b : !(a >= b),
                                 other = (c != 0) != negated;
                      return (joined(join, less, other) ? 1 : 0) + (joined(join, !less, other) ? 2 : 0);
                    });
  const auto w = integers<s32>();
  agrees<u32>("setp.lt.s32 %p|%q, %a, %b; selp.u32 %d, 1, 0, %p; selp.u32 %w0, 2, 0, %q; or.b32 %d, %d, %w0;",
              w, [](s32 a, s32 b) { return a < b ? 1 : 2; });
  agrees<u32>("setp.lt.s32 _|%q, %a, %b; selp.u32 %d, 1, 0, %q;", w,
              [](s32 a, s32 b) { return a < b ? 0 : 1; });
}

TEST_CASE("Operands of comparisons may be literals", "[ptx]") {
  agrees<u32>("setp.gt.s32 %p, %a, -1; selp.u32 %d, 1, 0, %p;", integers<s32>(),
              [](s32 a) { return a > -1 ? 1 : 0; });
  agrees<u32>("setp.lt.f32 %p, %a, 0f40000000; selp.u32 %d, 1, 0, %p;", floats<float>(),
              [](float a) { return a < 2 ? 1 : 0; });
  agrees<u32>("setp.ge.f64 %p, %a, 0dBFF0000000000000; selp.u32 %d, 1, 0, %p;", floats<double>(),
              [](double a) { return a >= -1 ? 1 : 0; });
}

}  // namespace ebb::ptx::testing
