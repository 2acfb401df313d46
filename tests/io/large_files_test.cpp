// Archives above 4 GiB with one entry of that size: they are written, and read in the memory of their
// tensors. The test runs only if EBB_TEST_LARGE gives the GiB of memory that it may use.
#include <ebb/core/allocator.h>
#include <ebb/ebb.h>
#include <ebb/io/npy.h>
#include <ebb/io/pytorch.h>

#include "support/catch.h"
#include "support/files.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <sstream>

using namespace ebb;
using Named = std::vector<std::pair<std::string, Tensor>>;

namespace {

constexpr std::int64_t kChunk = std::int64_t{1} << 26, kChunks = 65, kSmall = 100001;
constexpr std::uint64_t kGiB = std::uint64_t{1} << 30, kMemory = 6, kDisk = 5;  // in GiB

// Random bytes; each chunk of the large tensor adds its index.
Tensor pattern() {
  ebb::manual_seed(5);
  return randint(0, 256, {kChunk}, kByte);
}

Named make() {
  const Tensor bytes = pattern(), large = empty({kChunks * kChunk + 3}, kByte).zero_();
  for (std::int64_t i = 0; i < kChunks; ++i) large.narrow(0, i * kChunk, kChunk).copy_(bytes + i);
  return {{"first", arange(kSmall, kLong)},
          {"large", large},
          {"half", arange(2000, kHalf)},
          {"last", arange(kSmall, kDouble).view({-1, 1})}};
}

bool is_whole(const Named& read) {
  const Tensor bytes = pattern(), large = read.at(1).second;
  if (large.numel() != kChunks * kChunk + 3 || large.narrow(0, kChunks * kChunk, 3).any().item<bool>())
    return false;
  for (std::int64_t i = 0; i < kChunks; ++i)
    if (!equal(large.narrow(0, i * kChunk, kChunk), bytes + i)) return false;
  return read.size() == 4 && equal(read[0].second, arange(kSmall, kLong)) &&
         equal(read[2].second, arange(2000, kHalf)) &&
         equal(read[3].second, arange(kSmall, kDouble).view({-1, 1}));
}

// The peak resident memory of the process since the last call.
std::uint64_t resident_peak() {
  std::ifstream status("/proc/self/status");
  std::uint64_t kilobytes = 0;
  for (std::string word; status >> word;)
    if (word == "VmHWM:") status >> kilobytes;
  std::ofstream("/proc/self/clear_refs") << 5;
  return kilobytes << 10;
}

Named tensors_of(const pytorch::Value& value) {
  Named tensors;
  for (const auto& [name, entry] : value.as_dict()) tensors.emplace_back(name.as_string(), entry.as_tensor());
  return tensors;
}

// Returns false and prints the reason if the test may not run.
bool may_run() {
  const char* const allowed = std::getenv("EBB_TEST_LARGE");
  const std::uint64_t room = std::filesystem::space(support::temporary("")).available;
  if (allowed && std::strtoull(allowed, nullptr, 10) >= kMemory && room >= kDisk * kGiB) return true;
  std::cout << "skipped: archives above 4 GiB need EBB_TEST_LARGE=" << kMemory
            << " (GiB of memory) or more, and " << kDisk << " GiB of disk" << std::endl;
  return false;
}

}  // namespace

TEST_CASE("an archive with more than 65535 entries has a zip64 record with their number") {
  Named many;
  const Tensor one = ones({1}, kByte);
  for (int i = 0; i < 65600; ++i) many.emplace_back(std::to_string(i), one + 0);
  std::ostringstream out;
  pytorch::write(out, many);
  const std::string file = out.str();
  CHECK(file.substr(file.size() - 42, 4) == "PK\6\7");
  std::istringstream in(file);
  CHECK(pytorch::read(in).as_dict().size() == 65600);
}

TEST_CASE("archives above 4 GiB are written and read with little more memory than their tensors need",
          "[.large]") {
  if (!may_run()) return;
  struct Row {
    const char* file;
    std::function<void(const std::string&, const Named&)> write;
    std::function<Named(const std::string&)> read;
  };
  const auto of_torch = [](const std::string& path) { return tensors_of(pytorch::read(path)); };
  const Row rows[] = {
      {"large.pt", [](auto& path, auto& all) { pytorch::write(path, all); }, of_torch},
      {"archive.pt", [](auto& path, auto& all) { pytorch::write_archive(path, all); }, of_torch},
      {"large.npz", [](auto& path, auto& all) { npy::write_npz(path, all); },
       [](auto& path) { return npy::read_npz(path); }}};
  constexpr std::uint64_t kSlack = std::uint64_t{64} << 20;
  for (const Row& row : rows) {
    INFO(row.file);
    const std::string path = support::temporary(row.file);
    {
      const Named all = make();
      resident_peak();
      const std::uint64_t before = resident_peak();
      row.write(path, all);
      CHECK(resident_peak() < before + kSlack);
    }
    CHECK(std::filesystem::file_size(path) > 4 * kGiB);
    empty_cache();
    resident_peak();
    const std::uint64_t before = resident_peak();
    reset_peak();
    const Named read = row.read(path);
    CHECK(resident_peak() < before + static_cast<std::uint64_t>(kChunks * kChunk) + kSlack);
    CHECK(memory_stats().peak == memory_stats().current);
    CHECK(is_whole(read));
    std::filesystem::remove(path);
  }
}
