// compare_fingerprints: the differences of two files of Fingerprint.
#include <ebb/core/error.h>
#include <ebb/watch/fingerprint.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>

namespace ebb::watch {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// One line of a file.
struct Line {
  explicit Line(const std::string& line) : text(line) {
    const auto all = nlohmann::json::parse(line);
    const auto name = all.at("name").get<std::string>();
    place = fmt::format("step {}, {} of {}, call {}", all.at("step").get<std::int64_t>(),
                        all.at("kind").get<std::string>(), name.empty() ? "the whole model" : name,
                        all.at("call").get<std::int64_t>());
    shape = all.at("shape").get<std::vector<std::int64_t>>();
    bits = all.at("dtype").get<std::string>() + std::to_string(all.at("crc32").get<std::uint32_t>());
    nan = all.at("nan"), inf = all.at("inf");
    for (const char* key : {"norm", "mix", "mean", "min", "max"})  // null is a sum that overflows
      numbers.push_back(all.at(key).is_null() ? kInfinity : all.at(key).get<double>());
  }

  std::string text, place, bits;
  std::vector<std::int64_t> shape;
  std::int64_t nan, inf;
  std::vector<double> numbers;
};

std::vector<Line> read(const std::string& path) {
  std::ifstream file(path);
  EBB_CHECK(file, "compare_fingerprints: cannot open '", path, "'. Write it with Fingerprint::write.");
  std::vector<Line> lines;
  for (std::string text; std::getline(file, text);) try {
      lines.emplace_back(text);
    } catch (const nlohmann::json::exception& error) {
      detail::fail("compare_fingerprints: '", path,
                   "' has a line that Fingerprint::write does not write, line ",
                   std::uint64_t{lines.size() + 1}, ": ", error.what());
    }
  return lines;
}

// Returns the estimated relative error, and whether the tolerances allow it.
std::pair<double, bool> compare(const Line& a, const Line& b, double rtol, double atol) {
  if (a.shape != b.shape || a.nan != b.nan || a.inf != b.inf) return {kInfinity, false};
  double count = 1, worst = 0;
  for (const std::int64_t size : a.shape) count *= static_cast<double>(size);
  // A random error of norm e changes the norm by at most e, the mean by about e / sqrt(n), and the product
  // with weights of variance 1/3 by about e / sqrt(3).
  const double root = std::sqrt(count), norm = a.numbers[0];
  const double largest = std::max(std::abs(a.numbers[3]), std::abs(a.numbers[4]));
  const double factors[] = {1, std::sqrt(3.0), root, 1, 1};
  bool allowed = true;
  for (std::size_t i = 0; i < std::size(factors); ++i) {
    const double scale = i < 3 ? norm : largest;
    const double error =
        a.numbers[i] == b.numbers[i] ? 0 : factors[i] * std::abs(a.numbers[i] - b.numbers[i]);
    if (error != 0) worst = std::max(worst, error / scale);
    allowed &= error <= rtol * scale + atol * (i < 3 ? root : 1);
  }
  return {worst, rtol == 0 && atol == 0 ? a.bits == b.bits : allowed};
}

}  // namespace

FingerprintComparison compare_fingerprints(const std::string& first, const std::string& second, double rtol,
                                           double atol) {
  EBB_CHECK(rtol >= 0 && atol >= 0, "compare_fingerprints: got the tolerances ", rtol, " and ", atol,
            ". They must not be negative.");
  FingerprintComparison result;
  const std::vector<Line> lines = read(second);
  std::map<std::string, const Line*> others;
  for (const Line& line : lines) others[line.place] = &line;
  for (const Line& line : read(first)) {
    const auto other = others.find(line.place);
    if (other == others.end()) {
      result.only_in_first.push_back(line.place);
      continue;
    }
    const auto [error, allowed] = compare(line, *other->second, rtol, atol);
    if (!allowed) result.differences.push_back({line.place, error, line.text, other->second->text});
    others.erase(other);
    ++result.compared;
  }
  for (const Line& line : lines)
    if (others.contains(line.place)) result.only_in_second.push_back(line.place);
  return result;
}

std::string FingerprintComparison::str() const {
  std::string text = fmt::format("{} of {} tensors differ", differences.size(), compared);
  if (!differences.empty()) {
    const Difference& d = differences[0];
    text += fmt::format(", first: {}, relative error {:.3g}\n  {}\n  {}", d.place, d.relative_error, d.first,
                        d.second);
  }
  for (const auto* places : {&only_in_first, &only_in_second})
    if (!places->empty())
      text += fmt::format("\n{} tensors are only in the {} file, first: {}", places->size(),
                          places == &only_in_first ? "first" : "second", (*places)[0]);
  return text;
}

}  // namespace ebb::watch
