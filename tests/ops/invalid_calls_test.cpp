// Calls for which torch and ebb throw: each error contains the op and the reason.
#include "check.h"

#include <functional>
#include <limits>

using namespace op_tests;
using namespace ebb;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

struct Call {
  std::function<void()> run;
  const char* text;  // part of the error message
};

void check_refused(const std::vector<Call>& calls) {
  int row = 0;
  for (const Call& call : calls) {
    INFO("row " << row++ << ": " << call.text);
    CHECK_THROWS_WITH(call.run(), support::Contains(call.text));
  }
}

Variable leaf(IntArrayRef sizes) { return ones(sizes, requires_grad()); }

}  // namespace

TEST_CASE("sub throws for a Bool operand") {
  const Variable x = ones({2}), b = x > 0, i = ones({2}, kLong);
  check_refused({
      {[&] { sub(x, b); }, "sub: Subtraction"},
      {[&] { b - x; }, "with a bool tensor"},
      {[&] { i - b; }, "with a bool tensor"},
      {[&] { b - 1; }, "with a bool tensor"},
      {[&] { 1 - b; }, "with a bool tensor"},
      {[&] { b - b; }, "with two bool tensors"},
      {[&] { x - true; }, "with a bool tensor"},
      {[&] { x.clone().sub_(b); }, "with a bool tensor"},
      {[&] { x.clone().sub_(true); }, "with a bool tensor"},
      {[&] { rsub(x, b); }, "with a bool tensor"},
      {[&] { rsub(b, 2); }, "with a bool tensor"},
      {[&] { dist(x, b); }, "with a bool tensor"},
      {[&] { pairwise_distance(x, b); }, "with a bool tensor"},
  });
}

TEST_CASE("losses throw for inputs, targets and weights that do not fit") {
  const Variable p = full({2, 3}, 0.5), x = ones({5, 4}), t = zeros({5}, kLong), none;
  check_refused({
      {[&] { binary_cross_entropy(p, p + 1); }, "binary_cross_entropy: all elements of target"},
      {[&] { binary_cross_entropy(p, -p); }, "binary_cross_entropy: all elements of target"},
      {[&] { binary_cross_entropy(p, p.to(kDouble)); },
       "binary_cross_entropy: expected both tensors in one dtype"},
      {[&] { binary_cross_entropy(p, p.to(kLong)); },
       "binary_cross_entropy: expected both tensors in one dtype"},
      {[&] { binary_cross_entropy(p, p, leaf({3})); }, "with respect to argument 'weight'"},
      {[&] { binary_cross_entropy_with_logits(p, p[0]); }, "does not broadcast to the target"},
      {[&] { binary_cross_entropy_with_logits(p[0], p, nullopt, p); },
       "the target does not broadcast to the input"},
      {[&] { binary_cross_entropy_with_logits(p, p, nullopt, leaf({3})); }, "argument 'pos_weight'"},
      {[&] { binary_cross_entropy_with_logits(p, p, leaf({3})); }, "argument 'weight'"},
      {[&] { binary_cross_entropy_with_logits(p, p.to(kLong)); },
       "with_logits: expected target of a floating"},
      {[&] { soft_margin_loss(p[0], p); }, "soft_margin_loss: the target does not broadcast to the input"},
      {[&] { soft_margin_loss(p.to(kLong), p); }, "soft_margin_loss: expected input of a floating"},
      {[&] { soft_margin_loss(p, leaf({2, 3})); }, "with respect to argument 'target'"},
      {[&] { kl_div(p, p.to(kLong)); }, "kl_div: Integral inputs not supported"},
      {[&] { kl_div(p.to(kLong), p); }, "kl_div: Integral inputs not supported"},
      {[&] { multi_margin_loss(x, t.unsqueeze(0)); }, "target tensor should be 1-D"},
      {[&] { multi_margin_loss(x, zeros({5})); }, "multi_margin_loss: expected a target of dtype Long"},
      {[&] { multi_margin_loss(x.to(kLong), t); }, "multi_margin_loss: expected scores of a floating"},
      {[&] { multi_margin_loss(x.slice(1, 0, 0), t); }, "multi_margin_loss: expected scores of shape"},
      {[&] { multi_margin_loss(x, t, 1, 1, ones({5})); }, "weight must be one-dimensional, expected [4]"},
      {[&] { multi_margin_loss(x, t, 1, 1, ones({})); }, "weight must be one-dimensional"},
      {[&] { multi_margin_loss(x, t, 1, 1, ones({4}, kDouble)); },
       "multi_margin_loss: expected both tensors"},
      {[&] { multi_margin_loss(x, t, 1, 1, leaf({4})); }, "with respect to argument 'weight'"},
      {[&] { multilabel_margin_loss(x, full({5, 4}, -9, kLong)); },
       "multilabel_margin_loss: target is out of range"},
      {[&] { multilabel_margin_loss(x, zeros({5, 4}, kBool)); },
       "multilabel_margin_loss: expected a target of"},
      {[&] { nll_loss(x, t, leaf({4})); }, "with respect to argument 'weight'"},
      {[&] { cross_entropy_loss(x, t, leaf({4}), Reduction::Mean, -100, 0.1); }, "argument 'weight'"},
      {[&] { cross_entropy_loss(x, x, none, Reduction::Mean, 1); }, "ignore_index is not supported"},
      {[&] { cross_entropy_loss(ones({2, 3, 4}), zeros({2, 4}, kByte)); }, "expected scalar type Long"},
      {[&] { cosine_similarity(x, x, 1, -0.5); }, "cosine_similarity: eps must be non-negative"},
  });
}

