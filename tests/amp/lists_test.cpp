// The dtypes of ops under autocast: on the CPU as measured with torch 2.15, on CUDA as its lists say.
#include <ebb/amp/autocast.h>
#include <ebb/ebb.h>
#include <ebb/nn.h>

#include "amp/device.h"
#include "support/catch.h"

#include <functional>
#include <string>
#include <vector>

using namespace ebb;

namespace {

using In = const std::vector<Tensor>&;
using Shapes = std::vector<std::vector<std::int64_t>>;
namespace F = ebb::nn::functional;

struct Case {
  const char* name;
  Shapes shapes;
  // The dtypes of the result for Float and for BFloat16 inputs, "f" or "b" each; "!" if the op throws, "-" if
  // an op that is not on the list does not accept that dtype.
  const char *cpu, *cuda;
  std::function<Tensor(In)> call;
};

const std::vector<std::int64_t> kVector{4}, kMatrix{4, 4}, kBatch{2, 4, 4}, kLine{2, 4, 6},
    kImage{2, 4, 6, 6}, kSpace{2, 4, 6, 6, 6};

Case one(const char* name, const char* cuda, Tensor (*f)(const Tensor&)) {
  return {name, {kMatrix}, "fb", cuda, [f](In x) { return f(x[0]); }};
}

Case loss(const char* name, const char* cuda, std::function<Tensor(const Tensor&, const Tensor&)> f) {
  return {name, {kMatrix, kMatrix}, "ff", cuda, [f](In x) { return f(x[0], x[1]); }};
}

// Returns targets, which are not cast.
Tensor classes(const Tensor& x) { return zeros({x.size(0)}, TensorOptions(kLong).device(x.device())); }
Tensor signs(const Tensor& x, IntArrayRef sizes) { return ones(sizes, TensorOptions(x.device())); }

const Shapes kProjected{{3, 2, 4}, {1, 2, 2}, {1, 2, 4}, {16, 4}, {16, 2}, {2, 4}};
auto projected(In x) {
  return lstm(x[0], {x[1], x[2]}, {x[3], x[4], x[5]}, false, 1, 0.0, false, false, false);
}

std::vector<Case> elementwise() {
  return {
      one("acos", "ff", acos),
      one("asin", "ff", asin),
      one("cosh", "ff", cosh),
      one("erfinv", "ff", erfinv),
      one("exp", "ff", exp),
      one("expm1", "ff", expm1),
      one("log", "ff", log),
      one("log10", "ff", log10),
      one("log2", "ff", log2),
      one("log1p", "ff", log1p),
      one("reciprocal", "ff", reciprocal),
      one("rsqrt", "ff", rsqrt),
      one("sinh", "ff", sinh),
      one("tan", "ff", tan),
      one("tanh", "fb", tanh),
      one("sqrt", "fb", sqrt),
      one("sigmoid", "fb", sigmoid),
      one("relu", "fb", relu),
      {"gelu", {kMatrix}, "fb", "fb", [](In x) { return gelu(x[0]); }},
      {"softplus", {kMatrix}, "fb", "ff", [](In x) { return softplus(x[0]); }},
      {"pow of a number", {kMatrix}, "fb", "ff", [](In x) { return pow(x[0], 2); }},
      {"pow of tensors", {kMatrix, kMatrix}, "fb", "ff", [](In x) { return pow(x[0], x[1]); }},
      {"pow by a tensor", {kMatrix}, "fb", "ff", [](In x) { return pow(Scalar(2), x[0]); }},
      {"atan2", {kMatrix, kMatrix}, "fb", "fb", [](In x) { return atan2(x[0], x[1]); }},
      {"addcmul", {kMatrix, kMatrix, kMatrix}, "fb", "fb", [](In x) { return addcmul(x[0], x[1], x[2]); }},
      {"addcdiv", {kMatrix, kMatrix, kMatrix}, "fb", "fb", [](In x) { return addcdiv(x[0], x[1], x[2]); }}};
}

std::vector<Case> products() {
  const Shapes two{kMatrix, kMatrix}, batches{kBatch, kBatch}, vectors{kVector, kVector};
  return {
      {"mm", two, "bb", "bb", [](In x) { return mm(x[0], x[1]); }},
      {"matmul", two, "bb", "bb", [](In x) { return matmul(x[0], x[1]); }},
      {"bmm", batches, "bb", "bb", [](In x) { return bmm(x[0], x[1]); }},
      {"mv", {kMatrix, kVector}, "fb", "bb", [](In x) { return mv(x[0], x[1]); }},
      {"dot", vectors, "fb", "fb", [](In x) { return dot(x[0], x[1]); }},
      {"vecdot", two, "bb", "bb", [](In x) { return linalg::vecdot(x[0], x[1]); }},
      {"vdot", vectors, "fb", "fb", [](In x) { return vdot(x[0], x[1]); }},
      {"outer", vectors, "fb", "fb", [](In x) { return outer(x[0], x[1]); }},
      {"inner", two, "bb", "fb", [](In x) { return inner(x[0], x[1]); }},
      {"inner of vectors", vectors, "fb", "fb", [](In x) { return inner(x[0], x[1]); }},
      {"kron", two, "fb", "fb", [](In x) { return kron(x[0], x[1]); }},
      {"cross", {{4, 3}, {4, 3}}, "fb", "fb", [](In x) { return cross(x[0], x[1], -1); }},
      {"addmm", {kMatrix, kMatrix, kMatrix}, "bb", "bb", [](In x) { return addmm(x[0], x[1], x[2]); }},
      {"addmv", {kVector, kMatrix, kVector}, "fb", "bb", [](In x) { return addmv(x[0], x[1], x[2]); }},
      {"addr", {kMatrix, kVector, kVector}, "fb", "bb", [](In x) { return addr(x[0], x[1], x[2]); }},
      {"addbmm", {kMatrix, kBatch, kBatch}, "bb", "bb", [](In x) { return addbmm(x[0], x[1], x[2]); }},
      {"baddbmm", {kBatch, kBatch, kBatch}, "bb", "bb", [](In x) { return baddbmm(x[0], x[1], x[2]); }},
      {"linear", {kMatrix, kMatrix, kVector}, "bb", "bb", [](In x) { return linear(x[0], x[1], x[2]); }},
      {"linear_relu",
       {kMatrix, kMatrix, kVector},
       "bb",
       "bb",
       [](In x) { return linear_relu(x[0], x[1], x[2]); }},
      {"linear_gelu",
       {kMatrix, kMatrix, kVector},
       "bb",
       "bb",
       [](In x) { return linear_gelu(x[0], x[1], x[2]); }},
      {"bilinear", {kMatrix, kMatrix, kBatch}, "fb", "fb", [](In x) { return bilinear(x[0], x[1], x[2]); }},
      {"chain_matmul", two, "bb", "bb", [](In x) { return chain_matmul({x[0], x[1]}); }},
      {"multi_dot", two, "bb", "bb", [](In x) { return linalg::multi_dot({x[0], x[1]}); }},
      {"matrix_power", {kMatrix}, "bb", "bb", [](In x) { return matrix_power(x[0], 2); }},
      {"einsum", two, "bb", "bb", [](In x) { return einsum("ij,jk", {x[0], x[1]}); }},
      {"einsum of products of elements", two, "fb", "bb",
       [](In x) { return einsum("ij,ij->ij", {x[0], x[1]}); }},
      {"einsum of one", {kMatrix}, "fb", "bb", [](In x) { return einsum("ij->i", {x[0]}); }},
      {"tensordot", two, "bb", "fb", [](In x) { return tensordot(x[0], x[1], 1, 0); }},
      {"trace", {kMatrix}, "ff", "fb", [](In x) { return trace(x[0]); }},
      {"scaled_dot_product_attention",
       {{1, 2, 4, 8}, {1, 2, 4, 8}, {1, 2, 4, 8}},
       "bb",
       "bb",
       [](In x) { return scaled_dot_product_attention(x[0], x[1], x[2]); }},
      {"conv1d", {kLine, {3, 4, 3}}, "bb", "bb", [](In x) { return conv1d(x[0], x[1]); }},
      {"conv1d padded",
       {kLine, {3, 4, 3}},
       "bb",
       "bb",
       [](In x) { return conv1d(x[0], x[1], {}, 1, "same"); }},
      {"conv2d", {kImage, {3, 4, 3, 3}}, "bb", "bb", [](In x) { return conv2d(x[0], x[1]); }},
      {"conv3d", {kSpace, {3, 4, 3, 3, 3}}, "bb", "bb", [](In x) { return conv3d(x[0], x[1]); }},
      {"convolution",
       {kImage, {3, 4, 3, 3}},
       "bb",
       "bb",
       [](In x) { return convolution(x[0], x[1], {}, 1, 0, 1, false, 0, 1); }},
      {"convolution_relu",
       {kImage, {3, 4, 3, 3}},
       "bb",
       "bb",
       [](In x) { return convolution_relu(x[0], x[1], {}, 1, 0, 1, 1); }},
      {"conv_transpose1d", {kLine, {4, 3, 3}}, "bb", "bb", [](In x) { return conv_transpose1d(x[0], x[1]); }},
      {"conv_transpose2d",
       {kImage, {4, 3, 3, 3}},
       "bb",
       "bb",
       [](In x) { return conv_transpose2d(x[0], x[1]); }},
      {"conv_transpose3d",
       {kSpace, {4, 3, 3, 3, 3}},
       "bb",
       "bb",
       [](In x) { return conv_transpose3d(x[0], x[1]); }},
      {"prelu", {kImage, {4}}, "bb", "bb", [](In x) { return prelu(x[0], x[1]); }},
      {"lstm",
       {{3, 2, 4}, {1, 2, 4}, {1, 2, 4}, {16, 4}, {16, 4}},
       "bb",
       "bb",
       [](In x) {
         return std::get<0>(lstm(x[0], {x[1], x[2]}, {x[3], x[4]}, false, 1, 0.0, false, false, false));
       }},
      {"lstm of packed rows, state",
       {{6, 4}, {1, 2, 4}, {1, 2, 4}, {16, 4}, {16, 4}},
       "fb",
       "bb",
       [](In x) {
         const Tensor sizes = tensor({2, 2, 2}, kLong);
         return std::get<2>(lstm(x[0], sizes, {x[1], x[2]}, {x[3], x[4]}, false, 1, 0.0, false, false));
       }},
      {"lstm with a projection", kProjected, "bb", "bb", [](In x) { return std::get<0>(projected(x)); }},
      {"lstm with a projection, h", kProjected, "bb", "bb", [](In x) { return std::get<1>(projected(x)); }},
      {"lstm with a projection, c", kProjected, "fb", "bb", [](In x) { return std::get<2>(projected(x)); }},
      {"gru",
       {{3, 2, 4}, {1, 2, 4}, {12, 4}, {12, 4}},
       "fb",
       "bb",
       [](In x) { return std::get<0>(gru(x[0], x[1], {x[2], x[3]}, false, 1, 0.0, false, false, false)); }},
      {"rnn_tanh",
       {{3, 2, 4}, {1, 2, 4}, {4, 4}, {4, 4}},
       "bb",
       "bb",
       [](In x) {
         return std::get<0>(rnn_tanh(x[0], x[1], {x[2], x[3]}, false, 1, 0.0, false, false, false));
       }},
      {"gru_cell",
       {kMatrix, kMatrix, {12, 4}, {12, 4}},
       "fb",
       "bb",
       [](In x) { return gru_cell(x[0], x[1], x[2], x[3]); }},
      {"lstm_cell",
       {kMatrix, kMatrix, kMatrix, {16, 4}, {16, 4}},
       "fb",
       "bb",
       [](In x) { return std::get<1>(lstm_cell(x[0], {x[1], x[2]}, x[3], x[4])); }},
      {"grid_sampler", {kImage, {2, 3, 3, 2}}, "ff", "fb", [](In x) {
         return grid_sampler(x[0], x[1], 0, 0, false);
       }}};
}

std::vector<Case> sums() {
  return {{"sum", {kMatrix}, "fb", "ff", [](In x) { return sum(x[0]); }},
          {"sum of a dim", {kMatrix}, "fb", "ff", [](In x) { return x[0].sum(1); }},
          {"sum in a dtype", {kMatrix}, "bb", "bb", [](In x) { return sum(x[0], kBFloat16); }},
          {"prod", {kMatrix}, "ff", "ff", [](In x) { return prod(x[0]); }},
          {"prod of a dim", {kMatrix}, "ff", "ff", [](In x) { return prod(x[0], 1); }},
          {"mean", {kMatrix}, "fb", "fb", [](In x) { return mean(x[0]); }},
          {"var", {kMatrix}, "fb", "fb", [](In x) { return var(x[0]); }},
          {"std", {kMatrix}, "fb", "fb", [](In x) { return ebb::std(x[0]); }},
          {"nansum", {kMatrix}, "fb", "fb", [](In x) { return nansum(x[0]); }},
          {"cumsum", {kMatrix}, "fb", "ff", [](In x) { return cumsum(x[0], 0); }},
          {"cumprod", {kMatrix}, "fb", "ff", [](In x) { return cumprod(x[0], 0); }},
          {"logcumsumexp", {kMatrix}, "fb", "fb", [](In x) { return logcumsumexp(x[0], 0); }},
          {"softmax", {kMatrix}, "fb", "ff", [](In x) { return softmax(x[0], 0); }},
          {"log_softmax", {kMatrix}, "fb", "ff", [](In x) { return log_softmax(x[0], 0); }},
          {"softmax in a dtype", {kMatrix}, "ff", "ff", [](In x) { return softmax(x[0], 0, kFloat); }},
          {"logsumexp", {kMatrix}, "fb", "ff", [](In x) { return logsumexp(x[0], 0); }},
          {"norm", {kMatrix}, "fb", "ff", [](In x) { return norm(x[0]); }},
          {"norm of a dim", {kMatrix}, "fb", "ff", [](In x) { return norm(x[0], 2, 1); }},
          {"linalg_vector_norm", {kMatrix}, "fb", "ff", [](In x) { return linalg_vector_norm(x[0]); }},
          {"frobenius_norm", {kMatrix}, "fb", "ff", [](In x) { return frobenius_norm(x[0], 1); }},
          {"renorm", {kMatrix}, "fb", "ff", [](In x) { return renorm(x[0], 2, 0, 1); }},
          {"dist", {kMatrix, kMatrix}, "fb", "ff", [](In x) { return dist(x[0], x[1]); }},
          {"cdist", {kMatrix, kMatrix}, "ff", "ff", [](In x) { return cdist(x[0], x[1]); }},
          {"cosine_similarity",
           {kMatrix, kMatrix},
           "fb",
           "ff",
           [](In x) { return cosine_similarity(x[0], x[1]); }},
          {"layer_norm", {kMatrix}, "fb", "ff", [](In x) { return layer_norm(x[0], 4); }},
          {"rms_norm", {kMatrix}, "fb", "ff", [](In x) { return rms_norm(x[0], 4); }},
          {"group_norm", {kImage}, "fb", "ff", [](In x) { return group_norm(x[0], 2); }},
          {"batch_norm",
           {kImage},
           "fb",
           "fb",
           [](In x) { return batch_norm(x[0], {}, {}, {}, {}, true, 0.1, 1e-5); }},
          {"instance_norm",
           {kImage},
           "fb",
           "fb",
           [](In x) { return instance_norm(x[0], {}, {}, {}, {}, true, 0.1, 1e-5); }},
          {"add_layer_norm",
           {kMatrix, kMatrix},
           "ff",
           "ff",
           [](In x) { return std::get<0>(add_layer_norm(x[0], x[1], 4)); }},
          {"add_rms_norm", {kMatrix, kMatrix}, "ff", "ff", [](In x) {
             return std::get<1>(add_rms_norm(x[0], x[1], 4));
           }}};
}

std::vector<Case> losses() {
  const auto classified = [](const char* name, std::function<Tensor(const Tensor&)> f) {
    return Case{name, {kMatrix}, "ff", "ff", [f](In x) { return f(x[0]); }};
  };
  return {
      loss("mse_loss", "ff", [](auto& x, auto& y) { return mse_loss(x, y); }),
      loss("l1_loss", "ff", [](auto& x, auto& y) { return l1_loss(x, y); }),
      loss("smooth_l1_loss", "ff", [](auto& x, auto& y) { return smooth_l1_loss(x, y); }),
      loss("huber_loss", "ff", [](auto& x, auto& y) { return huber_loss(x, y); }),
      loss("kl_div", "ff", [](auto& x, auto& y) { return kl_div(x, y); }),
      {"ctc_loss",
       {{5, 2, 4}},
       "ff",
       "f-",
       [](In x) {
         return ctc_loss(x[0], ones({2, 2}, TensorOptions(kLong).device(x[0].device())), {5, 5}, {2, 2});
       }},
      loss("soft_margin_loss", "ff", [](auto& x, auto& y) { return soft_margin_loss(x, y); }),
      loss("poisson_nll_loss", "ff",
           [](auto& x, auto& y) { return poisson_nll_loss(x, y, true, false, 1e-8, Reduction::Mean); }),
      loss("binary_cross_entropy", "!!", [](auto& x, auto& y) { return binary_cross_entropy(x, y); }),
      loss("binary_cross_entropy_with_logits", "ff",
           [](auto& x, auto& y) { return binary_cross_entropy_with_logits(x, y); }),
      loss("margin_ranking_loss", "ff",
           [](auto& x, auto& y) { return margin_ranking_loss(x, y, signs(x, x.sizes())); }),
      loss("cosine_embedding_loss", "ff",
           [](auto& x, auto& y) { return cosine_embedding_loss(x, y, signs(x, 4)); }),
      loss("triplet_margin_loss", "ff", [](auto& x, auto& y) { return triplet_margin_loss(x, y, y + 1); }),
      classified("hinge_embedding_loss",
                 [](auto& x) { return hinge_embedding_loss(x, signs(x, x.sizes())); }),
      classified("nll_loss", [](auto& x) { return nll_loss(x, classes(x)); }),
      classified("nll_loss_nd", [](auto& x) { return nll_loss_nd(x, classes(x)); }),
      classified("cross_entropy_loss", [](auto& x) { return cross_entropy_loss(x, classes(x)); }),
      classified("multi_margin_loss", [](auto& x) { return multi_margin_loss(x, classes(x)); }),
      classified("multilabel_margin_loss",
                 [](auto& x) { return multilabel_margin_loss(x, zeros_like(x).to(kLong)); })};
}

std::vector<Case> places() {
  const auto pads = [](const char* name, std::vector<std::int64_t> shape, const char* cpu) {
    return Case{name, {shape}, cpu, "fb", [name, shape](In x) {
                  return pad(x[0], std::vector<std::int64_t>(2 * (shape.size() - 2), 1), name);
                }};
  };
  const auto resize = [](const Tensor& x, F::InterpolateFuncOptions options) {
    return F::interpolate(x, options.scale_factor(std::vector<double>(x.sizes().size() - 2, 2.0)));
  };
  return {
      pads("reflect", kLine, "ff"),
      pads("reflect", kImage, "ff"),
      pads("reflect", kSpace, "fb"),
      pads("replicate", kLine, "ff"),
      pads("replicate", kImage, "ff"),
      pads("replicate", kSpace, "ff"),
      pads("circular", kImage, "fb"),
      pads("constant", kImage, "fb"),
      {"reflection_pad2d", {kImage}, "ff", "fb", [](In x) { return reflection_pad2d(x[0], {1, 1, 1, 1}); }},
      {"avg_pool2d", {kImage}, "fb", "fb", [](In x) { return avg_pool2d(x[0], 2); }},
      {"avg_pool3d", {kSpace}, "ff", "fb", [](In x) { return avg_pool3d(x[0], 2); }},
      {"max_pool2d", {kImage}, "fb", "fb", [](In x) { return max_pool2d(x[0], 2); }},
      {"max_pool3d", {kSpace}, "ff", "fb", [](In x) { return max_pool3d(x[0], 2); }},
      {"max_pool3d_with_indices",
       {kSpace},
       "fb",
       "fb",
       [](In x) { return std::get<0>(max_pool3d_with_indices(x[0], 2)); }},
      {"adaptive_avg_pool2d", {kImage}, "fb", "fb", [](In x) { return adaptive_avg_pool2d(x[0], {2, 2}); }},
      {"adaptive_avg_pool3d",
       {kSpace},
       "ff",
       "fb",
       [](In x) { return adaptive_avg_pool3d(x[0], {2, 2, 2}); }},
      {"adaptive_max_pool3d",
       {kSpace},
       "ff",
       "fb",
       [](In x) { return std::get<0>(adaptive_max_pool3d(x[0], {2, 2, 2})); }},
      {"fractional_max_pool2d",
       {kImage},
       "ff",
       "fb",
       [](In x) {
         return std::get<0>(fractional_max_pool2d(x[0], {2, 2}, {3, 3}, x[0].select(3, 0).narrow(2, 0, 2)));
       }},
      {"fractional_max_pool3d",
       {kSpace},
       "ff",
       "fb",
       [](In x) {
         return std::get<0>(fractional_max_pool3d(x[0], {2, 2, 2}, {3, 3, 3},
                                                  x[0].select(4, 0).select(3, 0).narrow(2, 0, 3)));
       }},
      {"local_response_norm",
       {kImage},
       "ff",
       "ff",
       [](In x) { return F::local_response_norm(x[0], F::LocalResponseNormFuncOptions(3)); }},
      {"nearest",
       {kImage},
       "fb",
       "ff",
       [resize](In x) { return resize(x[0], F::InterpolateFuncOptions().mode(kNearest)); }},
      {"bilinear sizes", {kImage}, "fb", "ff", [resize](In x) {
         return resize(x[0], F::InterpolateFuncOptions().mode(kBilinear));
       }}};
}

// Returns a symmetric matrix without small eigenvalues, in the dtype of x.
Tensor definite(const Tensor& x) { return x.matmul(x.mT()) + eye(x.size(-1), x.options()); }

// Decompositions of positive definite matrices, in Float on either device, because they do not accept 16-bit
// dtypes.
std::vector<Case> decompositions() {
  const auto of = [](const char* name, std::function<Tensor(const Tensor&)> f) {
    return Case{name, {kMatrix}, "ff", "ff", [f](In x) {
                  const Tensor a = [&] {
                    const amp::autocast plain(kHere, kBFloat16, /*enabled=*/false);
                    return definite(x[0]);
                  }();
                  return f(a);
                }};
  };
  const auto first = [](const auto& results) { return std::get<0>(results); };
  return {of("cholesky", [](auto& a) { return linalg::cholesky(a); }),
          of("cholesky as before", [](auto& a) { return cholesky(a); }),
          of("cholesky_ex", [=](auto& a) { return first(linalg::cholesky_ex(a)); }),
          of("cholesky_inverse", [](auto& a) { return cholesky_inverse(a); }),
          of("cholesky_solve", [](auto& a) { return cholesky_solve(a, a); }),
          of("inv", [](auto& a) { return linalg::inv(a); }),
          of("inverse", [](auto& a) { return inverse(a); }),
          of("inv_ex", [=](auto& a) { return first(linalg::inv_ex(a)); }),
          of("lu_solve",
             [](auto& a) {
               const auto [lu, pivots] = linalg::lu_factor(a.to(kFloat));
               return lu_solve(a, lu.to(a.dtype()), pivots);
             }),
          of("orgqr", [](auto& a) { return orgqr(a, a[0]); }),
          of("householder_product", [](auto& a) { return linalg::householder_product(a, a[0]); }),
          of("ormqr", [](auto& a) { return ormqr(a, a[0], a); }),
          of("geqrf", [=](auto& a) { return first(geqrf(a)); }),
          of("qr", [=](auto& a) { return first(linalg::qr(a)); }),
          of("qr as before", [=](auto& a) { return first(qr(a)); }),
          of("svd", [=](auto& a) { return first(linalg::svd(a)); }),
          of("svd as before", [=](auto& a) { return first(svd(a)); }),
          of("svdvals", [](auto& a) { return linalg::svdvals(a); }),
          of("eigh", [=](auto& a) { return first(linalg::eigh(a)); }),
          of("eigvalsh", [](auto& a) { return linalg::eigvalsh(a); }),
          of("pinverse", [](auto& a) { return pinverse(a); }),
          of("solve", [](auto& a) { return linalg::solve(a, a); }),
          of("triangular_solve", [=](auto& a) { return first(triangular_solve(a, a)); }),
          of("lstsq", [=](auto& a) { return first(linalg::lstsq(a, a)); }),
          of("tensorinv", [](auto& a) { return linalg::tensorinv(a, 1); }),
          of("tensorsolve", [](auto& a) { return linalg::tensorsolve(a, a[0]); }),
          of("cond", [](auto& a) { return linalg::cond(a); }),
          of("cond by a name", [](auto& a) { return linalg::cond(a, "nuc"); }),
          of("matrix_rank", [](auto& a) { return linalg::matrix_rank(a).to(kFloat); }),
          of("matrix_sqrth", [](auto& a) { return linalg::matrix_sqrth(a); }),
          of("polar", [=](auto& a) { return first(linalg::polar(a)); })};
}

void check(const std::vector<Case>& cases) {
  const amp::autocast casting(kHere, kBFloat16);
  for (const Case& each : cases) {
    const std::string expected = kHere == kCUDA ? each.cuda : each.cpu;
    for (const DType dtype : {kFloat, kBFloat16}) {
      CAPTURE(each.name, dtype);
      std::vector<Tensor> inputs;
      for (const auto& shape : each.shapes) inputs.push_back((rand(shape) * 0.5 + 0.2).to(kHere, dtype));
      const char want = expected[dtype == kFloat ? 0 : 1];
      if (want == '-') continue;
      if (want == '!')
        CHECK_THROWS_WITH(each.call(inputs), support::Contains("unsafe to autocast"));
      else
        CHECK(each.call(inputs).dtype() == (want == 'f' ? kFloat : kBFloat16));
    }
  }
}

}  // namespace

