// The kernels that may be launched: those of the plugin's object files, and those that are made at run time.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "cuda/ptx/interpreter/interpreter.h"
#include "cuda/ptx/runtime/fat_binary.h"

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
