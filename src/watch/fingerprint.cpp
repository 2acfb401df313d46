// Fingerprint: hooks that record statistics of tensors. compare_fingerprints: the differences of two files.
#include <ebb/core/visit.h>
#include <ebb/core/warning.h>
#include <ebb/nn/module.h>
#include <ebb/optim/optimizer.h>
#include <ebb/watch/fingerprint.h>

#include "io/atomic_file.h"
#include "watch/module_hooks.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <unordered_map>

namespace ebb::watch {
namespace {

using nlohmann::json;

// Returns the statistics of the finite elements, and a CRC-32 of all bytes in row-major order.
json statistics(const Variable& tensor) {
  const Variable x = tensor.detach().to(kCPU).contiguous();
  double sum = 0, squares = 0, mix = 0, low = INFINITY, high = -INFINITY;
  std::int64_t nans = 0, infinities = 0;
  visit_all(x.scalar_type(), "Fingerprint", [&]<class T> {
    const T* const values = x.array().data_as<T>();
    for (std::int64_t i = 0; i < x.numel(); ++i) {
      const auto value =
          static_cast<double>(static_cast<std::conditional_t<(sizeof(T) < 4), float, T>>(values[i]));
      if (!std::isfinite(value)) {
        ++(std::isnan(value) ? nans : infinities);
        continue;
      }
      sum += value, squares += value * value;
      low = std::min(low, value), high = std::max(high, value);
      // The weight is in [-1, 1).
      mix += value * (static_cast<double>(static_cast<std::uint32_t>(i) * 2654435761U) / 0x1p31 - 1);
    }
  });
  const std::int64_t finite = x.numel() - nans - infinities;
  const auto* const bytes = static_cast<const Bytef*>(x.array().address());
  return {{"dtype", ebb::detail::text(x.scalar_type())},
          {"shape", std::vector<std::int64_t>(x.sizes().begin(), x.sizes().end())},
          {"crc32", crc32_z(0, bytes, x.nbytes())},
          {"nan", nans},
          {"inf", infinities},
          {"mean", finite ? sum / static_cast<double>(finite) : 0},
          {"norm", std::sqrt(squares)},
          {"mix", mix},
          {"min", finite ? low : 0},
          {"max", finite ? high : 0}};
}

/// One line of a file.
struct Line {
  explicit Line(const std::string& line) : text(line) {
    const auto all = json::parse(line);
    const std::string kind = all.at("kind"), name = all.at("name"), dtype = all.at("dtype");
    const std::int64_t step = all.at("step"), call = all.at("call"), crc = all.at("crc32");
    place =
        fmt::format("step {}, {} of {}, call {}", step, kind, name.empty() ? "the whole model" : name, call);
    bits = dtype + std::to_string(crc);
    shape = all.at("shape").get<std::vector<std::int64_t>>();
    nan = all.at("nan"), inf = all.at("inf");
    for (const char* key : {"norm", "mix", "mean", "min", "max"})  // null is a sum that overflows
      numbers.push_back(all.at(key).is_null() ? INFINITY : all.at(key).get<double>());
  }

  std::string text, place, bits;
  std::vector<std::int64_t> shape;
  std::int64_t nan, inf;
  std::vector<double> numbers;  // norm, mix, mean, min, max
};

std::vector<Line> read(const std::string& path) {
  std::ifstream file(path);
  EBB_CHECK(file, "compare_fingerprints: cannot open '", path, "'. Write it with Fingerprint::write.");
  std::vector<Line> lines;
  for (std::string text; std::getline(file, text);) try {
      lines.emplace_back(text);
    } catch (const json::exception& error) {
      detail::fail("compare_fingerprints: '", path,
                   "' has a line that Fingerprint::write does not write, line ",
                   std::uint64_t{lines.size() + 1}, ": ", error.what());
    }
  return lines;
}

// Returns the estimated relative error, and whether the tolerances allow it.
std::pair<double, bool> compare(const Line& a, const Line& b, double rtol, double atol) {
  if (a.shape != b.shape || a.nan != b.nan || a.inf != b.inf) return {INFINITY, false};
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

struct Fingerprint::State : std::enable_shared_from_this<Fingerprint::State> {
  State(nn::Module& recorded, std::int64_t count) : model(recorded), steps(count) {}
  ~State() { remove_hooks(model, hooks); }

  void add_hooks() {
    // A shared module has one hook and its first name, as in torch's named_modules().
    model.apply([&](const std::string& path, nn::Module& module) {
      if (names.emplace(&module, path).second)
        hooks.push_back(module.register_forward_hook(while_alive(shared_from_this(), &State::add_outputs)));
    });
    hooks.push_back(optim::register_optimizer_step_pre_hook(
        [this](optim::Optimizer& optimizer, auto&) { add_parameters(optimizer, true); }));
    hooks.push_back(optim::register_optimizer_step_post_hook([this](optim::Optimizer& optimizer) {
      if (add_parameters(optimizer, false)) ++step, calls.clear();
    }));
  }

  void add(const char* kind, const std::string& name, const Variable& x) {
    if (step >= steps || !x.defined()) return;
    json line{{"step", step}, {"kind", kind}, {"name", name}, {"call", calls[kind + (' ' + name)]++}};
    line.update(statistics(x));
    lines += line.dump() + '\n';
  }

  void add_outputs(nn::Module& module, const variable_list&, const variable_list& outputs) {
    const auto found = names.find(&module);
    if (step >= steps || found == names.end()) return;  // a copy of a module has its hooks
    for (const Variable& output : outputs) {
      add("output", found->second, output);
      if (output.defined() && output.requires_grad())
        output.register_hook([weak = weak_from_this(), name = found->second](const Variable& grad) {
          if (const auto state = weak.lock()) state->add("gradient", name, grad);
        });
    }
  }

  // Records the parameters of the model that the optimizer updates, or their gradients. Returns whether there
  // are any.
  bool add_parameters(optim::Optimizer& optimizer, bool gradients) {
    bool any = false;
    if (step >= steps) return any;
    for (const auto& each : model.named_parameters())
      for (const optim::OptimizerParamGroup& group : optimizer.param_groups())
        for (const Variable& parameter : group.params()) {
          if (!parameter.is_same(each.value())) continue;
          any = true;
          add(gradients ? "parameter gradient" : "parameter", each.key(),
              gradients ? parameter.grad() : parameter);
        }
    return any;
  }

  nn::Module& model;
  std::int64_t steps, step = 0;
  std::unordered_map<const nn::Module*, std::string> names;
  std::vector<nn::RemovableHandle> hooks;
  std::map<std::string, std::int64_t> calls;  // the number of records of a kind and name in this step
  std::string lines;
};

Fingerprint::Fingerprint(nn::Module& model, std::int64_t steps)
    : state_(std::make_shared<State>(model, steps)) {
  EBB_CHECK(steps > 0, "Fingerprint: the number of steps is ", steps, "; it must be at least 1.");
  state_->add_hooks();
}
Fingerprint::~Fingerprint() = default;

void Fingerprint::add(const std::string& name, const Variable& x) { state_->add("tensor", name, x); }

void Fingerprint::write(const std::string& path) const {
  const std::string& lines = state_->lines;
  if ((lines.empty() || state_->step > 0) && lines.find("\"output\"") == std::string::npos)
    warn("Fingerprint: no module was called by its handle. Write fc(x) in place of fc->forward(x).");
  io::AtomicFile file(path);
  file.write(lines.data(), lines.size());
  file.commit();
}

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
