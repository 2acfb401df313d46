// Linear, Bilinear, Identity, Flatten and Unflatten as modules.
#pragma once

#include <ebb/nn/functional/linear.h>
#include <ebb/nn/stateless.h>

namespace ebb::nn {

/// Returns the input.
struct EBB_API IdentityImpl : detail::Stateless<IdentityImpl, detail::NoOptions, Variable> {
  using Stateless::Stateless;
};
EBB_LIBRARY_MODULE(Identity);

/// x W^T + b: (*, in) to (*, out). Initially weight and bias are U(-1/sqrt(in), 1/sqrt(in)).
class EBB_API LinearImpl : public Cloneable<LinearImpl> {
 public:
  LinearImpl(std::int64_t in_features, std::int64_t out_features)
      : LinearImpl(LinearOptions(in_features, out_features)) {}
  explicit LinearImpl(LinearOptions options_);
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input);
  void reset_parameters();

  LinearOptions options;
  Variable weight;  // (out, in)
  Variable bias;    // (out), or undefined
};
EBB_LIBRARY_MODULE(Linear);

/// Joins the dimensions start_dim to end_dim into one.
struct EBB_API FlattenImpl : detail::Stateless<FlattenImpl, FlattenOptions, Variable> {
  using Stateless::Stateless;
};
EBB_LIBRARY_MODULE(Flatten);

/// Splits a dimension into several.
struct EBB_API UnflattenImpl : detail::Stateless<UnflattenImpl, UnflattenOptions, Variable> {
  using Stateless::Stateless;
  UnflattenImpl(std::int64_t dim, std::vector<std::int64_t> sizes)
      : UnflattenImpl(UnflattenOptions(dim, std::move(sizes))) {}
};
EBB_LIBRARY_MODULE(Unflatten);

/// x1^T W x2 + b.
class EBB_API BilinearImpl : public Cloneable<BilinearImpl> {
 public:
  BilinearImpl(std::int64_t in1_features, std::int64_t in2_features, std::int64_t out_features)
      : BilinearImpl(BilinearOptions(in1_features, in2_features, out_features)) {}
  explicit BilinearImpl(BilinearOptions options_);
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input1, const Variable& input2);
  void reset_parameters();

  BilinearOptions options;
  Variable weight;  // (out, in1, in2)
  Variable bias;
};
EBB_LIBRARY_MODULE(Bilinear);

}  // namespace ebb::nn