TEST_CASE("normalisations throw for statistics and parameters that do not fit") {
  const Variable x = ones({2, 6, 3}), w = ones({6}), none;
  const auto batch = [&](const Variable& mean, const Variable& var, bool training = true) {
    return [=] { batch_norm(x, none, none, mean, var, training, 0.1, 1e-5, true); };
  };
  check_refused({
      {batch(w.to(kDouble), w), "batch_norm: expected running_mean and running_var of dtype Float"},
      {batch(w.to(kLong), w.to(kLong)), "batch_norm: expected running_mean"},
      {batch(w, w.to(kHalf), false), "batch_norm: expected running_mean"},
      {batch(w.unsqueeze(0), w), "batch_norm: expected running_mean to be a vector"},
      {batch(w, w.view({2, 3})), "batch_norm: expected running_var to be a vector"},
      {batch(leaf({6}), w), "batch_norm: The function is not differentiable"},
      {[&] { group_norm(x, 2, w.unsqueeze(0)); }, "group_norm: expected weight to be a vector"},
      {[&] { group_norm(x, 2, w, w.unsqueeze(0)); }, "group_norm: expected bias to be a vector"},
      {[&] { group_norm(ones({1, 0, 2}), 1); }, "group_norm: Expected number of channels to be greater"},
      {[&] { group_norm(ones({1, 2, 0}), 1); }, "group_norm: Expected HxW to be greater than 0"},
      {[&] { prelu(x, w.view({2, 3})); }, "prelu: Expected `weight` to be a scalar or 1D tensor"},
      {[&] { prelu(ones({}), w); }, "prelu: Not allow zero-dim input"},
  });
}

TEST_CASE("convolutions and poolings throw for windows and sizes that do not fit") {
  const Variable x = ones({1, 2, 5, 5, 5}), at = zeros({1, 2, 5, 5, 5}, kLong);
  const auto unpool = [&](IntArrayRef stride, IntArrayRef padding) {
    max_unpool3d(x, at, {9, 9, 9}, stride, padding);
  };
  check_refused({
      {[&] { adaptive_avg_pool2d(x[0], 3); }, "adaptive_avg_pool2d: expected an output_size of 2 values"},
      {[&] { adaptive_avg_pool3d(x, {3, 3}); }, "adaptive_avg_pool3d: expected an output_size of 3 values"},
      {[&] { adaptive_max_pool2d(x[0], 3); }, "adaptive_max_pool2d: expected an output_size of 2 values"},
      {[&] { adaptive_max_pool3d(x, 3); }, "adaptive_max_pool3d: expected an output_size of 3 values"},
      {[&] { avg_pool3d(x, 7, {}, 3); }, "avg_pool3d: an input of shape"},
      {[&] { unpool({2, 0, 2}, {0, 0, 0}); }, "max_unpool3d: expected a stride of three values above 0"},
      {[&] { unpool({2, 2}, {0, 0, 0}); }, "max_unpool3d: expected a stride of three values above 0"},
      {[&] { unpool({2, 2, 2}, 0); }, "max_unpool3d: expected a padding of three values"},
      {[&] { upsample_nearest2d(ones({2, 0, 4, 4}), {8, 8}); },
       "upsample_nearest2d: only the batch may be empty"},
      {[&] { constant_pad_nd(ones({0, 3}), {0, 0, -1, 1}); }, "constant_pad_nd: negative padding"},
      {[&] { constant_pad_nd(ones({3}, kLong), {1, 1}, kInf); }, "constant_pad_nd: the value inf"},
      {[&] { ones({}).size(0); }, "size: dimension 0 was requested"},
      {[&] { ones({}).stride(-1); }, "stride: dimension -1 was requested"},
      {[&] { ones({}).unflatten(0, {1, 1}); }, "unflatten: a 0-dimensional tensor"},
      {[&] { ones({}).squeeze(IntArrayRef({0, 0})); }, "squeeze: dim 0 appears multiple times"},
      {[&] { unique_consecutive(ones({}), false, false, 0); }, "unique_consecutive: got dim 0"},
      {[&] { unique_dim(ones({}), 0); }, "unique_dim: got dim 0"},
  });
}

