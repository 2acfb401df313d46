// ChunkDataset: reads data that is too large for memory in chunks.
#pragma once

#include <ebb/core/arg.h>
#include <ebb/core/random.h>
#include <ebb/core/start_thread.h>
#include <ebb/data/batch_queue.h>
#include <ebb/data/samplers.h>
#include <ebb/data/stateful_dataset.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace ebb::data::datasets {

/// Reads chunks of examples, for example from files. Several threads may read at the same time.
template <class Example, class Chunk = std::vector<Example>>
class ChunkDataReader {
 public:
  virtual ~ChunkDataReader() = default;
  using ChunkType = Chunk;
  using ExampleType = Example;
  virtual ChunkType read_chunk(std::size_t chunk_index) = 0;
  virtual std::size_t chunk_count() = 0;
  /// Prepares for an epoch. Called before each epoch.
  virtual void reset() = 0;
};

/// Options of ChunkDataset.
struct ChunkDatasetOptions {
  ChunkDatasetOptions() = delete;
  ChunkDatasetOptions(std::size_t preloader_count, std::size_t batch_size, std::size_t cache_size = 2048,
                      std::size_t cross_chunk_shuffle_count = 1)
      : preloader_count_(preloader_count),
        batch_size_(batch_size),
        cache_size_(cache_size),
        cross_chunk_shuffle_count_(cross_chunk_shuffle_count) {
    EBB_CHECK(preloader_count > 0,
              "ChunkDatasetOptions: Preloader count is 0. At least one preloader needs to be specified.");
    EBB_CHECK(batch_size > 0,
              "ChunkDatasetOptions: Batch size is 0. A positive batch size needs to be specified.");
    EBB_CHECK(cache_size > 0,
              "ChunkDatasetOptions: Cache size is 0. A positive cache size needs to be specified.");
    EBB_CHECK(
        cache_size >= batch_size,
        "ChunkDatasetOptions: Cache size is less than batch size. Cache needs to be large enough to hold at "
        "least one batch.");
    EBB_CHECK(cross_chunk_shuffle_count > 0,
              "ChunkDatasetOptions: cross_chunk_shuffle_count needs to be greater than 0.");
  }
  EBB_ARG(std::size_t, preloader_count);                ///< threads that read chunks
  EBB_ARG(std::size_t, batch_size);                     ///< examples in a batch
  EBB_ARG(std::size_t, cache_size) = 2048;              ///< the maximum number of queued examples
  EBB_ARG(std::size_t, cross_chunk_shuffle_count) = 1;  ///< chunks that are read and shuffled together
};

/// Returns batches from chunks that threads prefetch. One sampler orders the chunks, and another orders the
/// examples within a chunk. `preprocessing_policy` may change the examples that were read together before
/// they are shuffled. A ChunkDataset cannot be copied: pass it to a loader with make_shared_dataset.
template <class ChunkReader, class ChunkSampler = samplers::RandomSampler,
          class ExampleSampler = samplers::RandomSampler>
