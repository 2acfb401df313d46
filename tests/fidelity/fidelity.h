// The interface between libtorch and ebb: programs use torch:: and print named results. Built with libtorch,
// a program generates its golden report; built with ebb, it must reproduce it.
#pragma once

#ifdef EBB_FIDELITY_TORCH
#include <torch/torch.h>
#else
#include <ebb/ebb.h>
namespace torch = ebb;
#define TORCH_MODULE EBB_MODULE
#endif

#include "program.h"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

namespace fidelity {

using Tensor = torch::Tensor;
using Tensors = std::vector<torch::Tensor>;
using Shape = std::vector<int64_t>;
constexpr double kInf = INFINITY, kNan = NAN;

// Distinct values between low and high, computed without tensor ops and without a random generator.
inline Tensor ramp(const Shape& sizes, double low = -1, double high = 1, double phase = 0.3) {
  int64_t count = 1;
  for (int64_t size : sizes) count *= size;
  std::vector<double> values(count);
  for (int64_t i = 0; i < count; ++i)
    values[i] = (low + high) / 2 + (high - low) / 2 * std::sin(1.7 * static_cast<double>(i) + phase);
  return torch::tensor(values, torch::kFloat64).reshape(sizes);
}

inline const char* dtype_name(torch::ScalarType type) {
  if (type == torch::kFloat64) return "f64";
  if (type == torch::kFloat32) return "f32";
  if (type == torch::kFloat16) return "f16";
  if (type == torch::kBFloat16) return "bf16";
  if (type == torch::kInt64) return "i64";
  if (type == torch::kInt32) return "i32";
  if (type == torch::kInt16) return "i16";
  if (type == torch::kInt8) return "i8";
  if (type == torch::kUInt8) return "u8";
  return type == torch::kBool ? "bool" : "other";
}

// Prints one line: name, dtype, shape and values. For a big tensor it prints its sum, a sum weighted by
// position, and some values.
inline void report(const std::string& name, const Tensor& tensor) {
  if (!tensor.defined()) {
    std::printf("%s undefined\n", name.c_str());
    return;
  }
  const Tensor flat = tensor.detach().to(torch::kFloat64).clone().contiguous();
  const double* data = flat.data_ptr<double>();
  const int64_t count = flat.numel(), limit = 8;
  std::printf("%s %s [", name.c_str(), dtype_name(tensor.scalar_type()));
  for (int64_t d = 0; d < tensor.dim(); ++d) std::printf(d ? ",%lld" : "%lld", (long long)tensor.size(d));
  std::printf("]:");
  const char* format = tensor.scalar_type() == torch::kFloat64 ? " %.9g"
                       : tensor.is_floating_point()            ? " %.7g"
                                                               : " %.15g";
  if (count > limit) {
    double sum = 0, placed = 0;
    for (int64_t i = 0; i < count; ++i)
      sum += data[i], placed += data[i] * std::cos(0.1 * static_cast<double>(i));
    std::printf(" big");
    std::printf(format, sum);
    std::printf(format, placed);
  }
  for (int64_t i = 0; i<count; i += count> limit ? count / 4 : 1) std::printf(format, data[i]);
  std::printf("\n");
}

inline void report_value(const std::string& name, double value) {
  std::printf("%s value: %.9g\n", name.c_str(), value);
}

inline void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

// Text is compared exactly, line by line. The namespace of a library class is replaced, and the namespace of
// the program is removed.
inline void report_text(const std::string& name, std::string text) {
  replace_all(text, "ebb::", "torch::");
  replace_all(text, running() + "::", "");
  std::string line;
  int number = 0;
  for (char c : text + "\n") {
    if (c != '\n') {
      line += c;
      continue;
    }
    std::printf("%s#%d %s\n", name.c_str(), number++, line.c_str());
    line.clear();
  }
}

inline void report_sizes(const std::string& name, const Shape& values) {
  std::printf("%s sizes:", name.c_str());
  for (int64_t value : values) std::printf(" %lld", (long long)value);
  std::printf("\n");
}

// Messages differ between the libraries, but both must refuse the same calls.
template <class F>
void report_error(const std::string& name, F&& call) {
  bool thrown = false;
  try {
    call();
  } catch (const std::exception&) {
    thrown = true;
  }
  std::printf("%s %s\n", name.c_str(), thrown ? "throws" : "accepted");
}

// A section that throws reports it in its own line and does not affect other sections.
template <class F>
void section(const std::string& name, F&& body) {
  try {
    body();
  } catch (const std::exception& error) {
    std::printf("%s threw\n", name.c_str());
    const std::string what = error.what();
    std::fprintf(stderr, "%s: %s\n", name.c_str(), what.substr(0, what.find('\n')).c_str());
  }
}

// Value, gradient and, for order 2, the gradient of a weighted sum of the gradients.
template <class F>
void grads(const std::string& name, F&& function, const Tensors& inputs, int order = 2) {
  section(name, [&] {
    Tensors args, leaves;
    for (const Tensor& input : inputs) {
      args.push_back(input.detach().clone());
      if (input.is_floating_point()) leaves.push_back(args.back().requires_grad_(true));
    }
    const Tensor out = function(args);
    report(name, out);
    if (order < 1) return;
    const Tensor seed = ramp(out.sizes().vec(), 0.5, 1.5, 1.1).to(out.scalar_type());
    const Tensors first = torch::autograd::grad({(out * seed).sum()}, leaves, {}, true, order > 1, true);
    Tensor total = torch::zeros({}, torch::kFloat64);
    for (size_t i = 0; i < first.size(); ++i) {
      report(name + ".d" + std::to_string(i), first[i]);
      if (order > 1 && first[i].defined() && first[i].requires_grad())
        total = total + (first[i] * ramp(first[i].sizes().vec(), 0.5, 2, 0.7)).sum();
    }
    if (order < 2 || !total.requires_grad()) return;
    const Tensors second = torch::autograd::grad({total}, leaves, {}, torch::nullopt, false, true);
    for (size_t i = 0; i < second.size(); ++i) report(name + ".dd" + std::to_string(i), second[i]);
  });
}

// The same for a function of one tensor.
template <class F>
void grad1(const std::string& name, F&& function, const Tensor& input, int order = 2) {
  grads(name, [&](const Tensors& args) { return function(args[0]); }, {input}, order);
}

}  // namespace fidelity

using namespace fidelity;  // NOLINT: every includer is a program
