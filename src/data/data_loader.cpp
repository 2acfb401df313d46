// Common parts of data loaders and pipelines: page-locked batches, the position in an archive, errors of
// workers, and random positions of shuffles.
#include <ebb/cuda/cuda.h>
#include <ebb/data/data_loader.h>
#include <ebb/data/pinned.h>
#include <ebb/data/pipeline.h>
#include <ebb/data/worker_exception.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/random.h>

#include "core/messages.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace ebb::data {

Variable pinned(Variable x) {
  if (!x.defined() || !x.device().is_cpu() || !cuda::is_available()) return x;
  return x.pin_memory();
}

}  // namespace ebb::data

namespace ebb::data::detail {

void write_position(serialize::OutputArchive& archive, const optional<std::size_t>& batches) {
  archive.write("batches",
                scalar_tensor(batches ? static_cast<std::int64_t>(*batches) : -1, TensorOptions(kLong)),
                true);
}

optional<std::size_t> read_position(serialize::InputArchive& archive) {
  Variable tensor;
  archive.read("batches", tensor, true);
  EBB_CHECK(tensor.numel() == 1 && is_integral(tensor.dtype()) && tensor.item<std::int64_t>() >= -1,
            "DataLoader::load: \"batches\" must be one integer, at least -1.");
  const std::int64_t batches = tensor.item<std::int64_t>();
  return batches < 0 ? nullopt : optional<std::size_t>(static_cast<std::size_t>(batches));
}

}  // namespace ebb::data::detail

namespace ebb::data {
namespace {

std::string message_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    return std::string(e.what()) + "\n  of type " + ebb::detail::demangled(typeid(e));
  } catch (...) {
    return "not a std::exception";
  }
}

}  // namespace

WorkerException::WorkerException(std::exception_ptr original, const std::string& where)
    : Error("Caught exception in DataLoader worker thread. Original message: " + message_of(original) +
            (where.empty() ? "" : "\n  " + where)),
      original_exception(std::move(original)) {}

std::string detail::request_text(const std::type_info& dataset, const std::vector<std::size_t>& indices) {
  constexpr std::size_t kMost = 16;
  std::string text = "reading the examples [";
  for (std::size_t i = 0; i < std::min(indices.size(), kMost); ++i)
    text += (i > 0 ? ", " : "") + std::to_string(indices[i]);
  return text + (indices.size() > kMost ? ", ...] of " : "] of ") + ebb::detail::demangled(dataset);
}
std::string detail::request_text(const std::type_info& dataset) {
  return "reading a batch of " + ebb::detail::demangled(dataset);
}

}  // namespace ebb::data

namespace ebb::data::detail {

RandomIndices::RandomIndices()
    : state_(static_cast<std::uint64_t>(
          randint(std::numeric_limits<std::int64_t>::max(), {1}, kLong).item<std::int64_t>())) {}

// SplitMix64 (Steele, Lea and Flood 2014).
std::size_t RandomIndices::below(std::size_t count) {
  state_ += 0x9e3779b97f4a7c15U;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return static_cast<std::size_t>((z ^ (z >> 31)) % count);
}

}  // namespace ebb::data::detail
