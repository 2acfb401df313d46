#include <ebb/data/samplers.h>
#include <ebb/ops/random.h>

#include <algorithm>
#include <numeric>

namespace ebb::data::samplers {

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

}  // namespace ebb::data::samplers
