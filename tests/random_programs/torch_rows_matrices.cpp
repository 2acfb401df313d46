// Rows of the op table in PyTorch's words. Linear algebra.
#include "random_programs/torch_rows.h"

namespace programs {

const std::vector<TorchRow>& matrix_rows() {
  static const std::vector<TorchRow> rows = {
      {"addbmm", "torch.addbmm(x[0], x[1], x[2], beta=0.5, alpha=2)"},
      {"addmm", "torch.addmm(x[0], x[1], x[2], beta=0.5, alpha=2)"},
      {"addmm.nothing_inside", "torch.addmm(x[0], x[1], x[2], beta=0.5, alpha=2)"},
      {"addmv", "torch.addmv(x[0], x[1], x[2], beta=0.5, alpha=2)"},
      {"addr", "torch.addr(x[0], x[1], x[2], beta=0.5, alpha=2)"},
      {"baddbmm", "torch.baddbmm(x[0], x[1], x[2], beta=0.5, alpha=2)"},
      {"baddbmm.nothing_inside", "torch.baddbmm(x[0], x[1], x[2], beta=0.5, alpha=2)"},
      {"bilinear", "F.bilinear(*x)"},
      {"cdist.infinity", "torch.cdist(*x, math.inf)"},
      {"cdist.one", "torch.cdist(*x, 1.0)"},
      {"cdist.three", "torch.cdist(*x, 3.0)"},
      {"cholesky", "[LA.cholesky(gram(x[0])), LA.cholesky(gram(x[0]), upper=True)]"},
      {"cholesky_ex", "LA.cholesky_ex(gram(x[0]))"},
      {"cholesky_inverse", "[torch.cholesky_inverse(tame(x[0])), torch.cholesky_inverse(tame(x[0]), True)]"},
      {"cholesky_solve",
       "[torch.cholesky_solve(x[1], tame(x[0])), torch.cholesky_solve(x[1], tame(x[0]).mT, True)]"},
      {"cond", "(lambda a: [LA.cond(a), LA.cond(a, -2)])(graded(x[0]))"},
      {"cond.by_inverse",
       "(lambda a: [LA.cond(a, math.inf), LA.cond(a, 'fro'), LA.cond(a, 'nuc'), LA.cond(a, "
       "1)])(graded(x[0]))"},
      {"cross.last", "LA.cross(*x)"},
      {"det", "LA.det(tame(x[0]) * 0.6)"},
      {"det.plain", "torch.det(x[0])"},
      {"eigh",
       "(lambda L, Q: [L, (Q * L.unsqueeze(-2)) @ Q.mT, (Q * (L * 0.1).sin().unsqueeze(-2)) @ Q.mT, Q * "
       "Q])(*LA.eigh(low(spread(x[0]))))"},
      {"eigvalsh", "LA.eigvalsh(spread(x[0]), UPLO='U')"},
      {"einsum", "torch.einsum('bij,bjk->bik', x)"},
      {"einsum.capitals", "torch.einsum('aB,aZ', x)"},
      {"einsum.diagonal", "torch.einsum('ii,ij->j', x)"},
      {"geqrf",
       "(lambda a, tau: torch.orgqr(a.narrow(-1, 0, tau.size(-1)), tau) @ a.narrow(-2, 0, "
       "tau.size(-1)).triu())(*torch.geqrf(x[0]))"},
      {"householder_product", "LA.householder_product(*x)"},
      {"inv", "LA.inv(tame(x[0]))"},
      {"inv_ex", "LA.inv_ex(tame(x[0]))"},
      {"inverse", "torch.inverse(tame(x[0]))"},
      {"ldl_factor",
       "(lambda f: LA.ldl_solve(f[0], f[1], torch.eye(x[0].size(-1), "
       "dtype=x[0].dtype)))(LA.ldl_factor(indefinite(x[0])))"},
      {"ldl_factor_ex", "LA.ldl_factor_ex(indefinite(x[0]))"},
      {"ldl_solve",
       "(lambda f: indefinite(x[0]) @ LA.ldl_solve(f[0], f[1], x[1]))(LA.ldl_factor_ex(indefinite(x[0])))"},
      {"linalg_diagonal", "LA.diagonal(x[0], offset=1)"},
      {"linalg_norm",
       "[LA.norm(x[0]), LA.norm(x[0], math.inf), LA.norm(x[0], 3, 0).sum(), LA.norm(x[0], 'fro')]"},
      {"linalg_vander", "[LA.vander(x[0], N=4), LA.vander(x[0])]"},
      {"linear", "F.linear(*x)"},
      {"linear_gelu", "F.gelu(F.linear(*x), approximate='tanh')"},
      {"linear_relu", "torch.relu(F.linear(*x))"},
      {"logdet", "torch.logdet(tame(x[0]))"},
      {"lstsq", "(lambda r: [*r[:3], r[3].gt(0)])(LA.lstsq(graded(x[0]), x[1], driver='gelsy'))"},
      {"lstsq.gels", "(lambda r: [*r[:3], r[3].gt(0)])(LA.lstsq(graded(x[0]), x[1], driver='gels'))"},
      {"lstsq.gelss", "(lambda r: [*r[:3], r[3].gt(0)])(LA.lstsq(graded(x[0]), x[1], driver='gelss'))"},
      {"lu", "(lambda P, L, U: [P @ L @ U, P @ P.mT, L, U])(*LA.lu(x[0]))"},
      {"lu_factor", "LA.lu_factor(tame(x[0]))"},
      {"lu_factor_ex", "LA.lu_factor_ex(x[0])"},
      {"lu_solve",
       "(lambda LU, p, info: [torch.lu_solve(x[1], LU, p), LA.lu_solve(LU, p, x[1], left=True, "
       "adjoint=True), LA.lu_solve(LU, p, x[1].mT, left=False)])(*LA.lu_factor_ex(tame(x[0])))"},
      {"lu_unpack",
       "(lambda P, L, U: [P @ L @ U, L, U])(*(lambda f: torch.lu_unpack(f[0] * 1.0, "
       "f[1]))(LA.lu_factor(tame(x[0]))))"},
      {"matmul.batch", "torch.matmul(*x)"},
      {"matmul.vector", "torch.matmul(*x)"},
      {"matrix_H", "x[0].mH"},
      {"matrix_exp", "LA.matrix_exp(x[0] / max(x[0].size(-1), 1))"},
      {"matrix_exp.large", "torch.matrix_exp(torch.cat([x[0] * 3, x[0] * 0.1]))"},
      {"matrix_norm", "[LA.matrix_norm(x[0]), LA.matrix_norm(x[0].mT, 'fro', (-1, -2), True)]"},
      {"matrix_norm.sums",
       "[LA.matrix_norm(x[0], math.inf), LA.matrix_norm(x[0], -math.inf), LA.matrix_norm(x[0].mT, 1), "
       "LA.matrix_norm(x[0].mT, -1)]"},
      {"matrix_norm.values",
       "(lambda a: [LA.matrix_norm(a, 2), LA.matrix_norm(a, -2), LA.matrix_norm(a, 'nuc', (-2, -1), "
       "True).squeeze(-1).squeeze(-1)])(graded(x[0]))"},
      {"matrix_power", "torch.matrix_power(x[0], 3)"},
      {"matrix_power.negative",
       "torch.matrix_power(x[0] / 4 + 2 * torch.eye(x[0].size(-1), dtype=x[0].dtype), -2)"},
      {"matrix_rank",
       "(lambda a: [LA.matrix_rank(a @ a.mT), LA.matrix_rank(a @ a.mT, 1e-3, True), LA.matrix_rank(a), "
       "LA.matrix_rank(a @ a.mT, 1e6)])(graded(x[0]))"},
      {"mm.empty", "torch.mm(*x)"},
      {"mm.no_rows", "torch.mm(*x)"},
      {"multi_dot", "LA.multi_dot(x)"},
      {"nuclear_norm",
       "[aten.nuclear_norm(graded(x[0])), aten.nuclear_norm.dim(graded(x[0]), [1, 0], True).flatten()]"},
      {"ormqr",
       "[torch.ormqr(*x), torch.ormqr(*x, True, True), torch.ormqr(x[0], x[1], x[2].mT, False), "
       "torch.ormqr(x[0], x[1], x[2].mT, False, True)]"},
      {"pinv", "LA.pinv(graded(x[0]))"},
      {"pinv.hermitian", "LA.pinv(spread(x[0]), 1e-10, True)"},
      {"pinv.rank_two", "(lambda a: LA.pinv(a @ a.mT, atol=1e-4, rtol=1e-4))(graded(x[0]))"},
      {"pinverse", "torch.pinverse(graded(x[0]))"},
      {"qr", "(lambda Q, R: [Q @ R, Q.mT @ Q, Q, R])(*LA.qr(tame(x[0])))"},
      {"qr.complete", "(lambda Q, R: [Q @ R, Q.mT @ Q, Q, R])(*LA.qr(tame(x[0]), mode=\"complete\"))"},
      {"qr.tall_and_complete",
       "(lambda Q, R, S: [Q @ R, Q.mT @ Q, S.mT @ S])(*LA.qr(x[0], mode='complete'), LA.qr(x[0], "
       "mode='r')[1])"},
      {"solve", "LA.solve(tame(x[0]), x[1])"},
      {"solve.right", "LA.solve(tame(x[0]), x[1].mT, left=False).mT"},
      {"solve.vectors", "LA.solve(tame(x[0]), x[1])"},
      {"solve_ex", "LA.solve_ex(tame(x[0]), x[1])"},
      {"solve_triangular", "LA.solve_triangular(tame(x[0]), x[1], upper=False)"},
      {"solve_triangular.lower_unit",
       "LA.solve_triangular(tame(x[0]), x[1], upper=False, unitriangular=True)"},
      {"solve_triangular.right", "LA.solve_triangular(tame(x[0]), x[1].mT, upper=True, left=False).mT"},
      {"solve_triangular.upper", "LA.solve_triangular(tame(x[0]), x[1], upper=True)"},
      {"solve_triangular.upper_unit",
       "LA.solve_triangular(tame(x[0]), x[1], upper=True, unitriangular=True)"},
      {"svd",
       "(lambda U, S, V: [S, (U * S.unsqueeze(-2)) @ V, (U * (S * 0.3).sin().unsqueeze(-2)) @ V, U * U, V * "
       "V])(*LA.svd(graded(x[0]), full_matrices=False))"},
      {"svd.full",
       "(lambda U, S, V: [(U.mT @ U).detach(), (V.mT @ V).detach(), S, (U.narrow(-1, 0, S.size(-1)) * "
       "S.exp().log1p().unsqueeze(-2)) @ V.narrow(-1, 0, S.size(-1)).mT])(*torch.svd(graded(x[0]), "
       "some=False))"},
      {"svdvals", "LA.svdvals(graded(x[0]))"},
      {"tensordot", "torch.tensordot(x[0], x[1], ([1], [0]))"},
      {"tensorinv", "LA.tensorinv(tame(x[0]).reshape(2, 3, 6))"},
      {"tensorsolve",
       "[LA.tensorsolve(tame(x[0]).reshape(2, 3, 6), x[1]), LA.tensorsolve(tame(x[0]).reshape(6, 2, 3), "
       "x[1].flatten()), LA.tensorsolve(tame(x[0]).reshape(2, 3, 6).permute(2, 0, 1), x[1], (0,))]"},
      {"triangular_solve", "torch.triangular_solve(x[1], tame(x[0]), True, True)"},
      {"vecdot", "LA.vecdot(*x)"},
  };
  return rows;
}

}  // namespace programs