TEST_CASE("autocast: elementwise functions return the dtypes of PyTorch") { check(elementwise()); }
TEST_CASE("autocast: matrix products and layers return the dtypes of PyTorch") { check(products()); }
TEST_CASE("autocast: reductions and norms return the dtypes of PyTorch") { check(sums()); }
TEST_CASE("autocast: losses return the dtypes of PyTorch") { check(losses()); }
TEST_CASE("autocast: index ops return the dtypes of PyTorch") { check(places()); }
TEST_CASE("autocast: decompositions return the dtypes of PyTorch") { check(decompositions()); }

TEST_CASE("autocast: ops with inputs of two dtypes compute in the wider dtype") {
  const amp::autocast casting(kHere, kBFloat16);
  const Tensor x = rand({4, 3}, TensorOptions(kHere)), h = x.to(kBFloat16);
  const Tensor places = zeros({4, 3}, TensorOptions(kLong).device(kHere));
  CHECK(cat({h, x}).dtype() == kFloat);
  CHECK(stack({h, x}).dtype() == kFloat);
  CHECK(atan2(h, x).dtype() == kFloat);
  CHECK(addcmul(h, x, h).dtype() == kFloat);
  CHECK(prelu(h, ones({3}, TensorOptions(kHere))).dtype() == kBFloat16);
  if (kHere == kCUDA) {
    CHECK(dot(h[0], x[0]).dtype() == kFloat);
    CHECK(cross(h, x, 1).dtype() == kFloat);
    CHECK(tensordot(h, x, 1, 1).dtype() == kFloat);
    CHECK(bilinear(h, x, rand({2, 3, 3}, TensorOptions(kHere))).dtype() == kFloat);
    CHECK(scatter_add(h, 0, places, x).dtype() == kFloat);
    CHECK(index_put(h, {places[0]}, x[0]).dtype() == kFloat);
    CHECK(layer_norm(h, 3, ones({3}, TensorOptions(kHere))).dtype() == kFloat);
  } else {
    CHECK_THROWS_WITH(dot(h[0], x[0]),
                      support::Contains("dot: expected both tensors in one dtype, got BFloat16 and"));
    CHECK(index_copy(h, 0, places.select(1, 0).narrow(0, 0, 1), x.narrow(0, 0, 1)).dtype() == kFloat);
  }
}
