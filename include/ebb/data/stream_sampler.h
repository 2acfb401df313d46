// StreamSampler: requests batches by their number of samples, without indices.
#pragma once

#include <ebb/data/samplers.h>

#include <cstddef>

namespace ebb::data::samplers {

/// The base of batch requests that are not lists of indices.
struct EBB_API CustomBatchRequest {
  CustomBatchRequest() = default;
  CustomBatchRequest(const CustomBatchRequest&) = default;
  CustomBatchRequest(CustomBatchRequest&&) = default;
  CustomBatchRequest& operator=(const CustomBatchRequest&) = default;
  CustomBatchRequest& operator=(CustomBatchRequest&&) = default;
  virtual ~CustomBatchRequest();
  /// Returns the number of requested samples.
  virtual std::size_t size() const = 0;
};

/// A number of samples, which converts to an integer.
struct EBB_API BatchSize : CustomBatchRequest {
  explicit BatchSize(std::size_t size = 0) : size_(size) {}
  std::size_t size() const noexcept override { return size_; }
  operator std::size_t() const noexcept { return size_; }
  std::size_t size_;
};

/// Requests batches from a stream until `epoch_size` samples have been requested.
class EBB_API StreamSampler : public Sampler<BatchSize> {
 public:
  explicit StreamSampler(std::size_t epoch_size) : epoch_size_(epoch_size) {}
  void reset(optional<std::size_t> new_size = nullopt) override;
  optional<BatchSize> next(std::size_t batch_size) override;
  /// Returns the number of samples of an epoch.
  std::size_t size() const noexcept { return epoch_size_; }
  /// Writes the number of requested samples ("examples_retrieved_so_far", kLong []).
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;

 private:
  std::size_t retrieved_ = 0, epoch_size_;
};

}  // namespace ebb::data::samplers
