// Options of the linear layers.
#pragma once

#include <ebb/autograd/variable.h>
#include <utility>

namespace ebb::nn {

/// Options of Linear.
class LinearOptions {
 public:
  LinearOptions(std::int64_t in_features, std::int64_t out_features)
      : in_features_(in_features), out_features_(out_features) {}
  LinearOptions& in_features(std::int64_t value) { return in_features_ = value, *this; }
  std::int64_t in_features() const { return in_features_; }
  LinearOptions& out_features(std::int64_t value) { return out_features_ = value, *this; }
  std::int64_t out_features() const { return out_features_; }
  LinearOptions& bias(bool value) { return bias_ = value, *this; }
  bool bias() const { return bias_; }

 private:
  std::int64_t in_features_;
  std::int64_t out_features_;
  bool bias_ = true;
};

/// Options of Flatten.
class FlattenOptions {
 public:
  FlattenOptions& start_dim(std::int64_t value) { return start_dim_ = value, *this; }
  std::int64_t start_dim() const { return start_dim_; }
  FlattenOptions& end_dim(std::int64_t value) { return end_dim_ = value, *this; }
  std::int64_t end_dim() const { return end_dim_; }

 private:
  std::int64_t start_dim_ = 1;
  std::int64_t end_dim_ = -1;
};

/// Options of Unflatten: the dimension and the sizes it becomes.
class UnflattenOptions {
 public:
  UnflattenOptions(std::int64_t dim, std::vector<std::int64_t> sizes) : dim_(dim), sizes_(std::move(sizes)) {}
  UnflattenOptions& dim(std::int64_t value) { return dim_ = value, *this; }
  std::int64_t dim() const { return dim_; }
  UnflattenOptions& sizes(std::vector<std::int64_t> value) { return sizes_ = std::move(value), *this; }
  const std::vector<std::int64_t>& sizes() const { return sizes_; }

 private:
  std::int64_t dim_;
  std::vector<std::int64_t> sizes_;
};

/// Options of Bilinear.
class BilinearOptions {
 public:
  BilinearOptions(std::int64_t in1_features, std::int64_t in2_features, std::int64_t out_features)
      : in1_features_(in1_features), in2_features_(in2_features), out_features_(out_features) {}
  BilinearOptions& in1_features(std::int64_t value) { return in1_features_ = value, *this; }
  std::int64_t in1_features() const { return in1_features_; }
  BilinearOptions& in2_features(std::int64_t value) { return in2_features_ = value, *this; }
  std::int64_t in2_features() const { return in2_features_; }
  BilinearOptions& out_features(std::int64_t value) { return out_features_ = value, *this; }
  std::int64_t out_features() const { return out_features_; }
  BilinearOptions& bias(bool value) { return bias_ = value, *this; }
  bool bias() const { return bias_; }

 private:
  std::int64_t in1_features_;
  std::int64_t in2_features_;
  std::int64_t out_features_;
  bool bias_ = true;
};

}  // namespace ebb::nn
