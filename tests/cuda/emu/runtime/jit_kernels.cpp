// Run-time compiled kernels: the host compiler builds shared objects from the same sources that NVRTC
// compiles for a GPU. EBB_EMU_COMPILER sets another compiler command, for tests.
#include "cuda/jit_kernels.h"

#include <ebb/core/error.h>

#include "kernel/cuda/device.h"

#include <cuda_runtime.h>
#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

namespace ebb::cuda {
namespace fs = std::filesystem;
namespace {

// The interface of the object: one thread of a grid, whether the threads of a block use barriers, and the
// functions that they then call, because an object is linked with no library.
using RunThread = void (*)(const void* argument, unsigned block, unsigned thread);
using Wait = void (*)();

constexpr const char* kBefore =
    "#include \"cuda/emu/runtime/intrinsics.h\"\n"
    "extern \"C\" { void (*wait_for_block)() = nullptr; }\n"
    "void ebb::emu::wait_for_block() { ::wait_for_block(); }\n";
constexpr const char* kAfter =
    "template <class A>\n"
    "concept Meets = requires { typename A::Totals; };\n"
    "extern \"C\" { extern const bool has_barriers = Meets<Argument>; }\n"
    "extern \"C\" void run_thread(const void* argument, unsigned block, unsigned thread) {\n"
    "  blockIdx.x = block;\n"
    "  threadIdx.x = thread;\n"
    "  jit_kernel(*static_cast<const Argument*>(argument));\n"
    "}\n";

std::string command(const char* compiler) {
  return detail::text(compiler,
                      " -std=c++20 -O1 -ffp-contract=off -fPIC -shared -w -DEBB_CUDA_EMU -I" EBB_SOURCE_DIR
                      "/src -I" EBB_SOURCE_DIR "/tests -I" EBB_SOURCE_DIR "/include");
}

std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A folder that is deleted with this object.
struct Folder {
  fs::path path;
  Folder() {
    std::string name = (fs::temp_directory_path() / "ebb-kernel-XXXXXX").string();
    EBB_CHECK(mkdtemp(name.data()), "compile: there is no folder for temporary files.");
    path = name;
  }
  ~Folder() {
    std::error_code error;
    fs::remove_all(path, error);
  }
  Folder(const Folder&) = delete;
};

class OpenedKernel final : public ebb::detail::JitKernel {
 public:
  OpenedKernel(Device device, RunThread run, bool independent)
      : device_(device), run_(run), independent_(independent) {}

  void launch(unsigned blocks, unsigned threads, const void* argument, std::size_t bytes) const override {
    const DeviceScope scope(device_);
    const auto* const first = static_cast<const std::uint64_t*>(argument);
    const std::vector<std::uint64_t> kept(first, first + bytes / sizeof(std::uint64_t));
    if (emu::null_launch) return;
    const auto run_grid = [run = run_, independent = independent_, blocks, threads, kept] {
      emu::run_grid(dim3(blocks), dim3(threads), 0, independent,
                    [&] { run(kept.data(), blockIdx.x, threadIdx.x); });
    };
    check(emu::enqueue_action(current_stream(device_), run_grid), "kernel launch");
  }

 private:
  Device device_;
  RunThread run_;
  bool independent_;
};

}  // namespace

std::string compiler_for(Device) { return command(EBB_HOST_COMPILER); }

std::string compile_kernel(Device, const std::string& source) {
  const Folder folder;
  const fs::path text = folder.path / "chain.cpp", object = folder.path / "chain.so",
                 log = folder.path / "log";
  std::ofstream(text) << kBefore << source << kAfter;
  const char* const other = std::getenv("EBB_EMU_COMPILER");
  const std::string line = command(other ? other : EBB_HOST_COMPILER) + " -o " + object.string() + ' ' +
                           text.string() + " >" + log.string() + " 2>&1";
  EBB_CHECK(std::system(line.c_str()) == 0, "the host's compiler: ", bytes_of(log));
  return bytes_of(object);
}

std::shared_ptr<const ebb::detail::JitKernel> load_kernel(Device device, const std::string& image) {
  const Folder folder;  // the file of an object may be deleted after it is opened
  const fs::path object = folder.path / "chain.so";
  std::ofstream(object, std::ios::binary) << image;
  void* const library = dlopen(object.c_str(), RTLD_NOW | RTLD_LOCAL);
  EBB_CHECK(library, "a compiled kernel cannot be opened.");
  const auto run = reinterpret_cast<RunThread>(dlsym(library, "run_thread"));
  auto* const wait = static_cast<Wait*>(dlsym(library, "wait_for_block"));
  const auto* const has_barriers = static_cast<const bool*>(dlsym(library, "has_barriers"));
  EBB_CHECK(run && wait && has_barriers, "a compiled kernel has no entry.");
  *wait = &emu::wait_for_block;
  return std::make_shared<OpenedKernel>(device, run, !*has_barriers);
}

}  // namespace ebb::cuda
