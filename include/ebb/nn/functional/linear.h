// linear and bilinear, and options of the modules that change shapes (torch::nn::functional).
#pragma once

#include <ebb/autograd/variable.h>
#include <ebb/core/arg.h>

#include <utility>

namespace ebb::nn {

/// Options of Linear.
class EBB_API LinearOptions {
 public:
  LinearOptions(std::int64_t in_features, std::int64_t out_features)
      : in_features_(in_features), out_features_(out_features) {}

  EBB_ARG(std::int64_t, in_features);   ///< size of the input
  EBB_ARG(std::int64_t, out_features);  ///< size of the result
  EBB_ARG(bool, bias) = true;           ///< adds a learned bias
};

/// Options of Flatten.
class EBB_API FlattenOptions {
  EBB_ARG(std::int64_t, start_dim) = 1;  ///< first dimension to join
  EBB_ARG(std::int64_t, end_dim) = -1;   ///< last dimension to join
};

/// Options of Unflatten.
class EBB_API UnflattenOptions {
 public:
  UnflattenOptions(std::int64_t dim, std::vector<std::int64_t> sizes) : dim_(dim), sizes_(std::move(sizes)) {}

  EBB_ARG(std::int64_t, dim);                 ///< dimension to split
  EBB_ARG(std::vector<std::int64_t>, sizes);  ///< sizes of the new dimensions; one may be -1
};

/// Options of Bilinear.
class EBB_API BilinearOptions {
 public:
  BilinearOptions(std::int64_t in1_features, std::int64_t in2_features, std::int64_t out_features)
      : in1_features_(in1_features), in2_features_(in2_features), out_features_(out_features) {}

  EBB_ARG(std::int64_t, in1_features);  ///< size of the first input
  EBB_ARG(std::int64_t, in2_features);  ///< size of the second input
  EBB_ARG(std::int64_t, out_features);  ///< size of the result
  EBB_ARG(bool, bias) = true;           ///< adds a learned bias
};

namespace functional {

/// Computes input weight^T + bias, where weight is (out, in).
EBB_API Variable linear(const Variable& input, const Variable& weight, const Variable& bias = {});
/// Computes x1^T W_k x2 + b_k for each k, where weight is (out, in1, in2).
EBB_API Variable bilinear(const Variable& input1, const Variable& input2, const Variable& weight,
                          const Variable& bias = {});

}  // namespace functional

}  // namespace ebb::nn
