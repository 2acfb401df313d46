// Indices that are drawn from given ones, or by weight.
#include <ebb/data/subset_samplers.h>
#include <ebb/ops/random.h>

#include <algorithm>
#include <cmath>

#include "data/positions.h"

namespace ebb::data::samplers {

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
    EBB_CHECK(p[i] >= 0, "Sampler::load: \"indices\" holds ", p[i], ", which is no sample's index.");
  index_ = read_position(archive, "Sampler", "index", 0, static_cast<std::size_t>(list.numel()));
  order_.assign(p, p + list.numel());
}

SubsetRandomSampler::SubsetRandomSampler(std::vector<std::size_t> indices) : indices_(std::move(indices)) {
  reset();
}

void SubsetRandomSampler::reset(optional<std::size_t> new_size) {
  EBB_CHECK(!new_size || *new_size == indices_.size(), "SubsetRandomSampler::reset: there are ",
            std::uint64_t{indices_.size()}, " indices; another size, ", std::uint64_t{new_size.value_or(0)},
            ", needs another sampler.");
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

}  // namespace ebb::data::samplers
