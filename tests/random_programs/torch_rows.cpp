// PyTorch expressions of op table rows: lookup; elementwise ops, reductions, scans, sorting.
#include "random_programs/export.h"

#include <algorithm>

// Finds the expression of a row.

namespace programs {
namespace {

const TorchRow* entry_of(const std::string& row) {
  for (const auto* rows : {&pointwise_rows(), &line_rows(), &place_rows(), &layer_rows(), &matrix_rows()}) {
    const auto at =
        std::lower_bound(rows->begin(), rows->end(), row,
                         [](const TorchRow& each, const std::string& name) { return each.row < name; });
    if (at != rows->end() && at->row == row) return &*at;
  }
  return nullptr;
}

// "torch.NAME(x[0], REST)" becomes "x[0].NAME_(REST)". Functions of F have in-place forms among the aten
// operators.
std::string twin_of(const std::string& expression) {
  const std::size_t open = expression.find('('), dot = expression.find('.');
  const std::string name = expression.substr(dot + 1, open - dot - 1) + "_(",
                    rest = expression.substr(open + 1);
  if (expression.starts_with("F.")) return "aten." + name + rest;
  const std::size_t first = rest.find_first_of(",)");
  return "x[0]." + name + rest.substr(rest[first] == ',' ? first + 2 : first);
}

}  // namespace

std::string torch_row(const std::string& row, bool in_place) {
  if (const TorchRow* entry = entry_of(row)) {
    const std::string expression = entry->expression, twin = entry->in_place;
    if (!in_place || expression.empty()) return expression;
    return twin.empty() ? twin_of(expression) : twin;
  }
  if (row.find('.') != std::string::npos) return "";
  if (in_place) return "x[0]." + row + "_(*x[1:])";
  if (row.starts_with("special_")) return "torch.special." + row.substr(8) + "(*x)";
  return "torch." + row + "(*x)";
}

// PyTorch expressions of op table rows: elementwise ops.

const std::vector<TorchRow>& pointwise_rows() {
  static const std::vector<TorchRow> rows = {
      {"add", "torch.add(x[0], x[1], alpha=2)"},
      {"add.number", "torch.add(x[0], 3, alpha=2)"},
      {"addcdiv", "torch.addcdiv(x[0], x[1], x[2], value=0.5)"},
      {"addcmul", "torch.addcmul(x[0], x[1], x[2], value=0.5)"},
      {"allclose",
       "[torch.tensor(torch.allclose(x[0], x[1], 0.2, 0.1)), torch.tensor(torch.allclose(x[0], x[1], 0.01, "
       "0))]"},
      {"bitwise_not.bool", "torch.bitwise_not(x[0])"},
      {"celu", "torch.celu(x[0], 1.5)", "aten.celu_(x[0], 1.5)"},
      {"clamp", "torch.clamp(x[0], -0.5, 1)"},
      {"clamp.high_only", "torch.clamp(x[0], max=1)"},
      {"clamp.low_only", "torch.clamp(x[0], min=-1)"},
      {"clamp.tensors", "torch.clamp(x[0], x[1], x[2])"},
      {"clamp_max", "torch.clamp_max(x[0], 0.5)"},
      {"clamp_max.tensor", "torch.clamp_max(x[0], x[1])"},
      {"clamp_min", "torch.clamp_min(x[0], 0.5)"},
      {"clamp_min.tensor", "torch.clamp_min(x[0], x[1])"},
      {"copysign.number", "torch.copysign(x[0], -3)"},
      {"digamma.negative", "torch.digamma(x[0])"},
      {"div.floor", "torch.div(x[0], x[1], rounding_mode='floor')"},
      {"div.floor_of_integers", "torch.div(x[0], x[1], rounding_mode='floor')"},
      {"div.number", "torch.div(x[0], 3)"},
      {"div.number_first", "3 / x[0]"},
      {"div.trunc", "torch.div(x[0], x[1], rounding_mode='trunc')"},
      {"div.trunc_of_integers", "torch.div(x[0], x[1], rounding_mode='trunc')"},
      {"elu", "F.elu(x[0], 1.5)"},
      {"elu.scaled", "aten.elu(x[0], 1.7, 0.5, 2)"},
      {"eq.integers", "torch.eq(x[0], x[1])"},
      {"equal", "[torch.tensor(torch.equal(x[0], x[1])), torch.tensor(torch.equal(x[0], x[0].clone()))]"},
      {"fill", "torch.fill(x[0], 2.5)"},
      {"fill.tensor", "torch.fill(x[0], x[1])"},
      {"fmod.number", "torch.fmod(x[0], 1.5)"},
      {"fmod.of_integers", "torch.fmod(x[0], x[1])"},
      {"frobenius_norm", "aten.frobenius_norm(x[0], [0, 1])"},
      {"gelu", "F.gelu(x[0])"},
      {"gelu.tanh", "F.gelu(x[0], approximate='tanh')"},
      {"glu", "F.glu(x[0], -1)"},
      {"hardshrink", "torch.hardshrink(x[0], 0.5)"},
      {"hardsigmoid", "F.hardsigmoid(x[0])"},
      {"hardswish", "F.hardswish(x[0])"},
      {"hardtanh", "F.hardtanh(x[0], -1, 0.5)"},
      {"hardtanh.exchanged", "aten.hardtanh(x[0], 1, -1)", "aten.hardtanh_(x[0], 1, -1)"},
      {"igamma.in_place", "torch.igamma(x[0], x[1])"},
      {"igammac.in_place", "torch.igammac(x[0], x[1])"},
      {"isclose", "torch.isclose(x[0], x[1], 0.2, 0.1)"},
      {"isneginf", "torch.isneginf(x[0] / 0)"},
      {"isposinf", "torch.isposinf(x[0] / 0)"},
      {"leaky_relu", "F.leaky_relu(x[0], 0.2)"},
      {"lerp.end", "torch.lerp(x[0], x[1], 1.0)"},
      {"lerp.start", "torch.lerp(x[0], x[1], 0.0)"},
      {"log_sigmoid", "F.logsigmoid(x[0])"},
      {"logical_and.floating", "torch.logical_and(x[0], x[1])"},
      {"logit.eps", "torch.logit(x[0], 0.3)"},
      {"mish", "F.mish(x[0])"},
      {"mul.number", "torch.mul(x[0], 3)"},
      {"mvlgamma", "torch.mvlgamma(x[0], 3)"},
      {"nan_to_num.values", "torch.nan_to_num(x[0] / 0, 1, 2, 3)"},
      {"polygamma", "torch.polygamma(1, x[0])"},
      {"polygamma.second", "torch.polygamma(2, x[0])"},
      {"pow.base", "torch.pow(2, x[0])"},
      {"pow.exponent_-0.50", "torch.pow(x[0], -0.5)"},
      {"pow.exponent_-1.00", "torch.pow(x[0], -1.0)"},
      {"pow.exponent_-3.00", "torch.pow(x[0], -3.0)"},
      {"pow.exponent_0.00", "torch.pow(x[0], 0.0)"},
      {"pow.exponent_0.50", "torch.pow(x[0], 0.5)"},
      {"pow.exponent_1.00", "torch.pow(x[0], 1.0)"},
      {"pow.exponent_2.00", "torch.pow(x[0], 2.0)"},
      {"pow.exponent_2.75", "torch.pow(x[0], 2.75)"},
      {"pow.exponent_3.00", "torch.pow(x[0], 3.0)"},
      {"pow.of_integers", "torch.pow(x[0], x[1])"},
      {"pow.scalar", "torch.pow(x[0], 3)"},
      {"pow.zero_base", "torch.pow(0.0, x[0])"},
      {"relu6", "F.relu6(x[0])"},
      {"remainder.number", "torch.remainder(x[0], 1.5)"},
      {"remainder.number_first", "torch.remainder(1.5, x[0])"},
      {"remainder.of_integers", "torch.remainder(x[0], x[1])"},
      {"round.decimals", "torch.round(x[0], decimals=1)"},
      {"rrelu", "F.rrelu(x[0], 0.1, 0.3)"},
      {"rrelu.evaluation", "F.rrelu(x[0], 0.1, 0.3)"},
      {"rsub", "torch.rsub(x[0], x[1], alpha=2)"},
      {"rsub.number", "torch.rsub(x[0], 3, alpha=2)"},
      {"selu", "F.selu(x[0])"},
      {"silu", "F.silu(x[0])"},
      {"softplus", "F.softplus(x[0])"},
      {"softplus.beta", "F.softplus(x[0], 2, 20)"},
      {"softplus.threshold", "F.softplus(x[0], 2, 3)"},
      {"softshrink", "F.softshrink(x[0], 0.5)"},
      {"softsign", "F.softsign(x[0])"},
      {"special_xlog1py.number", "torch.special.xlog1py(x[0], 1.5)"},
      {"special_xlog1py.number_first", "torch.special.xlog1py(2.5, x[0])"},
      {"special_zeta.number", "torch.special.zeta(x[0], 1)"},
      {"special_zeta.number_first", "torch.special.zeta(2.5, x[0])"},
      {"sub.alpha", "torch.sub(x[0], x[1], alpha=2)"},
      {"sub.number", "torch.sub(x[0], 3, alpha=2)"},
      {"sub.number_first", "3 - x[0]"},
      {"tanhshrink", "F.tanhshrink(x[0])"},
      {"threshold", "F.threshold(x[0], 0.25, 7)"},
      {"where.number", "torch.where(x[0], x[1], 2.5)"},
      {"where.number_first", "torch.where(x[0], 2.5, x[1])"},
      {"xlogy.number", "torch.xlogy(x[0], 2.5)"},
      {"xlogy.number_first", "torch.xlogy(2.5, x[0])"},
      {"xlogy.zero", "torch.xlogy(x[0], 0.0)"},
  };
  return rows;
}

// PyTorch expressions of op table rows: reductions, scans, sorting and statistics.

const std::vector<TorchRow>& line_rows() {
  static const std::vector<TorchRow> rows = {
      {"_log_softmax", "torch._log_softmax(x[0], -1, False)"},
      {"_log_softmax.first", "torch._log_softmax(x[0], 0, False)"},
      {"_log_softmax_backward_data", "aten._log_softmax_backward_data(x[0], x[1], 1, x[1].dtype)"},
      {"_softmax", "torch._softmax(x[0], -1, False)"},
      {"_softmax.first", "torch._softmax(x[0], 0, False)"},
      {"_softmax_backward_data", "aten._softmax_backward_data(x[0], x[1], 1, x[1].dtype)"},
      {"_unique", "torch._unique(x[0], True, True)"},
      {"_unique2", "torch._unique2(x[0], True, True, True)"},
      {"all", "torch.all(x[0] > -1, 1)"},
      {"all.floating", "torch.all(x[0])"},
      {"amax.dim", "torch.amax(x[0], 1)"},
      {"amin.dim", "torch.amin(x[0], 1)"},
      {"aminmax", "torch.aminmax(x[0], dim=1)"},
      {"any", "torch.any(x[0] > 1, 1)"},
      {"any.all", "torch.stack([torch.any(x[0] > 1), torch.all(x[0] > -3)])"},
      {"any.floating", "torch.any(x[0])"},
      {"argmax", "torch.argmax(x[0], 1)"},
      {"argmin", "torch.argmin(x[0], 1)"},
      {"bincount", "torch.bincount(x[0], None, 6)"},
      {"bincount.weights", "torch.bincount(x[0], x[1], 6)"},
      {"bucketize", "torch.bucketize(x[1], torch.sort(x[0])[0])"},
      {"corrcoef.slopes", "torch.corrcoef(x[0])[0][1]"},
      {"count_nonzero", "torch.count_nonzero(x[0], 1)"},
      {"count_nonzero.floating", "torch.count_nonzero(x[0])"},
      {"cov.counts", "torch.cov(x[0], correction=0, fweights=torch.tensor([1, 2, 1, 3]))"},
      {"cov.weights", "torch.cov(x[0], correction=1, fweights=torch.tensor([1, 2, 1, 3]), aweights=x[1])"},
      {"cummax", "torch.cummax(x[0], -1)[0]"},
      {"cummax.first", "torch.cummax(x[0], 0)[0]"},
      {"cummin", "torch.cummin(x[0], -1)[0]"},
      {"cummin.first", "torch.cummin(x[0], 0)[0]"},
      {"cumprod", "torch.cumprod(x[0], -1)"},
      {"cumprod.first", "torch.cumprod(x[0], 0)"},
      {"cumprod.zeros", "torch.cumprod(x[0], 1)"},
      {"cumsum", "torch.cumsum(x[0], -1)"},
      {"cumsum.first", "torch.cumsum(x[0], 0)"},
      {"cumulative_trapezoid", "torch.cumulative_trapezoid(x[0], dx=1, dim=1)"},
      {"cumulative_trapezoid.at", "torch.cumulative_trapezoid(x[0], x[1] * 0 + 2 * x[1])"},
      {"diff", "torch.diff(x[0], 1, -1)"},
      {"diff.first", "torch.diff(x[0], 1, 0)"},
      {"diff.longer", "torch.diff(x[0], 2, 1, x[1], x[2])"},
      {"gradient", "torch.gradient(x[0], spacing=0.5, dim=1)[0]"},
      {"gradient.all", "torch.gradient(x[0], spacing=0.5)"},
      {"gradient.at", "torch.gradient(x[0], spacing=[x[1]], dim=[1], edge_order=1)"},
      {"gradient.at_edges", "torch.gradient(x[0], spacing=[x[1]], dim=[1], edge_order=2)"},
      {"gradient.edges", "torch.gradient(x[0], spacing=0.5, dim=1, edge_order=2)[0]"},
      {"hash_tensor.integers", "torch.hash_tensor(x[0], [1])"},
      {"histc", "torch.histc(x[0], 4, -2, 2)"},
      {"histogram", "torch.histogram(x[0], 4, range=(-0.5, 0.5), weight=x[1])"},
      {"histogram.edges",
       "torch.histogram(x[0], torch.tensor([-0.75, -0.5, 0.125, 1.0], dtype=x[0].dtype), density=True)[0]"},
      {"histogramdd",
       "(lambda h: [h[0], *h[1]])(torch.histogramdd(x[0], [2, 3], range=[-1, 1, -0.75, 0.75]))"},
      {"kthvalue", "torch.kthvalue(x[0], 2)[0]"},
      {"linalg_vector_norm", "LA.vector_norm(x[0])"},
      {"linalg_vector_norm.dim", "LA.vector_norm(x[0], 2, 1)"},
      {"linear_recurrence", ""},
      {"linear_recurrence.reverse", ""},
      {"log_softmax", "torch.log_softmax(x[0], -1)"},
      {"log_softmax.first", "torch.log_softmax(x[0], 0)"},
      {"logcumsumexp", "torch.logcumsumexp(x[0], -1)"},
      {"logcumsumexp.first", "torch.logcumsumexp(x[0], 0)"},
      {"logsumexp", "torch.logsumexp(x[0], 1)"},
      {"max.dim", "torch.max(x[0], 1)[0]"},
      {"max.empty", "torch.max(x[0], 1)[0]"},
      {"mean.dim", "torch.mean(x[0], 1)"},
      {"mean.empty", "torch.mean(x[0], 1)"},
      {"median.dim", "torch.median(x[0], 1)[0]"},
      {"min.dim", "torch.min(x[0], 1)[0]"},
      {"mode", "torch.mode(x[0])[0]"},
      {"mode.integers", "torch.mode(x[0])[0]"},
      {"nanmean.dim", "torch.nanmean(x[0], 1)"},
      {"nanmean.nan", "torch.nanmean(x[0].masked_fill(x[0].detach() > 0, math.nan))"},
      {"nanmedian.dim", "torch.nanmedian(x[0], 1)[0]"},
      {"nanquantile", "torch.nanquantile(torch.where(x[0].detach() > 0.6, math.nan, x[0]), 0.3)"},
      {"nanquantile.dim", "torch.nanquantile(torch.where(x[0].detach() > 0.6, math.nan, x[0]), 0.3, 1)"},
      {"nansum.dim", "torch.nansum(x[0], 1)"},
      {"norm.dim", "torch.norm(x[0], 2, 1)"},
      {"norm.infinity", "torch.norm(x[0], math.inf)"},
      {"norm.infinity.dim", "torch.norm(x[0], math.inf, 1)"},
      {"norm.three", "torch.norm(x[0], 3)"},
      {"norm.three.dim", "torch.norm(x[0], 3, 1)"},
      {"prod.dim", "torch.prod(x[0], 1)"},
      {"prod.empty", "torch.prod(x[0], 1)"},
      {"prod.zeros", "torch.prod(x[0].select(0, 0))"},
      {"prod.zeros.dim", "torch.prod(x[0], 1)"},
      {"quantile", "torch.quantile(x[0], 0.3)"},
      {"quantile.dim", "torch.quantile(x[0], 0.3, 1)"},
      {"renorm", "torch.renorm(x[0], 3, 1, 1)"},
      {"searchsorted", "torch.searchsorted(torch.sort(x[0])[0], x[1])"},
      {"segment_reduce", "torch.segment_reduce(x[0], 'sum', lengths=torch.tensor([2, 0, 3]))"},
      {"segment_reduce.max",
       "torch.segment_reduce(x[0], 'max', lengths=torch.tensor([2, 0, 3]), initial=-5)"},
      {"segment_reduce.mean",
       "torch.segment_reduce(x[0], 'mean', lengths=torch.tensor([2, 0, 3]), initial=0)"},
      {"segment_reduce.min",
       "torch.segment_reduce(x[0], 'min', lengths=torch.tensor([2, 0, 3]), unsafe=True, initial=5)"},
      {"segment_reduce.offsets",
       "torch.segment_reduce(x[0], 'sum', offsets=torch.tensor([[0, 1, 3], [0, 2, 3]]), axis=1)"},
      {"segment_reduce.prod", "torch.segment_reduce(x[0], 'prod', lengths=torch.tensor([2, 0, 3]))"},
      {"softmax", "torch.softmax(x[0], -1)"},
      {"softmax.first", "torch.softmax(x[0], 0)"},
      {"sort", "torch.sort(x[0])[0]"},
      {"std.dim", "torch.std(x[0], dim=1)"},
      {"std_mean", "torch.std_mean(x[0], dim=1)"},
      {"sum.dim", "torch.sum(x[0], 1)"},
      {"sum.empty", "torch.sum(x[0], 1)"},
      {"sum.integers", "torch.sum(x[0], 1)"},
      {"sum.keepdim", "torch.sum(x[0], (0, 2), True)"},
      {"topk", "torch.topk(x[0], 2)[0]"},
      {"trapezoid", "torch.trapezoid(x[0], dx=0.5, dim=1)"},
      {"trapezoid.at", "torch.trapezoid(x[0], x[1])"},
      {"trapz", "torch.trapz(x[0], dx=1, dim=0)"},
      {"unique_consecutive", "aten.unique_consecutive(x[0], True, True)"},
      {"unique_dim", "aten.unique_dim(x[0], 0, True, True, True)"},
      {"unique_dim_consecutive", "aten.unique_dim_consecutive(x[0], 0, True, True)"},
      {"var.dim", "torch.var(x[0], dim=1)"},
      {"var_mean", "torch.var_mean(x[0], dim=1)"},
  };
  return rows;
}

}  // namespace programs
