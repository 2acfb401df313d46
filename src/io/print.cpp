// to_string: formats tensors like PyTorch's Python side, with plain dtype names (dtype=float64).
#include <ebb/autograd/grad_mode.h>
#include <ebb/autograd/node.h>
#include <ebb/autograd/variable.h>
#include <ebb/core/visit.h>

#include "core/recorder.h"
#include "io/print_columns.h"
#include "kernel/strided_dims.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <ostream>

namespace ebb {
namespace {

constexpr std::int64_t kPrecision = 4, kThreshold = 1000, kEdgeItems = 3, kLineWidth = 80;
constexpr std::string_view kPrefix = "tensor(";
constexpr std::int64_t kIndent = kPrefix.size();

const char* short_name(DType dtype) {
  constexpr const char* names[] = {"uint8",   "int8",    "int16", "int32",    "int64",    "float16",
                                   "float32", "float64", "bool",  "bfloat16", "undefined"};
  return names[static_cast<int>(dtype)];
}

std::string number(double value, std::chars_format format, int precision) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  char buffer[512];  // the longest text, -1.8e308 in full, has 310 characters
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, format, precision);
  return std::string(buffer, end.ptr);
}

// Iterates over the printed elements of an array in row-major order. Dimensions of size 1 are left out.
class ShownElements {
 public:
  ShownElements(const NdArray& x, bool summarize) : position_({levels_of(x, summarize)}, 0) {}

  std::int64_t offset() const { return position_.offsets()[0]; }
  /// Return the dimension along which the last next() moved, and whether it skipped elements of this
  /// dimension.
  std::size_t dim() const { return moved_.dim; }
  bool skipped() const { return moved_.skips; }

  bool next() {
    position_.advance(1);
    const Levels& levels = position_.nest().levels;
    for (std::size_t l = 0; l < levels.size(); ++l) {
      if (position_.at(static_cast<int>(l)) == 0) continue;
      moved_ = levels[l];
      return true;
    }
    return false;
  }

 private:
  struct Level {
    std::int64_t size = 1, stride = 0;
    std::size_t dim = 0;
    bool skips = false;  // true if the step leads from the first elements of a dimension to its last ones
  };
  using Levels = SmallVector<Level, 6>;
  struct Nest {
    using Places = DimVector;
    Levels levels;
    int dims() const { return static_cast<int>(levels.size()); }
    std::int64_t size(int level) const { return levels[level].size; }
    std::int64_t stride(int, int level) const { return levels[level].stride; }
  };

  static Levels levels_of(const NdArray& x, bool summarize) {
    Levels levels;
    for (std::size_t d = x.sizes().size(); d-- > 0;) {
      const std::int64_t size = x.sizes()[d], stride = x.strides()[d];
      const bool skips = summarize && size > 2 * kEdgeItems;
      if (size > 1) levels.push_back({skips ? kEdgeItems : size, stride, d});
      if (skips) levels.push_back({2, (size - kEdgeItems) * stride, d, true});
    }
    return levels;
  }

  StridedPosition<1, Nest> position_;
  Level moved_;
};

// Formats the elements of one array on the CPU.
class Printer {
 public:
  explicit Printer(const NdArray& x)
      : x_(x), floating_(is_floating(x.dtype())), summarize_(x.numel() > kThreshold) {
    choose_format();
  }

  std::string text() const {
    const std::size_t dims = x_.sizes().size();
    const auto indent = [](std::size_t dim) { return kIndent + static_cast<std::int64_t>(dim); };
    const std::int64_t per_line = std::max<std::int64_t>(1, (kLineWidth + 1 - indent(dims)) / (width_ + 2));
    std::int64_t in_row = 0;
    std::string s(dims, '[');
    ShownElements walk(x_, summarize_);
    s += element(walk.offset());
    while (walk.next()) {
      const std::size_t inside = dims - walk.dim() - 1;  // the number of brackets that close and open here
      const auto margin = [&] { return std::string(static_cast<std::size_t>(indent(walk.dim() + 1)), ' '); };
      const auto part = [&](const char* left_out) {
        in_row = inside == 0 ? in_row + 1 : 0;
        if (inside > 0)
          s += ',' + std::string(inside, '\n') + margin();
        else
          s += in_row % per_line == 0 ? ",\n" + margin() : ", ";
        s += left_out;
      };
      s.append(inside, ']');
      if (walk.skipped()) part(inside == 0 ? " ..." : "...");
      part("");
      s.append(inside, '[');
      s += element(walk.offset());
    }
    return s.append(dims, ']');
  }

