// Kernels of one instruction, and values of 16-bit formats.
#include "support.h"

#include <algorithm>
#include <random>
#include <stdexcept>

namespace ebb::ptx::testing {
namespace {

constexpr const char* kHead = ".version 9.0\n.target sm_90\n.address_size 64\n";

std::string joined(const std::map<std::string, long>& unknown) {
  std::string text;
  for (const auto& [name, count] : unknown) text += name + "\n";
  return text;
}

struct Launched {
  Status status = Status::success;
  std::string findings;
};

Launched run(const std::string& text, const Grid& grid, GlobalMemory& memory,
             const std::vector<u64>& parameters, const Settings& settings = {}) {
  const auto module = load(text);
  Entry& entry = *find_entry(*module, "kernel");
  if (const std::string unknown = joined(unknown_instructions(entry)); !unknown.empty())
    throw std::runtime_error("refused: " + unknown);
  Launched ended;
  Interpreter interpreter(memory, settings,
                          [&](const Finding& finding) { ended.findings += finding.text + "\n"; });
  ended.status = interpreter.run(entry, grid, std::as_bytes(std::span(parameters)));
  return ended;
}

std::string register_of(unsigned bytes) { return ".b" + std::to_string(8 * std::max(bytes, 2U)); }

}  // namespace

std::string program(const std::string& body, const std::string& outside, const std::string& bounds) {
  return kHead + outside + "\n.visible .entry kernel(.param .u64 memory)" + bounds +
         " {\n.reg .pred %p<10>;\n.reg .b16 %h<30>;\n.reg .b32 %r<30>, %tid;\n.reg .b64 %x<30>, %out, "
         "%mine;\n"
         "ld.param.u64 %out, [memory];\nmov.u32 %tid, %tid.x;\nmad.wide.u32 %mine, %tid, 4, %out;\n" +
         body + "\nret;\n}\n";
}

Outcome launch(const std::string& text, std::vector<u32> words, const Grid& grid) {
  GlobalMemory memory;
  memory.add_host(words.data(), words.size() * sizeof(u32));
  const Launched ended = run(text, grid, memory, {reinterpret_cast<std::uintptr_t>(words.data())});
  return {ended.status, ended.findings, std::move(words)};
}
Outcome launch(const std::string& text, std::vector<u32> words, unsigned threads) {
  return launch(text, std::move(words), Grid{{}, {threads}});
}

std::vector<u32> words_of(const std::string& body, unsigned threads, std::vector<u32> memory,
                          const std::string& outside) {
  if (memory.empty()) memory.resize(threads);
  Outcome ended = launch(program(body, outside), std::move(memory), threads);
  if (ended.status != Status::success || !ended.findings.empty())
    throw std::runtime_error("status " + std::to_string(static_cast<int>(ended.status)) + ": " +
                             ended.findings);
  return ended.memory;
}

std::string refused(const std::string& body, const std::string& outside) {
  const auto module = load(program(body, outside));
  return joined(unknown_instructions(*find_entry(*module, "kernel")));
}

std::vector<unsigned char> evaluate_columns(const std::string& text, unsigned result,
                                            std::vector<Column> inputs) {
  const std::size_t count = inputs.at(0).bytes.size() / inputs[0].each, blocks = (count + 31) / 32;
  inputs.push_back({std::vector<unsigned char>(count * result), result});
  constexpr const char* kNames[] = {"%a", "%b", "%c", "%e"};
  GlobalMemory memory;
  std::vector<u64> parameters;
  std::string declared, registers, loads, store;
  for (std::size_t n = 0; n < inputs.size(); ++n) {
    Column& column = inputs[n];
    column.bytes.resize(blocks * 32 * column.each);
    memory.add_host(column.bytes.data(), column.bytes.size());
    parameters.push_back(reinterpret_cast<std::uintptr_t>(column.bytes.data()));
    const bool is_result = n + 1 == inputs.size();
    const std::string name = is_result ? "%d" : kNames[n], each = std::to_string(column.each),
                      parameter = "column" + std::to_string(n);
    declared += (n > 0 ? ", .param .u64 " : ".param .u64 ") + parameter;
    registers += ".reg " + register_of(column.each) + " " + name + ";\n";
    const std::string address =
        "ld.param.u64 %at, [" + parameter + "];\nmad.wide.u32 %at, %row, " + each + ", %at;\n";
    const std::string type = ".global.b" + std::to_string(8 * column.each);
    (is_result ? store : loads) +=
        address + (is_result ? "st" + type + " [%at], %d;\n" : "ld" + type + " " + name + ", [%at];\n");
  }
  Grid grid;
  grid.blocks.x = static_cast<unsigned>(blocks);
  grid.threads.x = 32;
  Settings settings;  // Blocks share one memory one after another here; races have separate tests.
  settings.shared_races = false;
  const Launched ended = run(
      kHead + (".visible .entry kernel(" + declared) +
          ") {\n.reg .pred %p, %q, %s;\n.reg .b16 %h<9>;\n.reg .b32 %w<9>, %row;\n.reg .b64 %x<9>, %at;\n" +
          registers + "mov.u32 %row, %ctaid.x;\nshl.b32 %row, %row, 5;\nadd.u32 %row, %row, %laneid;\n" +
          loads + text + "\n" + store + "ret;\n}\n",
      grid, memory, parameters, settings);
  if (ended.status != Status::success || !ended.findings.empty())
    throw std::runtime_error(text + ": " + ended.findings);
  inputs.back().bytes.resize(count * result);
  return inputs.back().bytes;
}

u64 random_bits() {
  static std::mt19937_64 generator(1);
  return generator();
}

double value_in(Format format, u16 bits) {
  const int size = bits & 0x7fff, exponent = size >> format.mantissa, hidden = 1 << format.mantissa;
  double value = std::ldexp(exponent == 0 ? size : (size & (hidden - 1)) + hidden,
                            std::max(exponent, 1) - format.bias - format.mantissa);
  if (exponent == 2 * format.bias + 1) value = size == exponent << format.mantissa ? INFINITY : NAN;
  return (bits & 0x8000) != 0 ? -value : value;
}

u16 nearest(Format format, double a, double b, int mode) {
  const int infinity = (2 * format.bias + 1) << format.mantissa;
  const double sum = a + b;
  const int sign = std::signbit(sum) ? 0x8000 : 0;
  if (std::isnan(sum)) return 0x7fff;
  if (std::isinf(sum) || sum == 0) return static_cast<u16>(sign | (sum == 0 ? 0 : infinity));
  if (std::fabs(a) < std::fabs(b)) std::swap(a, b);
  if (sign != 0) a = -a, b = -b;
  // Infinity counts as the power of two after the largest finite value. The difference of the larger term and
  // a value near the sum is exact in double.
  const auto size_of_number = [&](int bits) {
    return bits == infinity ? 2 * value_in(format, static_cast<u16>(infinity - (1 << format.mantissa)))
                            : value_in(format, static_cast<u16>(bits));
  };
  const auto beyond = [&](double number) { return (a - number) + b; };
  int low = 0, high = infinity;  // the last value that is not beyond the sum, by bisection
  while (high - low > 1) (beyond(size_of_number((low + high) / 2)) >= 0 ? low : high) = (low + high) / 2;
  if (beyond(size_of_number(low)) == 0) return static_cast<u16>(sign | low);
  const double middle = beyond((size_of_number(low) + size_of_number(low + 1)) / 2);
  const bool up = mode == FE_TONEAREST ? middle > 0 || (middle == 0 && low % 2 != 0)
                                       : mode == (sign != 0 ? FE_DOWNWARD : FE_UPWARD);
  return static_cast<u16>(sign | (up ? low + 1 : low));
}

std::vector<u16> numbers_of(Format format) {
  const int infinity = (2 * format.bias + 1) << format.mantissa, one = format.bias << format.mantissa,
            least = 1 << format.mantissa;
  std::vector<u16> made;
  for (const int size : {0, 1, 2, least - 1, least, least + 1, one - 1, one, one + 1, one + least / 2,
                         infinity - 1, infinity, infinity + 1, 0x7fff})
    made.push_back(static_cast<u16>(size)), made.push_back(static_cast<u16>(size | 0x8000));
  for (int n = 0; n < 16; ++n) {
    made.push_back(static_cast<u16>(random_bits()));
    made.push_back(static_cast<u16>(one + static_cast<int>(random_bits() % 4096) - 2048));
  }
  return made;
}

}  // namespace ebb::ptx::testing
