// Reductions, shapes, indexing and products in their other form: functions where other programs use methods,
// and the reverse.
#include "fidelity.h"

namespace signatures_of_reductions_and_shapes {

void run() {
  const Tensor x = ramp({3, 4}), b = x > 0, cube = ramp({2, 3, 4});
  const Tensor index = torch::tensor({{0, 2, 1, 1}}), rows = torch::tensor({2, 0});
  section("reductions", [&] {
    report("sum", torch::sum(x, 1, true));
    report("sum.m", x.sum({1, 0}, true, torch::kFloat32));
    report("mean", torch::mean(x, 0));
    report("mean.m", x.mean({-1}, true));
    report("prod", torch::prod(x, 1));
    report("prod.m", x.prod(0, true));
    report("max", std::get<0>(torch::max(x, 0)));
    report("min", std::get<1>(torch::min(x, 1, true)));
    report("amax", x.amax());
    report("amin", torch::amin(x, {1}));
    report("argmax", torch::argmax(x));
    report("argmin", torch::argmin(x, 0, true));
    report("aminmax", std::get<0>(torch::aminmax(x)));
    report("aminmax.m", std::get<1>(x.aminmax(0, true)));
    report("median", std::get<1>(torch::median(x, 1)));
    report("median.m", x.median());
    report("nanmedian", x.nanmedian());
    report("mode.m", std::get<0>(torch::tensor({1, 1, 2}).mode()));
    report("var.m", x.var(1));
    report("var.u", x.var(0, false));
    report("var.fn", torch::var(x, 0));
    report("var.correction", torch::var(x, {0}, 2, true));
    report("std.m", x.std(1));
    report("std.fn", torch::std(x, 1, false, true));
    report("var_mean", std::get<1>(torch::var_mean(x, 0)));
    report("std_mean", std::get<0>(torch::std_mean(x)));
    report("norm", torch::norm(x, 2, 1));
    report("norm.keep", x.norm(2, {1}, true));
    report("logsumexp", torch::logsumexp(x, {1, 0}));
    report("any", b.any());
    report("all", b.all(1));
    report("any.fn", torch::any(b, 0, true));
    report("all.fn", torch::all(b));
    report("count_nonzero", b.count_nonzero());
    report("cumsum", x.cumsum(1));
    report("cumprod", x.cumprod(0));
    report("cummax", std::get<1>(x.cummax(1)));
    report("cummin", std::get<0>(torch::cummin(x, 0)));
    report("logcumsumexp", x.logcumsumexp(0));
    report("softmax", torch::softmax(x, -1));
    report("log_softmax", x.log_softmax(1));
    report("nansum", x.nansum());
    report("nanmean", x.nanmean());
    report("sort", std::get<0>(x.sort()));
    report("argsort", x.argsort());
    report("topk", std::get<0>(x.topk(2, 0)));
    report("kthvalue", std::get<1>(torch::kthvalue(x, 2, 0, true)));
    report("bincount", torch::tensor({0, 2, 2}).bincount());
    report("dist", torch::dist(x, x * 2, 3));
  });
  section("shapes", [&] {
    report("reshape", torch::reshape(x, {2, 6}));
    report("flatten", torch::flatten(cube, 0, 1));
    report("unflatten", torch::unflatten(x, 1, {2, 2}));
    report("squeeze", torch::squeeze(x.unsqueeze(0), 0));
    report("unsqueeze", x.unsqueeze(1));
    report("transpose", torch::transpose(x, 0, 1));
    report("swapdims", x.swapdims(0, 1));
    report("t", torch::t(x));
    report("moveaxis", torch::moveaxis(cube, 0, 2));
    report("expand", x.unsqueeze(0).expand({2, -1, -1}));
    report("broadcast_to", x.broadcast_to({2, 3, 4}));
    report("tile", x.tile({1, 2}));
    report("repeat_interleave", torch::repeat_interleave(x, 2, 0));
    report("hstack", torch::hstack({x, x}));
    report("row_stack", torch::row_stack({x, x}));
    report("split", torch::split(x, {1, 2})[1]);
    report("split_with_sizes", torch::split_with_sizes(x, {3, 1}, 1)[1]);
    report("chunk", x.chunk(2)[1]);
    report("unbind", x.unbind(1)[3]);
    report("tensor_split", x.tensor_split(2, 1)[0]);
    report("narrow", torch::narrow(x, 1, 1, 2));
    report("narrow_copy", x.narrow_copy(0, 1, 1));
    report("select", x.select(0, -1));
    report("slice", torch::slice(x, 1, 0, 4, 3));
    report("flip", torch::flip(x, {0, 1}));
    report("roll", x.roll(2, 1));
    report("rot90", x.rot90());
    report("tril", x.tril());
    report("triu", torch::triu(x, -1));
    report("diag", x.diag(1));
    report("diagonal", torch::diagonal(cube, 0, -2, -1));
    report("diag_embed", x.diag_embed());
    report("diagflat", torch::diagflat(x[0]));
    report("meshgrid", torch::meshgrid({x[0], x[1]})[1]);
    report("pixel_shuffle", torch::pixel_shuffle(ramp({1, 4, 1, 2}), 2));
    report("contiguous", x.t().contiguous());
    report("clone", torch::clone(x));
    report("type_as", torch::tensor({1}).type_as(x));
    report("view.dtype", x.view({4, 3}));
    report("unsafe_chunk", x.ravel());
    report("atleast_2d", torch::atleast_2d(x[0]));
    report("concatenate", torch::cat({x, x}, -1));
    report("select_scatter", torch::select_scatter(x, x[0] * 0, 0, 1));
    report("slice_scatter", torch::slice_scatter(x, torch::zeros({1, 4}, torch::kFloat64), 0, 1, 2));
    report("diagonal_scatter", torch::diagonal_scatter(x, torch::zeros({3}, torch::kFloat64)));
  });
  section("indices", [&] {
    report("gather", x.gather(0, index));
    report("scatter", torch::scatter(x, 0, index, 3.0));
    report("scatter_add", x.scatter_add(0, index, ramp({1, 4})));
    report("index_select", torch::index_select(x, 0, rows));
    report("index_add", x.index_add(0, rows, ramp({2, 4})));
    report("index_copy", torch::index_copy(x, 0, rows, ramp({2, 4})));
    report("index_fill", torch::index_fill(x, 0, rows, 3));
    report("masked_select", x.masked_select(b));
    report("masked_scatter", torch::masked_scatter(x, b, ramp({12})));
    report("masked_fill", torch::masked_fill(x, b, 2));
    report("take", x.take(rows));
    report("take_along_dim", x.take_along_dim(index, 0));
    report("nonzero", b.nonzero());
    report("where", torch::where(b, x, 0));
    report("index", torch::index(x, {rows}));
  });
  section("products", [&] {
    const Tensor m = ramp({4, 2}), batch = ramp({2, 3, 4}), other = ramp({2, 4, 2});
    report("mm", x.mm(m));
    report("bmm", batch.bmm(other));
    report("matmul", x.matmul(m));
    report("mv", x.mv(m.select(1, 0)));
    report("dot", x[0].dot(x[1]));
    report("outer", x[0].outer(m.select(1, 0)));
    report("addmm", torch::ones({3, 2}, torch::kFloat64).addmm(x, m, 2, 3));
    report("addmv", torch::ones({3}, torch::kFloat64).addmv(x, m.select(1, 1)));
    report("addbmm", torch::ones({3, 2}, torch::kFloat64).addbmm(batch, other));
    report("baddbmm", torch::ones({2, 3, 2}, torch::kFloat64).baddbmm(batch, other));
    report("kron", x.kron(m));
    report("trace", x.trace());
    report("inner", x.inner(x));
    report("vdot", x[0].vdot(x[1]));
    report("tensordot", torch::tensordot(x, m, {1}, {0}));
    report("matrix_exp.t", x.mT());
  });
  section("ternary", [&] {
    report("clamp", torch::clamp(x, -0.5, 0.5));
    report("clamp.m", x.clamp(0));
    report("clamp_min", x.clamp_min(0.1));
    report("clamp_max", torch::clamp_max(x, 0.1));
    report("clip", torch::clip(x, -0.1));
    report("where.m", x.where(b, x * 2));
    report("lerp", x.lerp(x * 2, 0.5));
    report("addcmul", x.addcmul(x, x, 2));
    report("addcdiv", torch::addcdiv(x, x, x + 3, 0.5));
    Tensor y = x.clone();
    y.addcmul_(x, x).addcdiv_(x, x + 3, 2).lerp_(x, 0.1).clamp_min_(-0.3).clamp_max_(0.4).clip_(-0.2, 0.3);
    report("inplace", y);
    report("isclose", torch::isclose(x, x));
    report("gcd", torch::gcd(torch::tensor({12, 18}), torch::tensor({8, 27})));
    report("lcm", torch::lcm(torch::tensor({4, 6}), torch::tensor({6, 15})));
    report("heaviside", torch::heaviside(x[0], torch::tensor(0.5, torch::kFloat64)));
    report("float_power", torch::float_power(torch::tensor({2, 3}), 2));
  });
}

const Program program("signatures_of_reductions_and_shapes", run);

}  // namespace signatures_of_reductions_and_shapes
