// The launchable kernels, and fat binaries, which nvcc embeds into object files.
#pragma once

#include "cuda/ptx/interpreter/interpreter.h"

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Fat binaries, which nvcc embeds into object files.

namespace ebb::ptx {

/// The PTX of one object file. A text is parsed on the first use of one of its entries, so that process start
/// stays fast.
class FatBinary {
 public:
  /// `wrapper` is registered by the object file. Throws std::runtime_error if it contains no readable PTX.
  explicit FatBinary(const void* wrapper);

  /// The entry of that name, or null. Throws std::runtime_error for invalid PTX.
  Entry* find(std::string_view name);

 private:
  std::mutex mutex_;
  std::vector<std::string_view> texts_;  // in memory of the plugin
  std::vector<std::shared_ptr<Module>> modules_;
};

}  // namespace ebb::ptx

// The launchable kernels: those of the plugin's object files, and run-time compiled ones.

struct CUstream_st;

namespace ebb::ptx {

/// A kernel of a fat binary, or one that is already loaded.
class Kernel {
 public:
  Kernel(std::string name, FatBinary* home) : name_(std::move(name)), home_(home) {}
  Kernel(std::string name, Entry* entry) : name_(std::move(name)), entry_(entry) {}

  /// The mangled name.
  const std::string& name() const { return name_; }
  /// Parses the PTX on first use. Throws std::runtime_error if it has no such entry.
  Entry& entry();

  /// The maximum dynamic shared memory of a launch, which cudaFuncSetAttribute changes.
  std::size_t most_dynamic_shared() const { return most_dynamic_shared_; }
  void set_most_dynamic_shared(std::size_t bytes) { most_dynamic_shared_ = bytes; }

 private:
  std::string name_;
  FatBinary* home_ = nullptr;
  Entry* entry_ = nullptr;
  std::size_t most_dynamic_shared_ = 48 << 10;
};

/// Adds a kernel that is launched by the address of a host function. Kernels live until the process ends.
void add_kernel(const void* host, std::string name, FatBinary& home);
/// The kernel for such an address, or for the Kernel itself, which __cudaGetKernel returns; null if there is
/// none.
Kernel* find_kernel(const void* host_or_kernel);

/// A launch, refused by device limits or queued on a stream. `arguments` point to the values of the
/// parameters. Returns a cudaError_t.
int launch(Kernel& kernel, const Grid& grid, void* const* arguments, CUstream_st* stream);

}  // namespace ebb::ptx
