// Matrix products with plain loops.
#include <ebb/core/half.h>

#include "cuda/ptx/runtime/bridge.h"
#include "cuda/ptx/runtime/session.h"

#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

namespace ebb::ptx {
namespace {

constexpr const char* kWho = "a column of a product";

// Calls f with a null pointer of the type.
template <class F>
void visit(Element element, F f) {
  switch (element) {
    case Element::f64:
      return f(static_cast<double*>(nullptr));
    case Element::f32:
      return f(static_cast<float*>(nullptr));
    case Element::f16:
      return f(static_cast<Half*>(nullptr));
    case Element::bf16:
      return f(static_cast<BFloat16*>(nullptr));
  }
}

template <class T>
double to_double(T value) {
  if constexpr (sizeof(T) == sizeof(double)) return value;
  return static_cast<double>(static_cast<float>(value));
}
template <class T>
T from_double(double value) {
  if constexpr (sizeof(T) == sizeof(double)) return value;
  return static_cast<T>(static_cast<float>(value));
}

// Column j of a matrix of the batch.
char* column_of(const Matrices& m, std::int64_t index, std::int64_t j) {
  return static_cast<char*>(m.data) + (index * m.stride + j * m.leading) * bytes_of(m.element);
}

std::vector<double> read(const void* from, Element element, std::int64_t count) {
  check_written(kWho, from, static_cast<std::size_t>(count * bytes_of(element)));
  std::vector<double> values(static_cast<std::size_t>(count));
  visit(element, [&]<class T>(T*) {
    for (std::int64_t i = 0; i < count; ++i)
      values[static_cast<std::size_t>(i)] = to_double(static_cast<const T*>(from)[i]);
  });
  return values;
}

void write(void* to, Element element, const std::vector<double>& values) {
  const std::size_t bytes = values.size() * static_cast<std::size_t>(bytes_of(element));
  check_inside(kWho, to, bytes);
  visit(element, [&]<class T>(T*) {
    for (std::size_t i = 0; i < values.size(); ++i) static_cast<T*>(to)[i] = from_double<T>(values[i]);
  });
  global_memory().mark_written(to, bytes);
}

// The columns of a matrix of the batch, or with `rows` its rows.
std::vector<std::vector<double>> lines(const Matrices& m, std::int64_t index, bool rows) {
  std::vector<std::vector<double>> columns;
  for (std::int64_t j = 0; j < m.columns; ++j)
    columns.push_back(read(column_of(m, index, j), m.element, m.rows));
  if (!rows) return columns;
  std::vector<std::vector<double>> turned(static_cast<std::size_t>(m.rows),
                                          std::vector<double>(columns.size()));
  for (std::size_t j = 0; j < columns.size(); ++j)
    for (std::size_t i = 0; i < turned.size(); ++i) turned[i][j] = columns[j][i];
  return turned;
}

double activated(double x, Activation activation) {
  switch (activation) {
    case Activation::relu:
      return x > 0 ? x : 0;
    case Activation::gelu_tanh:
      return x / 2 * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
    default:
      return x;
  }
}

}  // namespace

std::int64_t bytes_of(Element element) {
  return element == Element::f64 ? 8 : element == Element::f32 ? 4 : 2;
}

void compute(const Product& p) {
  std::vector<double> bias;
  if (p.bias) bias = read(p.bias, p.out.element, p.out.rows);
  for (std::int64_t index = 0; index < p.batch; ++index) {
    const auto left = lines(p.a, index, !p.transpose_a), right = lines(p.b, index, p.transpose_b);
    for (std::int64_t j = 0; j < p.out.columns; ++j) {
      char* const to = column_of(p.out, index, j);
      std::vector<double> sums(static_cast<std::size_t>(p.out.rows)), before;
      if (p.beta != 0) before = read(column_of(p.c, index, j), p.c.element, p.c.rows);
      const std::vector<double>& other = right[static_cast<std::size_t>(j)];
      for (std::size_t i = 0; i < sums.size(); ++i) {
        double sum = 0;
        for (std::size_t k = 0; k < other.size(); ++k) sum += left[i][k] * other[k];
        sums[i] = p.alpha * sum + (before.empty() ? 0 : p.beta * before[i]) + (bias.empty() ? 0 : bias[i]);
      }
      if (p.argument)
        write(static_cast<char*>(p.argument) + j * p.argument_leading * bytes_of(p.out.element),
              p.out.element, sums);
      for (double& sum : sums) sum = activated(sum, p.activation);
      write(to, p.out.element, sums);
    }
  }
}

}  // namespace ebb::ptx
