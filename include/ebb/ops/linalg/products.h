// mm, bmm, matmul, einsum, cdist and other products of vectors and matrices.
//
// All operands have the same dtype and are on the same device. They may have any strides (a transposed
// operand is never copied). All functions are differentiable to any order. Integer products are computed in
// integers, and 16-bit floats in float. A product over an empty dimension is zero. Mismatches throw
// ebb::Error with both shapes.
#pragma once

#include <ebb/autograd/variable.h>

#include <string_view>

namespace ebb {

/// The product of two matrices, [m, k] x [k, n] -> [m, n] (torch.mm).
EBB_API Variable mm(const Variable& self, const Variable& mat2);
/// Products of the matrices of two batches, [b, m, k] x [b, k, n] -> [b, m, n] (torch.bmm).
EBB_API Variable bmm(const Variable& self, const Variable& mat2);
/// The product, selected by rank (torch.matmul). Two vectors give a dot product. A vector as the first
/// operand is a row, and as the second operand a column; the dimension that it lacks is removed from the
/// result. Leading dimensions are batches and broadcast.
EBB_API Variable matmul(const Variable& self, const Variable& other);
/// Matrix times vector, [m, k] x [k] -> [m] (torch.mv).
EBB_API Variable mv(const Variable& self, const Variable& vec);
/// The sum of x[i] y[i] of two vectors of the same length (torch.dot).
EBB_API Variable dot(const Variable& self, const Variable& other);
/// Returns dot, because ebb has only real numbers (torch.vdot).
EBB_API Variable vdot(const Variable& self, const Variable& other);
/// Sums of products over the last dimension of both: [..., k], [---, k] -> [..., ---]. If one operand has no
/// dimensions, returns the elementwise product (torch.inner).
EBB_API Variable inner(const Variable& self, const Variable& other);
/// x[i] y[j] of two vectors, whose dtypes may differ (torch.outer).
EBB_API Variable outer(const Variable& self, const Variable& vec2);
inline Variable ger(const Variable& self, const Variable& vec2) { return outer(self, vec2); }

/// beta * self + alpha * (mat1 x mat2); self broadcasts (torch.addmm). With beta 0, self is ignored.
EBB_API Variable addmm(const Variable& self, const Variable& mat1, const Variable& mat2,
                       const Scalar& beta = 1, const Scalar& alpha = 1);
/// beta * self + alpha * (mat x vec); self broadcasts (torch.addmv).
EBB_API Variable addmv(const Variable& self, const Variable& mat, const Variable& vec, const Scalar& beta = 1,
                       const Scalar& alpha = 1);
/// beta * self + alpha * outer(vec1, vec2); self broadcasts (torch.addr).
EBB_API Variable addr(const Variable& self, const Variable& vec1, const Variable& vec2,
                      const Scalar& beta = 1, const Scalar& alpha = 1);
/// beta * self + alpha * (the sum over i of batch1[i] x batch2[i]) (torch.addbmm).
EBB_API Variable addbmm(const Variable& self, const Variable& batch1, const Variable& batch2,
                        const Scalar& beta = 1, const Scalar& alpha = 1);
/// beta * self[i] + alpha * (batch1[i] x batch2[i]); self broadcasts (torch.baddbmm).
EBB_API Variable baddbmm(const Variable& self, const Variable& batch1, const Variable& batch2,
                         const Scalar& beta = 1, const Scalar& alpha = 1);

/// x W^T + b over the last dimension: [..., in] and [out, in] -> [..., out] (torch.nn.functional.linear).
EBB_API Variable linear(const Variable& input, const Variable& weight, const optional<Variable>& bias = {});
/// relu(linear(input, weight, bias)). On CUDA, with a contiguous bias and any floating dtype except Double,
/// one kernel of cuBLASLt computes it. This kernel rounds once and may lose NaN (torch._addmm_activation).
/// Derivatives are those of relu and linear.
EBB_API Variable linear_relu(const Variable& input, const Variable& weight,
                             const optional<Variable>& bias = {});
/// gelu(linear(input, weight, bias), "tanh"), computed like linear_relu. If a gradient is needed, the kernel
/// also writes gelu's argument.
EBB_API Variable linear_gelu(const Variable& input, const Variable& weight,
                             const optional<Variable>& bias = {});
/// y[..., o] = b[o] + the sum over i, j of x1[..., i] * W[o, i, j] * x2[..., j]
/// (torch.nn.functional.bilinear).
EBB_API Variable bilinear(const Variable& input1, const Variable& input2, const Variable& weight,
                          const optional<Variable>& bias = {});

/// Sums of products in Einstein notation: einsum("bij,bjk->bik", {x, y}) (torch.einsum). Letters name
/// dimensions. A letter that occurs twice in an operand takes the diagonal. Letters missing after "->" are
/// summed. Without "->" the output has the letters that occur once, in alphabetical order (capitals first).
/// "..." means any number of further dimensions, which broadcast. Operands are contracted from left to right,
/// or in the order of `path`. A path consists of pairs of positions; the result of each contraction is
/// appended to the list of operands.
EBB_API Variable einsum(std::string_view equation, TensorList tensors, OptionalIntArrayRef path = nullopt);
/// Sums products over the i-th of dims_self and the i-th of dims_other (torch.tensordot).
EBB_API Variable tensordot(const Variable& self, const Variable& other, IntArrayRef dims_self,
                           IntArrayRef dims_other);
/// The Kronecker product, of tensors of any rank (torch.kron).
EBB_API Variable kron(const Variable& self, const Variable& other);
/// The sum of the diagonal of a matrix; for integers in int64 (torch.trace).
EBB_API Variable trace(const Variable& self);
/// The cross product along a dimension of size 3. The default is the first such dimension (torch.cross).
EBB_API Variable cross(const Variable& self, const Variable& other, optional<std::int64_t> dim = nullopt);
/// The product of n copies of a square matrix, or of each matrix of a batch (torch.matrix_power). n = 0 gives
/// the identity. Negative powers use the inverse, and throw for singular matrices.
EBB_API Variable matrix_power(const Variable& self, std::int64_t n);
/// The product of a chain of matrices, in the cheapest order (torch.chain_matmul).
EBB_API Variable chain_matmul(TensorList matrices);

/// The distances ||x1[..., i, :] - x2[..., j, :]||_p of all pairs of rows, [..., n, d] and [..., m, d] ->
/// [..., n, m]. p is >= 0 or infinity (torch.cdist). The gradient of a distance of 0 is 0. In torch,
/// compute_mode selects a formula for Euclidean distances (0: a matrix product for more than 25 rows, 1:
/// always a matrix product, 2: never). ebb ignores it and always sums squared differences, which is as exact
/// as mode 2.
EBB_API Variable cdist(const Variable& x1, const Variable& x2, double p = 2,
                       optional<std::int64_t> compute_mode = nullopt);
/// The distances of all pairs of rows i < j of a matrix [n, d], ordered by i: [n, d] -> [n (n - 1) / 2]
/// (torch.pdist).
EBB_API Variable pdist(const Variable& self, double p = 2);

namespace linalg {
/// Returns chain_matmul, where the first and the last operand may also be vectors (torch.linalg.multi_dot).
EBB_API Variable multi_dot(TensorList tensors);
/// The cross product along `dim`, whose size must be 3; other dimensions broadcast (torch.linalg.cross).
EBB_API Variable cross(const Variable& self, const Variable& other, std::int64_t dim = -1);
inline Variable matmul(const Variable& self, const Variable& other) { return ebb::matmul(self, other); }
inline Variable matrix_power(const Variable& self, std::int64_t n) { return ebb::matrix_power(self, n); }
}  // namespace linalg

inline Variable linalg_multi_dot(TensorList tensors) { return linalg::multi_dot(tensors); }
inline Variable linalg_matmul(const Variable& self, const Variable& other) { return matmul(self, other); }
inline Variable linalg_cross(const Variable& self, const Variable& other, std::int64_t dim = -1) {
  return linalg::cross(self, other, dim);
}
inline Variable linalg_matrix_power(const Variable& self, std::int64_t n) { return matrix_power(self, n); }

}  // namespace ebb
