// The order in which samples are visited.
#include <ebb/data/samplers.h>
#include <ebb/ops/copy.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/random.h>

#include <algorithm>
#include <numeric>

namespace ebb::data::samplers {

namespace {

void write_index(serialize::OutputArchive& archive, std::size_t index) {
  archive.write("index", scalar_tensor(static_cast<std::int64_t>(index), TensorOptions(kLong)), true);
}

// How many of `size` samples had been handed out.
std::size_t read_index(serialize::InputArchive& archive, const char* sampler, std::size_t size) {
  Variable tensor;
  archive.read("index", tensor, true);
  EBB_CHECK(tensor.numel() == 1 && is_integral(tensor.dtype()), sampler,
            "::load: \"index\" must be one integer, got ", tensor.dtype(), " of shape ", tensor.sizes(), ".");
  const std::int64_t index = tensor.item<std::int64_t>();
  EBB_CHECK(index >= 0 && static_cast<std::size_t>(index) <= size, sampler, "::load: the position ", index,
            " does not lie within ", std::uint64_t{size},
            " samples. Load it into a sampler of as many samples as it was saved from.");
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
    EBB_CHECK(p[i] >= 0, "RandomSampler::load: \"indices\" holds ", p[i], ", which is no sample's index.");
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
  // A sampler of no samples learns its size from reset(n), and holds the position of any other until then.
  index_ = read_index(archive, "SequentialSampler", size_ > 0 ? size_ : SIZE_MAX);
}

}  // namespace ebb::data::samplers
