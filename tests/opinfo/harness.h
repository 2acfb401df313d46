// Runs the statements written by compare.py on the samples of a file, and writes the results.
#pragma once

#include <ebb/ebb.h>

#include <cmath>
#include <cstdint>
#include <fstream>
#include <functional>
#include <iostream>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

namespace opinfo {

using ebb::Tensor;
using Tensors = std::vector<Tensor>;
/// May replace its tensors; gradients are computed for the tensors at the end.
using Statement = std::function<void(Tensors& t, Tensors& out)>;

// A list argument; a vector lives until the end of the call that takes it.
using Ints = std::vector<std::int64_t>;
using MaybeTensors = std::vector<ebb::optional<Tensor>>;

template <class T>
void push(Tensors& out, const T& value) {
  if constexpr (std::is_same_v<T, bool> || std::is_integral_v<T> || std::is_floating_point_v<T>)
    out.push_back(std::is_same_v<T, bool> ? ebb::full({}, static_cast<bool>(value), ebb::kBool)
                  : std::is_integral_v<T> ? ebb::full({}, static_cast<std::int64_t>(value), ebb::kLong)
                                          : ebb::full({}, static_cast<double>(value), ebb::kDouble));
  else if constexpr (std::is_same_v<T, ebb::Scalar>)
    out.push_back(ebb::scalar_tensor(value));
  else
    out.push_back(value);
}
template <class T>
void push(Tensors& out, const std::vector<T>& values) {
  for (const T& value : values) push(out, value);
}
template <class... T>
void push(Tensors& out, const std::tuple<T...>& values) {
  std::apply([&](const auto&... value) { (push(out, value), ...); }, values);
}

// The same order as in compare.py.
inline constexpr ebb::DType kTypes[] = {ebb::kBool, ebb::kByte, ebb::kChar,  ebb::kShort,  ebb::kInt,
                                        ebb::kLong, ebb::kHalf, ebb::kFloat, ebb::kDouble, ebb::kBFloat16};

template <class T>
T read(std::istream& in) {
  T value;
  in.read(reinterpret_cast<char*>(&value), sizeof value);
  return value;
}
template <class T>
void write(std::ostream& out, T value) {
  out.write(reinterpret_cast<const char*>(&value), sizeof value);
}

inline Tensor read_tensor(std::istream& in) {
  const auto type = read<std::int32_t>(in);
  if (type < 0) return {};
  const bool requires_grad = read<std::int32_t>(in) != 0;
  Ints sizes(static_cast<std::size_t>(read<std::int32_t>(in)));
  for (std::int64_t& size : sizes) size = read<std::int64_t>(in);
  Tensor x = ebb::empty(sizes, kTypes[type]);
  in.read(static_cast<char*>(x.data_ptr()), static_cast<std::streamsize>(x.nbytes()));
  return requires_grad ? x.set_requires_grad(true) : x;
}
inline void write_tensor(std::ostream& out, const Tensor& x) {
  std::int32_t type = -1;
  for (int i = 0; x.defined() && i < 10; ++i)
    if (kTypes[i] == x.dtype()) type = i;
  write(out, type);
  if (type < 0) return;
  write<std::int32_t>(out, x.requires_grad());
  write(out, static_cast<std::int32_t>(x.dim()));
  for (const std::int64_t size : x.sizes()) write(out, size);
  const Tensor flat = x.detach().contiguous();
  out.write(static_cast<const char*>(flat.data_ptr()), static_cast<std::streamsize>(flat.nbytes()));
}
inline Tensors read_list(std::istream& in) {
  Tensors list(static_cast<std::size_t>(read<std::int32_t>(in)));
  for (Tensor& x : list) x = read_tensor(in);
  return list;
}
inline void write_list(std::ostream& out, const Tensors& list) {
  write(out, static_cast<std::int32_t>(list.size()));
  for (const Tensor& x : list) write_tensor(out, x);
}

/// The gradients with respect to the leaves of the sum of x times the defined cotangents.
inline Tensors gradients(const Tensors& x, const Tensors& cotangents, const Tensors& leaves, bool recorded) {
  Tensor sum;
  for (std::size_t i = 0; i < x.size() && i < cotangents.size(); ++i) {
    if (!cotangents[i].defined() || !x[i].defined() || !x[i].requires_grad()) continue;
    const Tensor part = (x[i] * cotangents[i]).sum();
    sum = sum.defined() ? sum + part : part;
  }
  if (!sum.defined()) return Tensors(leaves.size());
  return ebb::autograd::grad({sum}, leaves, {}, true, recorded, /*allow_unused=*/true);
}

/// main(): takes the file of samples, the file of results, and the index of the first sample to run.
inline int run(const std::vector<Statement>& statements, int argc, char** argv) {
  if (argc < 4) return 2;
  ebb::set_num_threads(1);
  std::ifstream in(argv[1], std::ios::binary);
  std::ofstream out(argv[2], std::ios::binary | std::ios::app);
  const auto count = read<std::int32_t>(in), first = static_cast<std::int32_t>(std::stol(argv[3]));
  for (std::int32_t i = 0; i < count; ++i) {
    const auto statement = static_cast<std::size_t>(read<std::int32_t>(in));
    const auto orders = read<std::int32_t>(in);
    Tensors t = read_list(in), leaves, values, grads, grads2;
    const Tensors cotangents = read_list(in), second = read_list(in);
    if (i < first) continue;
    std::int32_t stage = 0;
    std::string error;
    try {
      statements[statement](t, values);
      stage = 1;
      for (const Tensor& x : t)
        if (x.defined() && x.requires_grad()) leaves.push_back(x);
      if (orders > 0) grads = gradients(values, cotangents, leaves, orders > 1);
      stage = 2;
      if (orders > 1) grads2 = gradients(grads, second, leaves, false);
      stage = 3;
    } catch (const std::exception& e) {
      error = e.what();
    }
    write(out, stage);
    write(out, static_cast<std::int32_t>(error.size()));
    out << error;
    write_list(out, values);
    write_list(out, grads);
    write_list(out, grads2);
    out.flush();
  }
  return 0;
}

}  // namespace opinfo
