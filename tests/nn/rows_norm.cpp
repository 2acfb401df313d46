// Rows of normalisations and distances.
#include "nn/module_rows.h"

#include <numeric>

namespace modules {

namespace {

Variable channels(const Variable& v, const Variable& like) {
  Sizes sizes(static_cast<std::size_t>(like.dim()), 1);
  sizes[1] = -1;
  return v.view(sizes);
}

Variable scaled(Variable y, const Tensors& t, const std::function<Variable(const Variable&)>& shape) {
  if (t["weight"].defined()) y = y * shape(t["weight"]);
  return t["bias"].defined() ? y + shape(t["bias"]) : y;
}

// Normalises with the statistics of `dims` or the running ones, and appends the updated running statistics.
variable_list normalised(const Variable& x, const Tensors& t, const Sizes& dims,
                         std::optional<double> momentum, double eps, bool counts) {
  const bool running = t["running_mean"].defined(), own = t.training || !running;
  const Variable mean = own ? x.mean(dims, true) : channels(t["running_mean"], x);
  const Variable var = own ? (x - mean).square().mean(dims, true) : channels(t["running_var"], x);
  variable_list out{
      scaled((x - mean) / (var + eps).sqrt(), t, [&](const Variable& v) { return channels(v, x); })};
  if (!running) return out;
  const double share = !own ? 0 : momentum ? *momentum : 1.0 / 4;
  double n = 1;
  for (const std::int64_t d : dims) n *= static_cast<double>(x.size(d));
  out.push_back(t["running_mean"] * (1 - share) + share * (own ? mean.mean(0).flatten() : mean.flatten()));
  out.push_back(t["running_var"] * (1 - share) +
                share * (own ? (var * n / (n - 1)).mean(0).flatten() : var.flatten()));
  out.push_back(t["num_batches_tracked"] + (own && counts ? 1 : 0));
  return out;
}

Sizes batch_dims(const Variable& x) {
  Sizes dims{0};
  for (std::int64_t d = 2; d < x.dim(); ++d) dims.push_back(d);
  return dims;
}

std::vector<std::string> names(bool affine, bool bias, bool running) {
  std::vector<std::string> out;
  if (affine) out.push_back("weight");
  if (affine && bias) out.push_back("bias");
  if (running) out.insert(out.end(), {"running_mean", "running_var", "num_batches_tracked"});
  return out;
}

template <class Holder>
void add_batch(std::vector<Row>& rows, const std::string& name, const Sizes& sizes) {
  using O = nn::BatchNormOptions;
  const std::int64_t c = sizes[1];
  for (const O& o : {O(c), O(c).momentum(ebb::nullopt).eps(0.1), O(c).affine(false).momentum(0.4),
                     O(c).track_running_stats(false), O(c).bias(false)}) {
    rows.push_back(row<Holder>(
        name, {wave(sizes)},
        [=](In in, const Tensors& t) {
          const auto m = o.momentum() ? std::optional<double>(*o.momentum()) : std::nullopt;
          return normalised(in[0], t, batch_dims(in[0]), m, o.eps(), true);
        },
        o));
    rows.back().names = names(o.affine(), o.bias(), o.track_running_stats());
  }
}

template <class Holder>
void add_instance(std::vector<Row>& rows, const std::string& name, const Sizes& sizes) {
  using O = nn::InstanceNormOptions;
  const std::int64_t c = sizes[1];
  for (const bool whole : {true, false})
    for (const O& o : {O(c), O(c).affine(true).eps(0.1), O(c).track_running_stats(true).momentum(0.4),
                       O(c).affine(true).bias(false)}) {
      rows.push_back(row<Holder>(
          name, {wave(whole ? sizes : Sizes(sizes.begin() + 1, sizes.end()))},
          [=](In in, const Tensors& t) {
            const Variable x = whole ? in[0] : in[0].unsqueeze(0);
            Sizes dims(static_cast<std::size_t>(x.dim()) - 2);
            std::iota(dims.begin(), dims.end(), 2);
            variable_list out = normalised(x, t, dims, o.momentum(), o.eps(), false);
            if (!whole) out[0] = out[0][0];
            return out;
          },
          o));
      rows.back().names = names(o.affine(), o.bias(), o.track_running_stats());
      rows.back().batch = whole ? 0 : -1;
    }
}

template <class Lazy, class Add, class O>
void add_lazy(std::vector<Row>& rows, const O& options, const Add& add) {
  const std::size_t first = rows.size();
  add();
  rows.resize(first + 1, rows[first]);
  rows.back().name = rows.back().name.substr(0, rows.back().name.find(' '));
  lazy<Lazy>(rows.back(), options);
}

}  // namespace

std::vector<Row> norm_rows() {
  std::vector<Row> rows;
  const Sizes one{3, 2, 4}, two{3, 2, 2, 3}, three{2, 2, 2, 1, 3};
  add_batch<nn::BatchNorm1d>(rows, "BatchNorm1d", one);
  add_batch<nn::BatchNorm1d>(rows, "BatchNorm1d of rows", {4, 3});
  add_batch<nn::BatchNorm2d>(rows, "BatchNorm2d", two);
  add_batch<nn::BatchNorm3d>(rows, "BatchNorm3d", three);
  add_batch<nn::SyncBatchNorm>(rows, "SyncBatchNorm", {3, 2, 2, 2});
  add_instance<nn::InstanceNorm1d>(rows, "InstanceNorm1d", one);
  add_instance<nn::InstanceNorm2d>(rows, "InstanceNorm2d", two);
  add_instance<nn::InstanceNorm3d>(rows, "InstanceNorm3d", three);
  using B = nn::BatchNormOptions;
  using I = nn::InstanceNormOptions;
  add_lazy<nn::LazyBatchNorm1d>(rows, B(0),
                                [&] { add_batch<nn::BatchNorm1d>(rows, "LazyBatchNorm1d", one); });
  add_lazy<nn::LazyBatchNorm2d>(rows, B(0),
                                [&] { add_batch<nn::BatchNorm2d>(rows, "LazyBatchNorm2d", two); });
  add_lazy<nn::LazyBatchNorm3d>(rows, B(0),
                                [&] { add_batch<nn::BatchNorm3d>(rows, "LazyBatchNorm3d", three); });
  add_lazy<nn::LazyInstanceNorm1d>(
      rows, I(0), [&] { add_instance<nn::InstanceNorm1d>(rows, "LazyInstanceNorm1d", one); });
  add_lazy<nn::LazyInstanceNorm2d>(
      rows, I(0), [&] { add_instance<nn::InstanceNorm2d>(rows, "LazyInstanceNorm2d", two); });
  add_lazy<nn::LazyInstanceNorm3d>(
      rows, I(0), [&] { add_instance<nn::InstanceNorm3d>(rows, "LazyInstanceNorm3d", three); });

  using L = nn::LayerNormOptions;
  for (const L& o : {L({2, 3}), L({3}).eps(0.1), L({2, 3}).elementwise_affine(false), L({3}).bias(false)}) {
    rows.push_back(row<nn::LayerNorm>(
        "LayerNorm", {wave({2, 2, 3})},
        [=](In in, const Tensors& t) -> variable_list {
          const Sizes dims = o.normalized_shape().size() == 1 ? Sizes{-1} : Sizes{-2, -1};
          const Variable d = in[0] - in[0].mean(dims, true);
          return {scaled(d / (d.square().mean(dims, true) + o.eps()).sqrt(), t,
                         [](const Variable& v) { return v; })};
        },
        o));
    rows.back().names = names(o.elementwise_affine(), o.bias(), false);
  }
  // Layer norm with a residual, and the sum of both.
  rows.push_back(row_called<nn::LayerNorm>(
      "LayerNorm of a sum", {wave({2, 3}), wave({2, 3}, 1)},
      [](auto& m, In in) {
        const auto [y, sum] = m.forward_sum(in[0], in[1]);
        return variable_list{nn::detail::call_module(m, in[0] + in[1]), y, sum};
      },
      [](In in, const Tensors& t) -> variable_list {
        const Variable sum = in[0] + in[1], d = sum - sum.mean(Sizes{-1}, true);
        const Variable y = d / (d.square().mean(Sizes{-1}, true) + 1e-5).sqrt() * t["weight"] + t["bias"];
        return {y, y, sum};
      },
      L({3})));
  using R = nn::RMSNormOptions;
  for (const R& o : {R({2, 3}), R({3}).eps(0.1), R({2, 3}).elementwise_affine(false)}) {
    rows.push_back(row<nn::RMSNorm>(
        "RMSNorm", {wave({2, 2, 3})},
        [=](In in, const Tensors& t) -> variable_list {
          const Sizes dims = o.normalized_shape().size() == 1 ? Sizes{-1} : Sizes{-2, -1};
          const double eps = o.eps() ? *o.eps() : 2.220446049250313e-16;
          return {scaled(in[0] / (in[0].square().mean(dims, true) + eps).sqrt(), t,
                         [](const Variable& v) { return v; })};
        },
        o));
    rows.back().names = names(o.elementwise_affine(), false, false);
  }
  using G = nn::GroupNormOptions;
  for (const G& o : {G(2, 4), G(4, 4).eps(0.1), G(1, 4).affine(false), G(2, 4).bias(false)}) {
    rows.push_back(row<nn::GroupNorm>(
        "GroupNorm", {wave({2, 4, 3, 2})},
        [=](In in, const Tensors& t) -> variable_list {
          const Variable x = in[0].view({2, o.num_groups(), -1}), d = x - x.mean(Sizes{-1}, true);
          return {scaled((d / (d.square().mean(Sizes{-1}, true) + o.eps()).sqrt()).view(in[0].sizes()), t,
                         [&](const Variable& v) { return channels(v, in[0]); })};
        },
        o));
    rows.back().names = names(o.affine(), o.bias(), false);
  }
  // Adjacent channels, with zeros beyond the border: size / 2 before and (size - 1) / 2 after.
  const auto neighbours = [](const Variable& x, std::int64_t before, std::int64_t behind) {
    Sizes pad(static_cast<std::size_t>(2 * (x.dim() - 2)), 0);
    pad.insert(pad.end(), {before, behind});
    const Variable p = ebb::constant_pad_nd(x.square(), pad, 0);
    Variable sum = ebb::zeros_like(x);
    for (std::int64_t i = 0; i <= before + behind; ++i) sum = sum + p.slice(1, i, i + x.size(1));
    return sum;
  };
  for (const Sizes& sizes : {Sizes{2, 5, 3}, Sizes{1, 5, 2, 2}, Sizes{1, 5, 2, 1, 2}})
    for (const std::int64_t size : {2, 3})
      rows.push_back(row<nn::LocalResponseNorm>(
          "LocalResponseNorm", {wave(sizes)},
          [=](In in, const Tensors&) -> variable_list {
            return {in[0] /
                    (1.5 + 0.4 / static_cast<double>(size) * neighbours(in[0], size / 2, (size - 1) / 2))
                        .pow(0.6)};
          },
          nn::LocalResponseNormOptions(size).alpha(0.4).beta(0.6).k(1.5)));
  for (const std::int64_t size : {2, 3})
    rows.push_back(row<nn::CrossMapLRN2d>(
        "CrossMapLRN2d", {wave({1, 5, 2, 2})},
        [=](In in, const Tensors&) -> variable_list {
          return {in[0] /
                  (2 + 0.4 / static_cast<double>(size) * neighbours(in[0], (size - 1) / 2, (size - 1) / 2))
                      .pow(0.6)};
        },
        nn::CrossMapLRN2dOptions(size).alpha(0.4).beta(0.6).k(2)));
  rows.push_back(row<nn::CosineSimilarity>(
      "CosineSimilarity", {wave({2, 3, 2}), wave({2, 3, 2}, 1)},
      [](In in, const Tensors&) -> variable_list {
        return {(in[0] * in[1]).sum(2) / (in[0].square().sum(2) * in[1].square().sum(2)).sqrt()};
      },
      nn::CosineSimilarityOptions().dim(2)));
  for (const bool keep : {false, true})
    rows.push_back(row<nn::PairwiseDistance>(
        "PairwiseDistance", {wave({3, 4}), wave({3, 4}, 1)},
        [=](In in, const Tensors&) -> variable_list {
          return {(in[0] - in[1] + 0.01).abs().pow(3).sum(Sizes{-1}, keep).pow(1.0 / 3)};
        },
        nn::PairwiseDistanceOptions().p(3).eps(0.01).keepdim(keep)));
  return rows;
}

}  // namespace modules
