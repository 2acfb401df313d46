// Shares of processes, and requests of streams.
#include <ebb/data/distributed_samplers.h>
#include <ebb/data/stream_sampler.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

#include "data/positions.h"

namespace ebb::data::samplers {

CustomBatchRequest::~CustomBatchRequest() = default;

void StreamSampler::reset(optional<std::size_t> new_size) {
  epoch_size_ = new_size.value_or(epoch_size_);
  retrieved_ = 0;
}

optional<BatchSize> StreamSampler::next(std::size_t batch_size) {
  if (retrieved_ >= epoch_size_) return nullopt;
  const std::size_t count = std::min(batch_size, epoch_size_ - retrieved_);
  retrieved_ += count;
  return BatchSize(count);
}

void StreamSampler::save(serialize::OutputArchive& archive) const {
  write_position(archive, "examples_retrieved_so_far", retrieved_);
}

void StreamSampler::load(serialize::InputArchive& archive) {
  retrieved_ = read_position(archive, "StreamSampler", "examples_retrieved_so_far", 0, epoch_size_);
}

DistributedRandomSampler::DistributedRandomSampler(std::size_t size, std::size_t num_replicas,
                                                   std::size_t rank, bool allow_duplicates)
    : DistributedSampler(size, num_replicas, rank, allow_duplicates) {
  reset(size);
}

// As libtorch draws them: the order of all is that of the epoch's number.
void DistributedRandomSampler::reset(optional<std::size_t> new_size) {
  size_ = new_size.value_or(size_);
  const std::size_t share = local_sample_count();
  all_indices_.resize(num_replicas_ == 1 ? size_ : share * num_replicas_);
  for (std::size_t i = 0; i < all_indices_.size(); ++i) all_indices_[i] = i % size_;
  std::mt19937 random(static_cast<std::mt19937::result_type>(epoch_));
  std::shuffle(all_indices_.begin(), all_indices_.end(), random);
  begin_index_ = rank_ * share;
  end_index_ = begin_index_ + share;
  sample_index_ = begin_index_;
}

optional<std::vector<std::size_t>> DistributedRandomSampler::next(std::size_t batch_size) {
  if (sample_index_ == end_index_) return nullopt;
  const std::size_t end = sample_index_ + std::min(batch_size, end_index_ - sample_index_);
  std::vector<std::size_t> batch(all_indices_.begin() + static_cast<std::ptrdiff_t>(sample_index_),
                                 all_indices_.begin() + static_cast<std::ptrdiff_t>(end));
  sample_index_ = end;
  return batch;
}

void DistributedRandomSampler::save(serialize::OutputArchive& archive) const {
  write_position(archive, "sample_index_", sample_index_);
  write_position(archive, "epoch_", epoch_);
}

void DistributedRandomSampler::load(serialize::InputArchive& archive) {
  const std::size_t epoch = read_position(archive, "DistributedRandomSampler", "epoch_", 0,
                                          std::numeric_limits<std::size_t>::max());
  const std::size_t position =
      read_position(archive, "DistributedRandomSampler", "sample_index_", begin_index_, end_index_);
  set_epoch(epoch);
  reset(size_);
  sample_index_ = position;
}

DistributedSequentialSampler::DistributedSequentialSampler(std::size_t size, std::size_t num_replicas,
                                                           std::size_t rank, bool allow_duplicates)
    : DistributedSampler(size, num_replicas, rank, allow_duplicates) {
  reset(size);
}

void DistributedSequentialSampler::reset(optional<std::size_t> new_size) {
  size_ = new_size.value_or(size_);
  const std::size_t share = local_sample_count();
  begin_index_ = rank_ * share;
  end_index_ = begin_index_ + share;
  sample_index_ = begin_index_;
}

optional<std::vector<std::size_t>> DistributedSequentialSampler::next(std::size_t batch_size) {
  if (sample_index_ == end_index_) return nullopt;
  std::vector<std::size_t> batch(std::min(batch_size, end_index_ - sample_index_));
  for (std::size_t& index : batch) index = sample_index_++ % size_;
  return batch;
}

void DistributedSequentialSampler::save(serialize::OutputArchive& archive) const {
  write_position(archive, "sample_index_", sample_index_);
}

void DistributedSequentialSampler::load(serialize::InputArchive& archive) {
  sample_index_ =
      read_position(archive, "DistributedSequentialSampler", "sample_index_", begin_index_, end_index_);
}

}  // namespace ebb::data::samplers
