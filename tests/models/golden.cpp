// Files of numbers that PyTorch's models gave.
#include "golden.h"

#include <cmath>
#include <fstream>

#include "support/source_dir.h"

namespace golden {
namespace {

std::ifstream open_file() {
  std::ifstream file(source_dir() + "/tests/models/data/vision.txt");
  EBB_CHECK(file, "tests/models/data/vision.txt is not there.");
  return file;
}

Ends rest(std::istream& line) {
  Ends values;
  for (double value = 0; line >> value;) values.push_back(value);
  return values;
}

}  // namespace

Ends ends(const ebb::Tensor& tensor) {
  const ebb::Tensor flat = tensor.detach().to(ebb::kDouble).flatten();
  const std::int64_t n = flat.numel();
  Ends out{flat.norm().item<double>()};
  for (const std::int64_t at : {std::int64_t{0}, n / 3, n / 2, n - 1}) out.push_back(flat[at].item<double>());
  return out;
}

bool close(const Ends& got, const Ends& wanted, double tolerance) {
  EBB_CHECK(got.size() == wanted.size() && !wanted.empty(), "a norm and entries were expected");
  for (std::size_t i = 0; i < got.size(); ++i)
    if (!(std::abs(got[i] - wanted[i]) <= tolerance * wanted[0])) return false;
  return true;
}

Case read_case(const std::string& name) {
  std::ifstream file = open_file();
  Case found;
  bool inside = false;
  for (std::string text; std::getline(file, text);) {
    std::istringstream line(text);
    std::string kind, what;
    line >> kind;
    if (kind == "eval" || kind == "train") {
      if (inside) (kind == "eval" ? found.eval : found.train) = rest(line);
      continue;
    }
    line >> what;
    if (kind == "case") {
      if (inside) break;
      inside = what == name;
    } else if (inside && kind == "grad") {
      found.grads.emplace_back(what, rest(line));
    } else if (inside && kind == "buffer") {
      found.buffers.emplace_back(what, rest(line));
    } else if (inside) {
      break;
    }
  }
  EBB_CHECK(!found.grads.empty(), "vision.txt has no case ", name, ".");
  return found;
}

std::istringstream read_line(const std::string& kind, const std::string& name) {
  std::ifstream file = open_file();
  const std::string start = kind + " " + name + " ";
  for (std::string text; std::getline(file, text);)
    if (text.starts_with(start)) return std::istringstream(text.substr(start.size()));
  EBB_CHECK(false, "vision.txt has no line \"", start, "\".");
  return {};
}

}  // namespace golden