TEST_CASE("index ops throw for masks, indices and sources that do not fit") {
  const Variable x = ones({3}), bytes = ones({3}, kByte), zero = zeros({1}, kLong), v = ones({});
  check_refused({
      {[&] { x.masked_fill(bytes, 1); }, "masked_fill: only supports boolean masks"},
      {[&] { x.clone().masked_fill_(bytes, v); }, "masked_fill_: only supports boolean masks"},
      {[&] { x.masked_scatter(bytes, x); }, "masked_scatter: only supports boolean masks"},
      {[&] { x.clone().masked_scatter_(bytes, x); }, "masked_scatter: only supports boolean masks"},
      {[&] { x.masked_select(bytes); }, "masked_select: only supports boolean masks"},
      {[&] { one_hot(zero, -9); }, "one_hot: class values must be smaller than num_classes (-9)"},
      {[&] { x.index_add(0, zero, v); }, "index_add: source and self must have the same number"},
      {[&] { x.clone().index_add_(0, zero, v); }, "index_add_: source and self must have the same number"},
      {[&] { v.index_add(0, zero, ones({1})); }, "index_add: source and self must have the same number"},
      {[&] { x.to(kLong).index_add(0, zero, ones({1}, kBool), 2); },
       "index_add: expected both tensors in one dtype"},
      {[&] { x.index_reduce(0, zero, v, "amax"); },
       "index_reduce: source must have as many dimensions as self"},
      {[&] { v.clone().index_reduce_(0, zero, ones({1}), "prod"); }, "index_reduce_: source must have"},
      {[&] { ones({3, 0}).index_reduce(0, zero + 5, ones({1, 0}), "amax"); },
       "index_select: index 5 is out of bounds"},
      {[&] { index_put(ones({5, 5}), std::vector<optional<Variable>>{zero}, ones({1, 1, 5})); },
       "index_put: shape mismatch"},
      {[&] { x.scatter(0, zero.slice(0, 0, 0), x.to(kDouble)); },
       "scatter: expected both tensors in one dtype"},
      {[&] { embedding_bag(ones({5, 3}), arange(3, kLong), tensor({0, 2, 1})); },
       "the offsets must not decrease"},
      {[&] { searchsorted(x, x, false, false, nullopt, zero); },
       "searchsorted: expected a sorter of dtype Long"},
      {[&] { searchsorted(x, x, false, false, nullopt, arange(3, kInt)); },
       "searchsorted: expected a sorter of dtype Long"},
  });
}

