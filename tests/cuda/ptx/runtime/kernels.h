// The kernels that may be launched, and fat binaries, which nvcc embeds into object files for the device.
#pragma once

#include "cuda/ptx/interpreter/interpreter.h"

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Fat binaries: what nvcc embeds into an object file for the device.

namespace ebb::ptx {

/// The PTX of one object file. A text is parsed when one of its entries is first asked for, so that the start
/// of a process costs nothing.
class FatBinary {
 public:
  /// `wrapper` is what the object file registers. Throws std::runtime_error where it has no readable PTX.
  explicit FatBinary(const void* wrapper);

  /// The entry of that name, or null. Throws std::runtime_error where a text is not PTX.
  Entry* find(std::string_view name);

 private:
  std::mutex mutex_;
  std::vector<std::string_view> texts_;  // in the memory of the plugin
  std::vector<std::shared_ptr<Module>> modules_;
};

}  // namespace ebb::ptx

// The kernels that may be launched: those of the plugin's object files, and those that are made at run time.

struct CUstream_st;

namespace ebb::ptx {

/// A kernel of a fat binary, or one that was loaded already.
class Kernel {
 public:
  Kernel(std::string name, FatBinary* home) : name_(std::move(name)), home_(home) {}
  Kernel(std::string name, Entry* entry) : name_(std::move(name)), entry_(entry) {}

  /// Mangled.
  const std::string& name() const { return name_; }
  /// Parses the PTX where that was not done yet. Throws std::runtime_error where it has no such entry.
  Entry& entry();

  /// The most dynamic shared memory of a launch: cudaFuncSetAttribute changes it.
  std::size_t most_dynamic_shared() const { return most_dynamic_shared_; }
  void set_most_dynamic_shared(std::size_t bytes) { most_dynamic_shared_ = bytes; }

 private:
  std::string name_;
  FatBinary* home_ = nullptr;
  Entry* entry_ = nullptr;
  std::size_t most_dynamic_shared_ = 48 << 10;
};

/// Adds a kernel that is launched by the address of a function of the host. Kernels live as long as the
/// process.
void add_kernel(const void* host, std::string name, FatBinary& home);
/// The kernel behind such an address, or behind the Kernel itself, which is what __cudaGetKernel hands out;
/// null where there is none.
Kernel* find_kernel(const void* host_or_kernel);

/// A launch, refused by the limits of a device or queued on a stream. `arguments` point to the parameters'
/// values. The result is a cudaError_t.
int launch(Kernel& kernel, const Grid& grid, void* const* arguments, CUstream_st* stream);

}  // namespace ebb::ptx
