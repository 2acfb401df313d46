// Expandable segments: the virtual memory of the emulated driver, and the allocator on top of it.
#include "cuda/virtual_memory.h"

#include <ebb/core/error.h>

#include "cuda/caching_allocator.h"
#include "cuda/emu/runtime/state.h"
#include "support/catch.h"

#include <cuda.h>

#include <cstring>
#include <map>
#include <random>
#include <thread>

using namespace ebb;
using namespace ebb::cuda;
using support::Contains;

namespace {

const Device kFirst("cuda:0");
constexpr std::size_t kMiB = std::size_t{1} << 20;

constexpr MemorySource kDriver = {
    [](void** pointer, std::size_t bytes) { return cudaMalloc(pointer, bytes); },
    [](void* pointer) { return cudaFree(pointer); },
    [](std::size_t* free, std::size_t* total) { return cudaMemGetInfo(free, total); }};

std::size_t device_free() {
  std::size_t free = 0, total = 0;
  cudaMemGetInfo(&free, &total);
  return free;
}

struct OwnStream {
  cudaStream_t handle = nullptr;
  OwnStream() { cudaStreamCreateWithFlags(&handle, cudaStreamNonBlocking); }
  ~OwnStream() { cudaStreamDestroy(handle); }
};

}  // namespace

TEST_CASE("an address range maps and unmaps memory in granules") {
  REQUIRE(has_virtual_memory(kFirst));
  const std::size_t granule = virtual_memory_granularity(kFirst), before = device_free();
  {
    AddressRange range(kFirst, 8 * granule, granule);
    CHECK(device_free() == before);
    REQUIRE(range.map(range.data() + granule, 3 * granule));
    CHECK(device_free() == before - 3 * granule);
    {
      const emu::DeviceAccess access;
      std::memset(range.data() + granule, 7, 3 * granule);
      CHECK(range.data()[4 * granule - 1] == 7);
    }
    range.unmap(range.data() + 2 * granule, granule);
    CHECK(device_free() == before - 2 * granule);
    REQUIRE(range.map(range.data() + 2 * granule, granule));
    {
      const emu::DeviceAccess access;
      CHECK(range.data()[2 * granule] == 0);  // other memory is mapped after it
      CHECK(range.data()[3 * granule] == 7);
    }
    CHECK_THROWS_WITH(range.map(range.data() + 3 * granule, 2 * granule), Contains("cuMemMap failed"));
    CHECK(device_free() == before - 3 * granule);
    range.unmap(range.data() + granule, 3 * granule);
  }
  CHECK(device_free() == before);
}

TEST_CASE("a mapping that does not fit on the device fails as a whole and maps no granule") {
  const std::size_t granule = virtual_memory_granularity(kFirst), before = device_free();
  AddressRange range(kFirst, before + 4 * granule, granule);
  CHECK_FALSE(range.map(range.data(), before + granule));
  CHECK(device_free() == before);
  CHECK(range.map(range.data(), granule));
  range.unmap(range.data(), granule);
}

