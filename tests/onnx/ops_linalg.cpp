// Products of matrices.
#include "onnx/call.h"

namespace onnx {
namespace {

Tensors gemm(const Call& c) {
  const Tensor a = c.integer("transA", 0) ? c[0].t() : c[0];
  const Tensor b = c.integer("transB", 0) ? c[1].t() : c[1];
  const double alpha = c.real("alpha", 1), beta = c.real("beta", 1);
  return {c.has(2) ? ebb::addmm(c[2], a, b, beta, alpha) : ebb::mm(a, b) * alpha};
}

// Products of 8-bit integers, less their zero points, in 32 bits.
Tensors matmul_integer(const Call& c) {
  const auto centred = [&](std::size_t input) {
    const Tensor x = c[input].to(ebb::kInt);
    return c.has(input + 2) ? x - c[input + 2].to(ebb::kInt) : x;
  };
  return {ebb::matmul(centred(0), centred(1))};
}

}  // namespace

void add_linalg(Ops& ops) {
  ops["MatMul"] = [](const Call& c) { return Tensors{ebb::matmul(c[0], c[1])}; };
  ops["Gemm"] = gemm;
  ops["MatMulInteger"] = matmul_integer;
  ops["Einsum"] = [](const Call& c) { return Tensors{ebb::einsum(c.text("equation", ""), c.inputs())}; };
}

}  // namespace onnx
