// The driver's virtual memory management. Its functions are looked up through the runtime, because libcuda is
// not linked.
#include "cuda/virtual_memory.h"

#include <ebb/core/error.h>

#include "cuda/driver_entry.h"

#include <cstdint>

namespace ebb::cuda {
namespace {

struct Driver {
  decltype(&cuDeviceGet) device_get = nullptr;
  decltype(&cuDeviceGetAttribute) device_attribute = nullptr;
  decltype(&cuGetErrorString) error_string = nullptr;
  decltype(&cuMemGetAllocationGranularity) granularity = nullptr;
  decltype(&cuMemAddressReserve) reserve = nullptr;
  decltype(&cuMemAddressFree) free = nullptr;
  decltype(&cuMemCreate) create = nullptr;
  decltype(&cuMemRelease) release = nullptr;
  decltype(&cuMemMap) map = nullptr;
  decltype(&cuMemUnmap) unmap = nullptr;
  decltype(&cuMemSetAccess) set_access = nullptr;
  bool complete = false;
};

const Driver& driver() {
  static const Driver found = [] {
    Driver d;
    d.complete = find_in_driver(d.device_get, "cuDeviceGet") &&
                 find_in_driver(d.device_attribute, "cuDeviceGetAttribute") &&
                 find_in_driver(d.error_string, "cuGetErrorString") &&
                 find_in_driver(d.granularity, "cuMemGetAllocationGranularity") &&
                 find_in_driver(d.reserve, "cuMemAddressReserve") &&
                 find_in_driver(d.free, "cuMemAddressFree") && find_in_driver(d.create, "cuMemCreate") &&
                 find_in_driver(d.release, "cuMemRelease") && find_in_driver(d.map, "cuMemMap") &&
                 find_in_driver(d.unmap, "cuMemUnmap") && find_in_driver(d.set_access, "cuMemSetAccess");
    return d;
  }();
  return found;
}

void check(CUresult error, const char* what) {
  if (error == CUDA_SUCCESS) return;
  const char* words = nullptr;
  driver().error_string(error, &words);
  ebb::detail::fail("CUDA: ", what, " failed: ", words ? words : "unknown error", " (",
                    static_cast<int>(error), ").");
}

CUmemAllocationProp memory_of(Device device) {
  CUmemAllocationProp memory{};
  memory.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  memory.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  memory.location.id = static_cast<int>(device.index());
  return memory;
}

CUdeviceptr address(const char* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

}  // namespace

bool has_virtual_memory(Device device) noexcept {
  CUdevice handle = 0;
  int supported = 0;
  return driver().complete &&
         driver().device_get(&handle, static_cast<int>(device.index())) == CUDA_SUCCESS &&
         driver().device_attribute(&supported, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
                                   handle) == CUDA_SUCCESS &&
         supported;
}

std::size_t virtual_memory_granularity(Device device) {
  const CUmemAllocationProp memory = memory_of(device);
  std::size_t bytes = 0;
  check(driver().granularity(&bytes, &memory, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
        "cuMemGetAllocationGranularity");
  return bytes;
}

AddressRange::AddressRange(Device device, std::size_t bytes, std::size_t granule)
    : device_(device), bytes_(bytes), granule_(granule) {
  CUdeviceptr at = 0;
  check(driver().reserve(&at, bytes, 0, 0, 0), "cuMemAddressReserve");
  data_ = reinterpret_cast<char*>(at);
}

AddressRange::~AddressRange() { driver().free(address(data_), bytes_); }

bool AddressRange::map(char* from, std::size_t bytes) {
  const CUmemAllocationProp memory = memory_of(device_);
  std::size_t mapped = 0;
  CUresult error = CUDA_SUCCESS;
  const char* what = "cuMemCreate";
  for (; error == CUDA_SUCCESS && mapped < bytes; mapped += error == CUDA_SUCCESS ? granule_ : 0) {
    CUmemGenericAllocationHandle handle{};
    what = "cuMemCreate";
    error = driver().create(&handle, granule_, &memory, 0);
    if (error != CUDA_SUCCESS) continue;
    what = "cuMemMap";
    error = driver().map(address(from + mapped), granule_, 0, handle, 0);
    driver().release(handle);  // the mapping keeps the memory
  }
  if (error == CUDA_SUCCESS) {
    CUmemAccessDesc access{};
    access.location = memory.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    what = "cuMemSetAccess";
    error = driver().set_access(address(from), bytes, &access, 1);
  }
  if (error == CUDA_SUCCESS) return true;
  unmap(from, mapped);
  if (error == CUDA_ERROR_OUT_OF_MEMORY) return false;
  check(error, what);
  return false;
}

void AddressRange::unmap(char* from, std::size_t bytes) noexcept {
  // Unmaps granules one by one, as they were mapped. The driver does not guarantee that a part of a mapping,
  // or several mappings together, can be unmapped.
  for (std::size_t done = 0; done < bytes; done += granule_) driver().unmap(address(from + done), granule_);
}

}  // namespace ebb::cuda