 private:
  // Visits every printed element.
  template <class F>
  void visit_shown(F&& f) const {
    ShownElements walk(x_, summarize_);
    do {
      f(walk.offset());
    } while (walk.next());
  }

  double real(std::int64_t offset) const {
    return visit_floating(x_.dtype(), "print",
                          [&]<class T> { return static_cast<double>(x_.data_as<T>()[offset]); });
  }
  std::string integer(std::int64_t offset) const {
    if (x_.dtype() == kBool) return x_.data_as<bool>()[offset] ? "True" : "False";
    return visit_integral(x_.dtype(), "print",
                          [&]<class T> { return std::to_string(x_.data_as<T>()[offset]); });
  }

  // Chooses the same format and width for all elements: integers as "2.", numbers of similar magnitude as
  // "0.1000", and others as "1.0000e-05".
  void choose_format() {
    const auto widen = [&](std::size_t length) {
      width_ = std::max(width_, static_cast<std::int64_t>(length));
    };
    if (!floating_) return visit_shown([&](std::int64_t at) { widen(integer(at).size()); });
    double smallest = std::numeric_limits<double>::infinity(), largest = 0;
    const auto visit_numbers = [&](auto&& f) {
      visit_shown([&](std::int64_t at) {
        const double value = real(at);
        if (value != 0 && std::isfinite(value)) f(value);
      });
    };
    visit_numbers([&](double value) {
      smallest = std::min(smallest, std::abs(value));
      largest = std::max(largest, std::abs(value));
      if (value != std::ceil(value)) whole_ = false;
    });
    if (largest == 0) return;
    scientific_ = largest / smallest > 1000 || largest > 1e8 || (!whole_ && smallest < 1e-4);
    visit_numbers([&](double value) { widen(digits(value).size() + (whole_ && !scientific_ ? 1 : 0)); });
  }

  std::string digits(double value) const {
    if (scientific_) return number(value, std::chars_format::scientific, kPrecision);
    return number(value, std::chars_format::fixed, whole_ ? 0 : kPrecision);
  }

  std::string element(std::int64_t offset) const {
    std::string s;
    if (floating_) {
      const double value = real(offset);
      s = digits(value);
      if (whole_ && !scientific_ && std::isfinite(value)) s += '.';
    } else {
      s = integer(offset);
    }
    const std::int64_t length = static_cast<std::int64_t>(s.size());
    return length < width_ ? std::string(static_cast<std::size_t>(width_ - length), ' ') + s : s;
  }

  const NdArray& x_;
  bool floating_, summarize_;
  bool whole_ = true, scientific_ = false;
  std::int64_t width_ = 1;
};

std::string tuple(IntArrayRef sizes) {
  std::string s = "(";
  for (std::size_t i = 0; i < sizes.size(); ++i) s += (i ? ", " : "") + std::to_string(sizes[i]);
  return s + (sizes.size() == 1 ? ",)" : ")");
}

}  // namespace

std::string to_string(const Variable& x) {
  if (!x.defined()) return "[ Tensor (undefined) ]";
  const NoGradGuard no_grad;
  std::string s(kPrefix);
  std::int64_t column = 0;
  const auto suffix = [&](const std::string& piece) {
    const std::int64_t length = static_cast<std::int64_t>(piece.size());
    const bool wrap = column + length + 2 > kLineWidth;
    s += wrap ? ",\n" + std::string(kIndent, ' ') : ", ";
    s += piece;
    column = wrap ? kIndent + length : column + length + 2;
  };
  const bool empty = x.numel() == 0;
  const Variable host = x.is_cpu() ? x : x.detach().to(Device::CPU);
  s += empty ? "[]" : Printer(host.array()).text();
  column = static_cast<std::int64_t>(s.size() - (s.rfind('\n') + 1)) + 2;  // npos + 1 is 0: a single line
  if (!x.is_cpu()) suffix("device='" + x.device().str() + "'");
  if (empty && x.dim() != 1) suffix("size=" + tuple(x.sizes()));
  const bool obvious =
      x.dtype() == get_default_dtype() || (!empty && (x.dtype() == kLong || x.dtype() == kBool));
  if (!obvious) suffix(std::string("dtype=") + short_name(x.dtype()));
  if (const auto& node = x.grad_fn())
    suffix("grad_fn=<" + node->name() + ">");
  else if (x.requires_grad())
    suffix("requires_grad=True");
  return s + ")";
}

std::ostream& operator<<(std::ostream& out, const Variable& x) {
  detail::not_replayed("it prints a tensor");
  if (!detail::are_printed_in_columns()) return out << to_string(x);
  detail::print_in_columns(out, x, kLineWidth);
  return out;
}

}  // namespace ebb