TEST_CASE("ops throw for numbers that the dtype cannot represent") {
  const Variable h = ones({2}, kHalf), b = ones({2}, kByte), all = ones({2}, kBool), zero = zeros({1}, kLong);
  check_refused({
      {[&] { h.clone().fill_(1e6); }, "fill_: the value 1e+06"},
      {[&] { full({2}, 1e39, kFloat); }, "full: the value"},
      {[&] { full_like(h, -1e6); }, "the value -1e+06"},
      {[&] { h.masked_fill(all, -1e9); }, "masked_fill: the value"},
      {[&] { h.masked_fill(all, tensor(1e6)); }, "masked_fill: the value"},
      {[&] { b.masked_fill(all, -5.5); }, "masked_fill: the value -5.5"},
      {[&] { b.clone().masked_fill_(all, 300); }, "masked_fill_: the value 300"},
      {[&] { b.index_fill(0, zero, 300); }, "index_fill: the value 300"},
      {[&] { h.clone().index_fill_(0, zero, 1e6); }, "index_fill_: the value 1e+06"},
      {[&] { zeros({2, 2}, kByte).fill_diagonal_(300); }, "fill_diagonal_: the value 300"},
      {[&] { b.scatter(0, zero, 300); }, "scatter: the value 300"},
      {[&] { threshold(b, 1, -5.5); }, "threshold: the value -5.5"},
      {[&] { hardtanh(zero, -1, kInf); }, "hardtanh: the value inf"},
      {[&] { softshrink(h, 1e6); }, "softshrink: lambda must be in range [0, 65504]"},
      {[&] { softshrink(ones({2}), kInf); }, "softshrink: lambda must be in range"},
      {[&] { rrelu(ones({2}), -kInf, 1); }, "rrelu: lower and upper must be finite"},
      {[&] { rrelu(zero, 0.1, 0.3); }, "rrelu: expected a floating-point tensor"},
      {[&] { glu(zeros({2}, kLong)); }, "glu: expected a floating-point tensor"},
      {[&] { mvlgamma(all, 1); }, "mvlgamma: The input tensor may not be a boolean tensor"},
      {[&] { nanmean(ones({2}), nullopt, false, kLong); }, "nanmean: expected a floating-point dtype"},
  });
  CHECK(full({1}, kInf, kHalf).item<double>() == kInf);
  CHECK(h.masked_fill(all, -65504).sum().item<double>() == -kInf);
}

TEST_CASE("linear algebra throws for arguments that do not fit and for norms undefined on empty tensors") {
  const Variable A = ones({2, 2}), empty_rows = ones({3, 0}), i = ones({2}, kLong);
  const auto norm_of = [&](double p) {
    return [=] { linalg::vector_norm(empty_rows, p, IntArrayRef({1})); };
  };
  check_refused({
      {norm_of(kInf), "does not have an identity"},
      {norm_of(-kInf), "does not have an identity"},
      {norm_of(-1), "does not have an identity"},
      {[&] { norm(ones({0}), kInf); }, "norm: cannot compute the norm of order inf"},
      {[&] { dist(ones({0}), ones({0}), kInf); }, "norm: cannot compute the norm"},
      {[&] { renorm(ones({0, 3}), kInf, 1, 1); }, "does not have an identity"},
      {[&] { norm(A.to(kDouble), 2, kFloat); }, "norm: the dtype of the input (Double)"},
      {[&] { linalg::matrix_norm(A.to(kDouble), 1, {-2, -1}, false, kFloat); },
       "linalg.matrix_norm: the dtype"},
      {[&] { linalg::ldl_solve(A, zeros({2}, kInt), A); }, "linalg.ldl_solve: the pivots must lie"},
      {[&] { linalg::norm(A, nullopt, IntArrayRef()); }, "linalg.norm: If dim is specified"},
      {[&] { linalg::vecdot(ones({3}), ones({1})); },
       "linalg.vecdot: expected two vectors of the same length"},
      {[&] { linalg::lstsq(A, ones({2, 2, 2})); }, "linalg.lstsq: expected `other`"},
      {[&] { linalg::lstsq(ones({3, 2, 2}), ones({2})); }, "linalg.lstsq: expected `other`"},
      {[&] { linalg::ldl_solve(A, full({2}, 9, kInt), A); }, "linalg.ldl_solve: the pivots must lie"},
      {[&] { linalg::tensorinv(ones({}), 3); }, "linalg.tensorinv: ind = 3 exceeds"},
      {[&] { cholesky_inverse(zeros({2, 2})); }, "cholesky_inverse: a diagonal element is zero"},
      {[&] { ormqr(A, ones({1}), A); }, "ormqr: tau.shape[-1] must be equal to"},
      {[&] { bilinear(A, A, ones({3, 2, 2}), ones({2})); }, "bilinear: expected a bias of shape [3]"},
      {[&] { bilinear(A, A, ones({3, 2, 2}), ones({3}, kDouble)); },
       "bilinear: expected both tensors in one dtype"},
      {[&] { tensordot(A, A.to(kDouble), {}, {}); }, "tensordot: expected both tensors in one dtype"},
      {[&] { addr(ones({2, 2}, kLong), i, i, 0.5); }, "addr: For integral input tensors"},
      {[&] { ones({2, 2}, kLong).addr_(i, i, 1, 0.5); }, "addr_: For integral input tensors"},
  });
  CHECK(linalg::vector_norm(ones({0, 3}), kInf, IntArrayRef({1})).numel() == 0);
  CHECK(linalg::vector_norm(ones({0}), 0.5).item<double>() == 0);
}
