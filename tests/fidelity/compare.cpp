// Compares reports with golden ones: equal lines, with numbers equal up to the tolerance of their dtype.
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace {

using Words = std::vector<std::string>;

struct Report {
  std::vector<std::string> order;
  std::map<std::string, std::string> lines;
};

// The lines of one program or, without a name, of all.
Report read(const char* path, const std::string& wanted) {
  std::ifstream file(path);
  if (!file) {
    std::printf("cannot open %s\n", path);
    std::exit(2);
  }
  Report report;
  std::map<std::string, int> seen;
  std::string program;
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, 4, "=== ") == 0) {
      program = line.substr(4);
      continue;
    }
    if (!wanted.empty() && program != wanted) continue;
    std::string key = program + ' ' + line.substr(0, line.find(' '));
    if (const int repeat = seen[key]++) key += "~" + std::to_string(repeat);
    report.order.push_back(key);
    report.lines[key] = line;
  }
  return report;
}

Words split(const std::string& line) {
  std::istringstream stream(line);
  Words words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

// Returns the tolerance; a negative value means comparison as text.
double tolerance(const Words& words) {
  if (words.size() < 3) return -1;
  const std::string& type = words[1];
  if (type == "f64" || type == "value:") return 1e-7;
  if (type == "f32") return 1e-4;
  if (type == "f16") return 1e-3;
  return type == "bf16" ? 1e-2 : -1;
}

bool number(const std::string& word, double& value) {
  char* end = nullptr;
  value = std::strtod(word.c_str(), &end);
  return end != word.c_str() && *end == '\0';
}

// The name of a derivative: "softmax.d0", "softmax.dd1".
bool derivative(const std::string& key) {
  const size_t dot = key.rfind(".d");
  return dot != std::string::npos && key.find_first_not_of("d0123456789", dot + 1) == std::string::npos &&
         std::isdigit(static_cast<unsigned char>(key.back()));
}

// Whether there is no derivative, or one that is zero everywhere; libraries may differ in this.
bool nothing(const std::string& line) {
  const Words words = split(line);
  if (words.size() == 2 && words[1] == "undefined") return true;
  for (size_t i = 3; i < words.size(); ++i) {
    double value;
    if (words[i] != "big" && (!number(words[i], value) || value != 0)) return false;
  }
  return words.size() >= 3;
}

bool same(const std::string& actual, const std::string& golden) {
  if (actual == golden) return true;
  const Words a = split(actual), g = split(golden);
  const double tol = tolerance(g);
  if (tol < 0 || a.size() != g.size()) return false;
  for (size_t i = 0; i < g.size(); ++i) {
    if (a[i] == g[i]) continue;
    double x, y;
    if (!number(a[i], x) || !number(g[i], y)) return false;
    if (std::isnan(x) && std::isnan(y)) continue;
    if (x == y) continue;
    if (!(std::abs(x - y) <= tol + tol * std::abs(y))) return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) {
    std::printf("usage: compare ACTUAL GOLDEN [PROGRAM]\n");
    return 2;
  }
  const std::string program = argc == 4 ? argv[3] : "";
  const Report actual = read(argv[1], program), golden = read(argv[2], program);
  int wrong = 0;
  for (const std::string& key : golden.order) {
    const auto found = actual.lines.find(key);
    const std::string& expected = golden.lines.at(key);
    if (found != actual.lines.end() && same(found->second, expected)) continue;
    if (derivative(key) && nothing(expected) && (found == actual.lines.end() || nothing(found->second)))
      continue;
    ++wrong;
    std::printf("- %s\n+ %s\n", expected.c_str(),
                found == actual.lines.end() ? "(missing)" : found->second.c_str());
  }
  for (const std::string& key : actual.order) {
    if (golden.lines.count(key)) continue;
    if (derivative(key) && nothing(actual.lines.at(key))) continue;
    ++wrong;
    std::printf("- (not in the golden file)\n+ %s\n", actual.lines.at(key).c_str());
  }
  std::printf("%d of %zu lines differ\n", wrong, golden.order.size());
  return wrong == 0 && !golden.order.empty() ? 0 : 1;
}
