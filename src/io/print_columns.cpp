// print_in_columns: formats tensors like libtorch, as columns of elements and then "[ CPUFloatType{2,3} ]".
#include "io/print_columns.h"

#include <ebb/autograd/grad_mode.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/shape.h>

#include <atomic>
#include <cmath>
#include <iomanip>
#include <ostream>

namespace ebb {
namespace {

constinit std::atomic<bool> in_columns{false};

// Restores the format of a stream.
class FormatGuard {
 public:
  explicit FormatGuard(std::ostream& out)
      : out_(out), flags_(out.flags()), precision_(out.precision()), fill_(out.fill(' ')) {}
  FormatGuard(const FormatGuard&) = delete;
  FormatGuard& operator=(const FormatGuard&) = delete;
  ~FormatGuard() {
    out_.flags(flags_);
    out_.precision(precision_);
    out_.fill(fill_);
  }

 private:
  std::ostream& out_;
  std::ios_base::fmtflags flags_;
  std::streamsize precision_;
  char fill_;
};

// The format of all elements. Elements are printed divided by `scale`, which is printed once before them.
// `width` is the width of a column.
struct Format {
  double scale = 1;
  int width = 0;
};

// Returns the number of digits before the point: 3 for 123.4, 0 for 0.5, and -1 for 0.05, which has one zero
// after the point. Returns 1 for 0.
double digits_of(double value) { return value == 0 ? 1 : std::floor(std::log10(value)) + 1; }

// Chooses the format for `count` contiguous doubles and sets the stream's flags for it.
Format choose_format(std::ostream& out, const double* x, std::int64_t count) {
  bool whole = true;
  double smallest = 1, largest = 1;
  bool first = true;
  for (std::int64_t i = 0; i < count; ++i) {
    if (!std::isfinite(x[i])) continue;
    const double size = std::abs(x[i]);
    whole = whole && x[i] == std::ceil(x[i]);
    if (first) smallest = largest = size;
    first = false;
    smallest = std::min(smallest, size);
    if (x[i] > largest) largest = size;  // as in libtorch, only positive numbers are considered
  }
  const double least = first ? 1 : digits_of(smallest), most = first ? 1 : digits_of(largest);
  constexpr int kScientific = 11;
  if (whole) {
    if (most > 9) {
      out << std::scientific << std::setprecision(4);
      return {1, kScientific};
    }
    out << std::defaultfloat;
    return {1, static_cast<int>(most) + 1};
  }
  if (most - least > 4) {
    out << std::scientific << std::setprecision(4);
    return {1, std::abs(most) > 99 || std::abs(least) > 99 ? kScientific + 1 : kScientific};
  }
  out << std::fixed << std::setprecision(4);
  if (most > 5 || most < 0) return {std::pow(10, most - 1), 7};
  return {1, most == 0 ? 7 : static_cast<int>(most) + 6};
}

void print_scale(std::ostream& out, double scale) {
  const FormatGuard guard(out);
  out << std::defaultfloat << scale << " *\n";
}

void print_matrix(std::ostream& out, const Variable& matrix, std::int64_t line, int indent) {
  const Variable whole = matrix.contiguous();
  const double* x = whole.data_ptr<double>();
  const std::int64_t rows = matrix.size(0), columns = matrix.size(1);
  const Format format = choose_format(out, x, matrix.numel());
  const std::string margin(static_cast<std::size_t>(indent), ' ');
  const std::int64_t per_line = std::max<std::int64_t>(1, (line - indent) / (format.width + 1));
  out << margin;
  for (std::int64_t first = 0; first < columns; first += per_line) {
    const std::int64_t last = std::min(first + per_line, columns) - 1;
    if (per_line < columns) {
      if (first != 0) out << '\n';
      out << "Columns " << first + 1 << " to " << last + 1 << margin;
    }
    if (format.scale != 1) {
      print_scale(out, format.scale);
      out << margin;
    }
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t column = first; column <= last; ++column)
        out << std::setw(format.width) << x[row * columns + column] / format.scale
            << (column == last ? '\n' : ' ');
      if (row < rows - 1) out << margin << (format.scale != 1 ? " " : "");
    }
  }
}

// Prints every matrix of the last two dimensions under its index: "(1,2,.,.) = ".
void print_matrices(std::ostream& out, const Variable& x, std::int64_t line) {
  std::vector<std::int64_t> at(static_cast<std::size_t>(x.dim() - 2), 0);
  for (bool first = true;; first = false) {
    if (!first) out << '\n';
    out << '(';
    Variable matrix = x;
    for (const std::int64_t place : at) {
      matrix = matrix.select(0, place);
      out << place + 1 << ',';
    }
    out << ".,.) = \n";
    print_matrix(out, matrix, line, 1);
    std::size_t d = 0;
    while (d < at.size() && ++at[d] == x.size(static_cast<std::int64_t>(d))) at[d++] = 0;
    if (d == at.size()) return;
  }
}

}  // namespace

void detail::print_in_columns(std::ostream& out, const Variable& tensor, std::int64_t line) {
  if (!tensor.defined()) {
    out << "[ Tensor (undefined) ]";
    return;
  }
  const FormatGuard guard(out);
  const NoGradGuard no_grad;
  const Variable x = tensor.detach().to(TensorOptions(kDouble).device(kCPU)).contiguous();
  if (x.dim() == 0) {
    out << std::defaultfloat << x.item<double>() << '\n';
  } else if (x.numel() > 0 && x.dim() == 1) {
    const Format format = choose_format(out, x.data_ptr<double>(), x.numel());
    if (format.scale != 1) print_scale(out, format.scale);
    for (std::int64_t i = 0; i < x.numel(); ++i)
      out << std::setw(format.width) << x.data_ptr<double>()[i] / format.scale << '\n';
  } else if (x.numel() > 0 && x.dim() == 2) {
    print_matrix(out, x, line, 0);
  } else if (x.numel() > 0) {
    print_matrices(out, x, line);
  }
  out << "[ " << tensor.toString() << '{' << std::defaultfloat;
  for (std::int64_t d = 0; d < x.dim(); ++d) out << (d > 0 ? "," : "") << x.size(d);
  out << "} ]";
}

void detail::set_printed_in_columns(bool on) noexcept { in_columns.store(on, std::memory_order_relaxed); }
bool detail::are_printed_in_columns() noexcept { return in_columns.load(std::memory_order_relaxed); }

}  // namespace ebb
