// norm, matrix_norm, nuclear_norm and cond.
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/index.h>
#include <ebb/ops/linalg.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include "ops/common/autocast.h"
#include "ops/common/checks.h"
#include "ops/linalg/decomposition.h"

#include <cmath>

namespace ebb {
namespace {

using namespace ops;

// The two dimensions of the matrices.
struct Dims {
  std::int64_t rows, cols;
  Dims(const char* op, const Variable& A, IntArrayRef dim) : rows(0), cols(0) {
    check_defined(op, A);
    check_dims(op, A, 2, "The input tensor A must have");
    EBB_CHECK(is_floating(A.dtype()), op, ": Expected a floating point tensor as input. Got ", A.dtype(),
              "; convert with .to(ebb::kFloat).");
    EBB_CHECK(dim.size() == 2, op, ": dim must be a 2-tuple, got ", dim, ".");
    rows = wrap_dim(op, dim[0], A.dim());
    cols = wrap_dim(op, dim[1], A.dim());
    EBB_CHECK(rows != cols, op, ": dims must be different. Got ", dim, ".");
  }
};

// Returns reduce(the singular values of A). If `keepdim`, the two dimensions of the matrices have size 1 in
// the result.
template <class Reduce>
Variable of_values(const char* op, const Variable& A, const Dims& dims, bool keepdim, const Reduce& reduce) {
  const Variable last = movedim(A, {dims.rows, dims.cols}, {-2, -1});
  check_matrices(op, last);
  const Variable out = reduce(linalg::svdvals(last));
  return keepdim ? movedim(out.unsqueeze(-1).unsqueeze(-1), {-2, -1}, {dims.rows, dims.cols}) : out;
}

Variable matrix_norm_of(const char* op, const Variable& A, double ord, IntArrayRef dim, bool keepdim) {
  const Dims dims(op, A, dim);
  const double size = std::abs(ord);
  EBB_CHECK(size == 1 || size == 2 || std::isinf(size), op, ": Order ", ord, " not supported.");
  const bool largest = ord > 0;
  // For a matrix without elements, the norms that take a maximum are 0, as in torch.
  if (size == 2)
    return of_values(op, A, dims, keepdim, [&](const Variable& S) {
      if (S.size(-1) == 0 && largest) return S.sum(-1);
      return largest ? S.amax({-1}) : S.amin({-1});
    });
  const std::int64_t summed = size == 1 ? dims.rows : dims.cols, other = size == 1 ? dims.cols : dims.rows;
  const Variable sums = A.abs().sum(IntArrayRef({summed}), true);
  const bool nothing = sums.size(other) == 0 && largest;
  const Variable out = nothing ? sums.sum(IntArrayRef({other}), true)
                               : (largest ? sums.amax({other}, true) : sums.amin({other}, true));
  if (keepdim) return out;
  return out.squeeze(std::max(summed, other)).squeeze(std::min(summed, other));
}

Variable matrix_norm_of(const char* op, const Variable& A, std::string_view ord, IntArrayRef dim,
                        bool keepdim) {
  const Dims dims(op, A, dim);
  EBB_CHECK(ord == "fro" || ord == "nuc", op, ": Order ", ord, " not supported.");
  if (ord == "fro") return linalg_vector_norm(A, 2, IntArrayRef({dims.rows, dims.cols}), keepdim);
  return of_values(op, A, dims, keepdim, [](const Variable& S) { return S.sum(-1); });
}

Variable converted(const char* op, const Variable& A, const optional<ScalarType>& dtype) {
  check_defined(op, A);
  if (!dtype) return A;
  EBB_CHECK(is_floating(A.dtype()) && promote_types(A.dtype(), *dtype) == *dtype, op,
            ": the dtype of the input (", A.dtype(),
            ") should be floating and convertible without narrowing to the specified dtype (", *dtype, ").");
  return A.to(*dtype);
}

// Returns all dimensions of A, for calls without a `dim` argument.
DimVector all_dims_of(const Variable& A) {
  EBB_CHECK(A.dim() == 1 || A.dim() == 2,
            "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got ", A.dim(),
            "D.");
  DimVector dims;
  for (std::int64_t i = 0; i < A.dim(); ++i) dims.push_back(i);
  return dims;
}

// Returns |A| |A^-1|, which is infinite for a singular matrix.
template <class Norm>
Variable by_inverse(const Variable& A, const Norm& norm) {
  check_square("linalg.cond", A);
  const auto [inverse, info] = linalg::inv_ex(A);
  const Variable singular = info.ne(0).unsqueeze(-1).unsqueeze(-1);
  return norm(A) * norm(inverse.masked_fill(singular, INFINITY));
}

}  // namespace

namespace linalg {

Variable matrix_norm(const Variable& A, const Scalar& ord, IntArrayRef dim, bool keepdim,
                     optional<ScalarType> dtype) {
  const char* const op = "linalg.matrix_norm";
  return matrix_norm_of(op, converted(op, A, dtype), ord.to_double(), dim, keepdim);
}
Variable matrix_norm(const Variable& A, std::string_view ord, IntArrayRef dim, bool keepdim,
                     optional<ScalarType> dtype) {
  const char* const op = "linalg.matrix_norm";
  return matrix_norm_of(op, converted(op, A, dtype), ord, dim, keepdim);
}

Variable norm(const Variable& A, const optional<Scalar>& ord, OptionalIntArrayRef dim, bool keepdim,
              optional<ScalarType> dtype) {
  const Variable x = converted("linalg.norm", A, dtype);
  EBB_CHECK(!dim || dim->size() == 1 || dim->size() == 2,
            "linalg.norm: If dim is specified, it must be of length 1 or 2. Got ", dim ? *dim : IntArrayRef(),
            ".");
  if (!ord) return linalg_vector_norm(x, 2, dim, keepdim);
  const DimVector dims = dim ? DimVector(*dim) : all_dims_of(x);
  if (dims.size() == 1) return linalg_vector_norm(x, *ord, IntArrayRef(dims), keepdim);
  return matrix_norm_of("linalg.norm", x, ord->to_double(), dims, keepdim);
}
Variable norm(const Variable& A, std::string_view ord, OptionalIntArrayRef dim, bool keepdim,
              optional<ScalarType> dtype) {
  const Variable x = converted("linalg.norm", A, dtype);
  const DimVector dims = dim ? DimVector(*dim) : all_dims_of(x);
  return matrix_norm_of("linalg.norm", x, ord, dims, keepdim);
}

Variable cond(const Variable& A, const optional<Scalar>& p) {
  EBB_AUTOCAST(cond, A, p);
  const double order = p ? p->to_double() : 2;
  check_matrices("linalg.cond", A);
  if (order == 2 || order == -2) {
    const Variable S = svdvals(A);
    if (S.size(-1) == 0) return S.sum(-1);
    const Variable most = S.select(-1, 0), least = S.select(-1, -1);
    return order == 2 ? most / least : least / most;
  }
  return by_inverse(
      A, [&](const Variable& x) { return matrix_norm_of("linalg.cond", x, order, {-2, -1}, false); });
}
Variable cond(const Variable& A, std::string_view p) {
  EBB_AUTOCAST(cond, A, p);
  check_matrices("linalg.cond", A);
  // For the nuclear norm the condition number is computed from singular values: the norm of the inverse does
  // not exist for a singular matrix.
  if (p == "nuc") {
    const Variable S = svdvals(A);
    check_square("linalg.cond", A);
    return S.sum(-1) * S.reciprocal().sum(-1);
  }
  return by_inverse(A,
                    [&](const Variable& x) { return matrix_norm_of("linalg.cond", x, p, {-2, -1}, false); });
}

}  // namespace linalg

Variable nuclear_norm(const Variable& self, bool keepdim) { return nuclear_norm(self, {-2, -1}, keepdim); }
Variable nuclear_norm(const Variable& self, IntArrayRef dim, bool keepdim) {
  return matrix_norm_of("nuclear_norm", self, "nuc", dim, keepdim);
}

}  // namespace ebb