TEST_CASE("the emulated driver refuses the virtual memory calls that the real one refuses") {
  const std::size_t granule = virtual_memory_granularity(kFirst);
  CUmemAllocationProp memory{CU_MEM_ALLOCATION_TYPE_PINNED, {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
  CUdeviceptr at = 0;
  CUmemGenericAllocationHandle handle = 0;
  REQUIRE(cuMemAddressReserve(&at, 4 * granule, 0, 0, 0) == CUDA_SUCCESS);
  REQUIRE(cuMemCreate(&handle, 2 * granule, &memory, 0) == CUDA_SUCCESS);
  CHECK(cuMemCreate(&handle, granule / 2, &memory, 0) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemMap(at + 3 * granule, 2 * granule, 0, handle, 0) ==
        CUDA_ERROR_INVALID_VALUE);                                         // outside the range
  CHECK(cuMemMap(at, granule, 0, handle, 0) == CUDA_ERROR_INVALID_VALUE);  // not the whole handle
  REQUIRE(cuMemMap(at, 2 * granule, 0, handle, 0) == CUDA_SUCCESS);
  CHECK(cuMemMap(at + granule, 2 * granule, 0, handle, 0) == CUDA_ERROR_INVALID_VALUE);  // already mapped
  CUmemAccessDesc access{memory.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  CHECK(cuMemSetAccess(at, 3 * granule, &access, 1) == CUDA_ERROR_INVALID_VALUE);  // a part has no memory
  CHECK(cuMemUnmap(at, granule) == CUDA_ERROR_INVALID_VALUE);                      // only a part of a mapping
  CHECK(cuMemAddressFree(at, 4 * granule) == CUDA_ERROR_INVALID_VALUE);            // still mapped
  CHECK(cuMemRelease(handle) == CUDA_SUCCESS);
  CHECK(cuMemRelease(handle) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemUnmap(at, 2 * granule) == CUDA_SUCCESS);
  CHECK(cuMemAddressFree(at, granule) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemAddressFree(at, 4 * granule) == CUDA_SUCCESS);
}

TEST_CASE("an expandable segment grows where fixed segments would leave gaps") {
  const std::size_t before = device_free();
  CachingAllocator allocator(kDriver, kFirst, true);
  MemoryBlock* const a = allocator.allocate(30 * kMiB, nullptr);
  MemoryBlock* const b = allocator.allocate(50 * kMiB, nullptr);
  CHECK(b->data == a->data + a->bytes);
  CHECK(device_free() == before - 80 * kMiB);  // granules of 20 MiB
  char* const place = a->data;
  allocator.free(a);
  allocator.free(b);
  MemoryBlock* const c = allocator.allocate(100 * kMiB, nullptr);  // more than any free part
  CHECK(c->data == place);
  CHECK(device_free() == before - 100 * kMiB);
  CHECK(allocator.stats().cached == 0);
  allocator.free(c);
  allocator.empty_cache();
  CHECK(device_free() == before);
  CHECK(allocator.stats().cached == 0);
}

TEST_CASE("empty_cache unmaps the free parts of an expandable segment") {
  const std::size_t before = device_free();
  CachingAllocator allocator(kDriver, kFirst, true);
  MemoryBlock* blocks[5];
  for (MemoryBlock*& block : blocks) block = allocator.allocate(20 * kMiB, nullptr);
  char* const hole = blocks[1]->data;
  for (const int i : {1, 2, 4}) allocator.free(blocks[i]);
  allocator.empty_cache();
  CHECK(device_free() == before - 40 * kMiB);
  {
    const emu::DeviceAccess access;
    std::memset(blocks[0]->data, 1, blocks[0]->bytes);
    std::memset(blocks[3]->data, 2, blocks[3]->bytes);
  }
  MemoryBlock* const again = allocator.allocate(35 * kMiB, nullptr);  // fits into the hole with two granules
  CHECK(again->data == hole);
  CHECK(device_free() == before - 80 * kMiB);
  {
    const emu::DeviceAccess access;
    std::memset(again->data, 3, again->bytes);
    CHECK(blocks[3]->data[0] == 2);
  }
  for (MemoryBlock* const block : {blocks[0], blocks[3], again}) allocator.free(block);
  allocator.empty_cache();
  CHECK(device_free() == before);
}

TEST_CASE("each stream has one address range for large blocks and one for small blocks") {
  const OwnStream side;
  CachingAllocator allocator(kDriver, kFirst, true);
  MemoryBlock* const large = allocator.allocate(2 * kMiB, nullptr);
  MemoryBlock* const small = allocator.allocate(100, nullptr);
  MemoryBlock* const other = allocator.allocate(2 * kMiB, side.handle);
  CHECK(large->range != small->range);
  CHECK(large->range != other->range);
  for (MemoryBlock* const block : {large, small, other}) allocator.free(block);
  MemoryBlock* const again = allocator.allocate(3 * kMiB, side.handle);
  CHECK(again->range == other->range);
  allocator.free(again);
  allocator.empty_cache();
}

TEST_CASE("free memory of all ranges is unmapped on a full device before a request fails") {
  const OwnStream side;
  const std::size_t before = device_free();
  CachingAllocator allocator(kDriver, kFirst, true);
  MemoryBlock* const kept = allocator.allocate(100 * kMiB, nullptr);
  allocator.free(allocator.allocate(before - 200 * kMiB, side.handle));
  MemoryBlock* const big = allocator.allocate(before - 200 * kMiB, nullptr);
  CHECK(big->range == kept->range);
  CHECK_THROWS_WITH(allocator.allocate(300 * kMiB, nullptr), Contains("out of memory on cuda:0"));
  CHECK_THROWS_WITH(allocator.allocate(std::size_t{1} << 45, nullptr), Contains("out of memory on cuda:0"));
  allocator.free(kept);
  allocator.free(big);
  allocator.empty_cache();
  CHECK(device_free() == before);
}

TEST_CASE("memory in use by queued work is not unmapped", "[waiting]") {
  const OwnStream side;
  CachingAllocator allocator(kDriver, kFirst, true);
  MemoryBlock* const block = allocator.allocate(20 * kMiB, side.handle);
  cudaMemsetAsync(block->data, 5, block->bytes, side.handle);  // with EBB_EMU_LAZY=1 it has not run yet
  allocator.free(block);
  allocator.empty_cache();  // without a wait, the work would find no memory: a segmentation fault
  CHECK(cudaStreamQuery(side.handle) == cudaSuccess);
}

TEST_CASE("blocks of expandable segments never overlap if any driver call fails") {
  const std::size_t before = device_free();
  int failures = 0;
  for (int fails = -1; fails < 24; ++fails) {
    CachingAllocator allocator(kDriver, kFirst, true);
    std::mt19937 random(static_cast<unsigned>(fails + 1));
    std::map<char*, MemoryBlock*> used;
    emu::fail_call(fails);
    for (int step = 0; step < 600; ++step) {
      const unsigned choice = random() % 40;
      if (choice < 20 || used.empty()) {
        const std::size_t bytes = (std::size_t{1} << (random() % 26)) + random() % 1000;
        MemoryBlock* block = nullptr;
        try {
          block = allocator.allocate(bytes, nullptr);
        } catch (const Error&) {
          ++failures;
          continue;
        }
        REQUIRE(block->bytes >= bytes);
        const auto next = used.lower_bound(block->data);
        if (next != used.end()) REQUIRE(block->data + block->bytes <= next->first);
        if (next != used.begin())
          REQUIRE(std::prev(next)->first + std::prev(next)->second->bytes <= block->data);
        used.emplace(block->data, block);
        const emu::DeviceAccess access;
        block->data[0] = block->data[block->bytes - 1] = 1;
      } else if (choice < 39) {
        const auto victim = std::next(used.begin(), static_cast<std::ptrdiff_t>(random() % used.size()));
        allocator.free(victim->second);
        used.erase(victim);
      } else {
        allocator.empty_cache();
      }
    }
    emu::fail_call(-1);
    for (const auto& [place, block] : used) allocator.free(block);
    allocator.empty_cache();
    CHECK(allocator.stats().current == 0);
    CHECK(allocator.stats().cached == 0);
    CHECK(device_free() == before);
  }
  CHECK(failures > 3);
}