class ChunkDataset final : public StatefulDataset<ChunkDataset<ChunkReader, ChunkSampler, ExampleSampler>,
                                                  typename ChunkReader::ChunkType, std::size_t> {
 public:
  using BatchType = optional<typename ChunkReader::ChunkType>;
  using UnwrappedBatchType = typename ChunkReader::ChunkType;
  using BatchRequestType = std::size_t;
  using ChunkSamplerType = ChunkSampler;
  using ExampleSamplerType = ExampleSampler;

  ChunkDataset(ChunkReader chunk_reader, ChunkSampler chunk_sampler, ExampleSampler example_sampler,
               ChunkDatasetOptions options,
               std::function<void(UnwrappedBatchType&)> preprocessing_policy = {})
      : chunk_reader_(std::move(chunk_reader)),
        chunk_sampler_(std::move(chunk_sampler)),
        example_sampler_(std::move(example_sampler)),
        options_(options),
        preprocessing_policy_(std::move(preprocessing_policy)) {}
  ~ChunkDataset() override { end_epoch(); }

  /// Returns the next batch, or nothing at the end of the epoch. Each batch has the batch size of the
  /// options, except for the last one. A chunk that cannot be read throws; later calls continue with the
  /// other chunks.
  BatchType get_batch(std::size_t batch_size) override {
    EBB_CHECK(queue_, "ChunkDataset: Dataset needs to call reset() before calling get_batch().");
    EBB_CHECK(batch_size == options_.batch_size(),
              "ChunkDataset: The requested batch size does not match with the initialized batch size. The "
              "requested batch size is ",
              std::uint64_t{batch_size}, ", while the dataset is created with batch size equal to ",
              std::uint64_t{options_.batch_size()}, ".");
    return queue_->take();
  }
  BatchType get_batch() { return get_batch(options_.batch_size()); }

  void reset() override {
    end_epoch();
    chunk_reader_.reset();
    // After load(), the order and the position come from the archive.
    if (!loaded_) chunk_sampler_.reset(chunk_reader_.chunk_count());
    loaded_ = false;
    quit_ = false;
    queue_ = std::make_unique<Queue>(options_.batch_size(), example_sampler_, options_.cache_size());
    reading_ = options_.preloader_count();
    preloaders_.reserve(options_.preloader_count());  // push_back cannot throw after a thread has started
    try {
      for (std::size_t i = 0; i < options_.preloader_count(); ++i)
        preloaders_.push_back(ebb::detail::start_thread<std::thread>("ChunkDataset", [this] { preload(); }));
    } catch (...) {
      end_epoch();
      queue_.reset();
      throw;
    }
  }

  optional<std::size_t> size() const override { return nullopt; }
  ChunkSampler& chunk_sampler() { return chunk_sampler_; }

  /// Saves the state of the chunk sampler. Chunks that have been read count as delivered.
  void save(serialize::OutputArchive& archive) const override {
    std::lock_guard lock(chunk_mutex_);
    chunk_sampler_.save(archive);
  }
  void load(serialize::InputArchive& archive) override {
    std::lock_guard lock(chunk_mutex_);
    // Resets the sampler with the number of chunks. This may draw random numbers. The generator's state is
    // restored afterwards, so that load() does not change the numbers that the program draws next.
    const Generator drawn = default_generator().clone();
    chunk_sampler_.reset(chunk_reader_.chunk_count());
    default_generator().set_state(drawn);
    chunk_sampler_.load(archive);
    loaded_ = true;
  }

 private:
  using Queue = data::detail::BatchQueue<UnwrappedBatchType, ExampleSampler>;

  void preload() {
    while (!quit_) try {
        std::vector<std::size_t> chunks;
        {
          std::lock_guard lock(chunk_mutex_);
          if (auto next = chunk_sampler_.next(options_.cross_chunk_shuffle_count()))
            chunks = std::move(*next);
        }
        if (chunks.empty()) break;
        UnwrappedBatchType examples = chunk_reader_.read_chunk(chunks[0]);
        for (std::size_t i = 1; i < chunks.size(); ++i) {
          UnwrappedBatchType more = chunk_reader_.read_chunk(chunks[i]);
          std::move(more.begin(), more.end(), std::back_inserter(examples));
        }
        if (preprocessing_policy_) preprocessing_policy_(examples);
        if (!examples.empty()) queue_->add(std::move(examples));
      } catch (...) {
        queue_->add(std::current_exception());
      }
    if (--reading_ == 0) queue_->stop();
  }

  void end_epoch() {
    quit_ = true;
    if (queue_) queue_->stop();
    for (std::thread& each : preloaders_) each.join();
    preloaders_.clear();
  }

  ChunkReader chunk_reader_;
  ChunkSampler chunk_sampler_;
  ExampleSampler example_sampler_;
  ChunkDatasetOptions options_;
  std::function<void(UnwrappedBatchType&)> preprocessing_policy_;
  std::unique_ptr<Queue> queue_;
  std::vector<std::thread> preloaders_;
  mutable std::mutex chunk_mutex_;
  std::atomic<std::size_t> reading_{0};
  std::atomic<bool> quit_{false};
  bool loaded_ = false;
};

}  // namespace ebb::data::datasets
