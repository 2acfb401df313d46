// Samplers: sequential, random, weighted and distributed orders of samples, and StreamSampler.
#include <ebb/archive.h>
#include <ebb/data/distributed_samplers.h>
#include <ebb/data/samplers.h>
#include <ebb/data/stream_sampler.h>
#include <ebb/data/subset_samplers.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/random.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <string>

namespace ebb::data::samplers {
namespace {

void write_position(serialize::OutputArchive& archive, const std::string& name, std::size_t value) {
  archive.write(name, scalar_tensor(static_cast<std::int64_t>(value), TensorOptions(kLong)), true);
}

// Reads an integer. Throws if it is missing or not in [least, most].
std::size_t read_position(serialize::InputArchive& archive, const char* sampler, const std::string& name,
                          std::size_t least, std::size_t most) {
  Variable tensor;
  archive.read(name, tensor, true);
  EBB_CHECK(tensor.numel() == 1 && is_integral(tensor.dtype()), sampler, "::load: \"", name,
            "\" must be one integer, got ", tensor.dtype(), " of shape ", tensor.sizes(), ".");
  const std::int64_t value = tensor.item<std::int64_t>();
  EBB_CHECK(value >= 0 && static_cast<std::size_t>(value) >= least && static_cast<std::size_t>(value) <= most,
            sampler, "::load: \"", name, "\" is ", value, ", which is outside of the range ",
            std::uint64_t{least}, " to ", std::uint64_t{most},
            ". Load the state into a sampler with the same number of samples.");
  return static_cast<std::size_t>(value);
}

void write_index(serialize::OutputArchive& archive, std::size_t index) {
  archive.write("index", scalar_tensor(static_cast<std::int64_t>(index), TensorOptions(kLong)), true);
}

// Reads the number of samples, at most `size`, that the sampler had returned.
std::size_t read_index(serialize::InputArchive& archive, const char* sampler, std::size_t size) {
  Variable tensor;
  archive.read("index", tensor, true);
  EBB_CHECK(tensor.numel() == 1 && is_integral(tensor.dtype()), sampler,
            "::load: \"index\" must be one integer, got ", tensor.dtype(), " of shape ", tensor.sizes(), ".");
  const std::int64_t index = tensor.item<std::int64_t>();
  EBB_CHECK(index >= 0, sampler, "::load: the saved position ", index,
            " is negative. The state is damaged: load one that the sampler saved.");
  EBB_CHECK(static_cast<std::size_t>(index) <= size, sampler, "::load: the saved position ", index,
            " is out of range for ", std::uint64_t{size},
            " samples. Load the state into a sampler with the same number of samples.");
  return static_cast<std::size_t>(index);
}

}  // namespace

RandomSampler::RandomSampler(std::int64_t size, DType) : order_(static_cast<std::size_t>(size)) {
  reset(nullopt);
}

void RandomSampler::reset(optional<std::size_t> new_size) {
  const Variable order = randperm(static_cast<std::int64_t>(new_size.value_or(order_.size())), kLong);
  const std::int64_t* p = order.data_ptr<std::int64_t>();
  order_.assign(p, p + order.numel());
  index_ = 0;
}

optional<std::vector<std::size_t>> RandomSampler::next(std::size_t batch_size) {
  if (index_ >= order_.size()) return nullopt;
  const std::size_t count = std::min(batch_size, order_.size() - index_);
  std::vector<std::size_t> batch(order_.begin() + static_cast<std::ptrdiff_t>(index_),
                                 order_.begin() + static_cast<std::ptrdiff_t>(index_ + count));
  index_ += count;
  return batch;
}

void RandomSampler::save(serialize::OutputArchive& archive) const {
  write_index(archive, index_);
  archive.write("indices", tensor(order_, TensorOptions(kLong)), true);
}

void RandomSampler::load(serialize::InputArchive& archive) {
  Variable indices;
  archive.read("indices", indices, true);
  EBB_CHECK(indices.dim() == 1 && is_integral(indices.dtype()),
            "RandomSampler::load: \"indices\" must be a list of integers, got ", indices.dtype(),
            " of shape ", indices.sizes(), ".");
  const Variable order = indices.to(kCPU, kLong).contiguous();
  const std::int64_t* p = order.data_ptr<std::int64_t>();
  for (std::int64_t i = 0; i < order.numel(); ++i)
    EBB_CHECK(p[i] >= 0, "RandomSampler::load: \"indices\" holds ", p[i],
              ", which is not the index of a sample.");
  index_ = read_index(archive, "RandomSampler", static_cast<std::size_t>(order.numel()));
  order_.assign(p, p + order.numel());
}

void SequentialSampler::reset(optional<std::size_t> new_size) {
  size_ = new_size.value_or(size_);
  index_ = 0;
}

optional<std::vector<std::size_t>> SequentialSampler::next(std::size_t batch_size) {
  if (index_ >= size_) return nullopt;
  std::vector<std::size_t> batch(std::min(batch_size, size_ - index_));
  std::iota(batch.begin(), batch.end(), index_);
  index_ += batch.size();
  return batch;
}

void SequentialSampler::save(serialize::OutputArchive& archive) const { write_index(archive, index_); }

void SequentialSampler::load(serialize::InputArchive& archive) {
  // A sampler without samples accepts any index, because reset(n) sets its size later.
  index_ = read_index(archive, "SequentialSampler", size_ > 0 ? size_ : SIZE_MAX);
}

void DrawnSampler::start(std::vector<std::size_t> order) {
  order_ = std::move(order);
  index_ = 0;
}

optional<std::vector<std::size_t>> DrawnSampler::next(std::size_t batch_size) {
  if (index_ >= order_.size()) return nullopt;
  const auto from = order_.begin() + static_cast<std::ptrdiff_t>(index_);
  const std::size_t count = std::min(batch_size, order_.size() - index_);
  index_ += count;
  return std::vector<std::size_t>(from, from + static_cast<std::ptrdiff_t>(count));
}

void DrawnSampler::save(serialize::OutputArchive& archive) const {
  write_position(archive, "index", index_);
  const std::vector<std::int64_t> indices(order_.begin(), order_.end());
  archive.write("indices", tensor(indices, TensorOptions(kLong)), true);
}

void DrawnSampler::load(serialize::InputArchive& archive) {
  Variable indices;
  archive.read("indices", indices, true);
  EBB_CHECK(indices.dim() == 1 && is_integral(indices.dtype()),
            "Sampler::load: \"indices\" must be a list of integers, got ", indices.dtype(), " of shape ",
            indices.sizes(), ".");
  const Variable list = indices.to(kCPU, kLong).contiguous();
  const std::int64_t* const p = list.data_ptr<std::int64_t>();
  for (std::int64_t i = 0; i < list.numel(); ++i)
    EBB_CHECK(p[i] >= 0, "Sampler::load: \"indices\" holds ", p[i], ", which is not the index of a sample.");
  index_ = read_position(archive, "Sampler", "index", 0, static_cast<std::size_t>(list.numel()));
  order_.assign(p, p + list.numel());
}

SubsetRandomSampler::SubsetRandomSampler(std::vector<std::size_t> indices) : indices_(std::move(indices)) {
  reset();
}

void SubsetRandomSampler::reset(optional<std::size_t> new_size) {
  EBB_CHECK(!new_size || *new_size == indices_.size(), "SubsetRandomSampler::reset: the sampler has ",
            std::uint64_t{indices_.size()}, " indices and cannot be reset to the size ",
            std::uint64_t{new_size.value_or(0)}, ". Construct another sampler.");
  const Variable order = randperm(static_cast<std::int64_t>(indices_.size()), kLong);
  const std::int64_t* const p = order.data_ptr<std::int64_t>();
  std::vector<std::size_t> drawn;
  for (std::int64_t i = 0; i < order.numel(); ++i) drawn.push_back(indices_[static_cast<std::size_t>(p[i])]);
  start(std::move(drawn));
}

WeightedRandomSampler::WeightedRandomSampler(const std::vector<double>& weights, std::size_t num_samples,
                                             bool replacement)
    : weights_(tensor(weights, TensorOptions(kDouble))),
      num_samples_(num_samples),
      replacement_(replacement) {
  double sum = 0;
  for (const double weight : weights) {
    EBB_CHECK(weight >= 0 && std::isfinite(weight),
              "WeightedRandomSampler: weights must be finite and not negative, got ", weight, ".");
    sum += weight;
  }
  EBB_CHECK(sum > 0 && num_samples > 0,
            "WeightedRandomSampler: expected a weight above zero and num_samples of at least 1, got ",
            std::uint64_t{weights.size()}, " weights of sum ", sum, " and ", std::uint64_t{num_samples},
            " samples.");
  reset();
}

void WeightedRandomSampler::reset(optional<std::size_t> new_size) {
  num_samples_ = new_size.value_or(num_samples_);
  const Variable drawn = multinomial(weights_, static_cast<std::int64_t>(num_samples_), replacement_);
  const std::int64_t* const p = drawn.data_ptr<std::int64_t>();
  start(std::vector<std::size_t>(p, p + drawn.numel()));
}

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

// As in libtorch, the epoch's number is the seed of the order.
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
