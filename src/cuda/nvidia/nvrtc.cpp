// NVRTC without its header: the library is opened at run time and not linked.
#include "cuda/nvidia/nvrtc.h"

#include <ebb/core/error.h>

#include "cuda/jit_kernels.h"
#include "cuda/nvidia/library_folders.h"

#include <dlfcn.h>

#include <memory>
#include <vector>

namespace ebb::cuda {
namespace {

using Result = int;  // 0: success
using Program = struct OpaqueProgram*;

struct Library {
  Result (*version)(int* major, int* minor) = nullptr;
  const char* (*error_string)(Result result) = nullptr;
  Result (*create)(Program* program, const char* source, const char* name, int headers,
                   const char* const* texts, const char* const* names) = nullptr;
  Result (*destroy)(Program* program) = nullptr;
  Result (*compile)(Program program, int options, const char* const* texts) = nullptr;
  Result (*code_size)(Program program, std::size_t* bytes) = nullptr;
  Result (*code)(Program program, char* to) = nullptr;
  Result (*log_size)(Program program, std::size_t* bytes) = nullptr;
  Result (*log)(Program program, char* to) = nullptr;
};

// A GPU runs machine code. The interpreter of EBB_CUDA=PTX reads PTX instead.
#if defined(EBB_CUDA_PTX)
constexpr const char *kTarget = "compute_", *kCodeSize = "nvrtcGetPTXSize", *kCode = "nvrtcGetPTX";
#else
constexpr const char *kTarget = "sm_", *kCodeSize = "nvrtcGetCUBINSize", *kCode = "nvrtcGetCUBIN";
#endif

template <class F>
bool find(void* library, const char* name, F& function) {
  function = reinterpret_cast<F>(dlsym(library, name));
  return function != nullptr;
}

// Opens the library, which is never closed.
const Library* open(const std::string& path) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) return nullptr;
  Library l;
  if (find(library, "nvrtcVersion", l.version) && find(library, "nvrtcGetErrorString", l.error_string) &&
      find(library, "nvrtcCreateProgram", l.create) && find(library, "nvrtcDestroyProgram", l.destroy) &&
      find(library, "nvrtcCompileProgram", l.compile) && find(library, kCodeSize, l.code_size) &&
      find(library, kCode, l.code) && find(library, "nvrtcGetProgramLogSize", l.log_size) &&
      find(library, "nvrtcGetProgramLog", l.log))
    return new Library(l);
  dlclose(library);
  return nullptr;
}

const Library& library_of(int major) {
  const std::string name = detail::text("libnvrtc.so.", major);
  static const Library* const found = [&] {
    const Library* l = open(name);
    for (const std::string& folder : library_folders("cuda_nvrtc"))
      if (!l) l = open(folder + name);
    return l;
  }();
  EBB_CHECK(found, name, " cannot be found. Install NVRTC of CUDA ", major,
            ", or add its folder to LD_LIBRARY_PATH.");
  return *found;
}

// Returns the options, which equal those of the plugin's kernels, without fast math.
// --device-as-default-execution-space also compiles functions of ebb's headers without annotation for the
// device.
std::vector<std::string> options_for(int architecture) {
  return {detail::text("--gpu-architecture=", kTarget, architecture), "--std=c++20",
          "--device-as-default-execution-space", "--fmad=true", "--diag-suppress=161,186,1097"};
}

// The standard headers that ebb's headers include. They are replaced by nvidia/device_std.h.
constexpr const char* kStandIns[] = {"array",       "bit",    "cmath",      "concepts", "cstddef",
                                     "cstdint",     "iosfwd", "limits",     "string",   "stdexcept",
                                     "string_view", "tuple",  "type_traits"};
constexpr const char* kStandIn = "#include \"cuda/nvidia/device_std.h\"\n";

}  // namespace

std::string nvrtc_stamp(int major, int architecture) {
  int found[2] = {};
  library_of(major).version(&found[0], &found[1]);
  std::string stamp = detail::text("NVRTC ", found[0], ".", found[1]);
  for (const std::string& option : options_for(architecture)) stamp += ' ' + option;
  return stamp;
}

std::string compile_by_nvrtc(int major, int architecture, const std::string& source) {
  const Library& l = library_of(major);
  const auto check = [&](Result result, const char* what) {
    EBB_CHECK(result == 0, "NVRTC: ", what, " failed: ", l.error_string(result), ".");
  };
  std::vector<const char*> names, texts, options;
  for (const EmbeddedHeader& header : embedded_headers()) {
    names.push_back(header.name);
    texts.push_back(header.text);
  }
  for (const char* name : kStandIns) {
    names.push_back(name);
    texts.push_back(kStandIn);
  }
  Program made = nullptr;
  check(
      l.create(&made, source.c_str(), "chain.cu", static_cast<int>(names.size()), texts.data(), names.data()),
      "a program");
  const auto destroy = [&l](Program program) { l.destroy(&program); };
  const std::unique_ptr<OpaqueProgram, decltype(destroy)> program(made, destroy);
  const std::vector<std::string> wanted = options_for(architecture);
  for (const std::string& each : wanted) options.push_back(each.c_str());
  const Result result = l.compile(program.get(), static_cast<int>(options.size()), options.data());
  std::size_t bytes = 0;
  if (result != 0) {
    l.log_size(program.get(), &bytes);
    std::string log(bytes, '\0');
    l.log(program.get(), log.data());
    detail::fail("NVRTC: ", l.error_string(result), ": ", log.c_str());
  }
  check(l.code_size(program.get(), &bytes), "getting the size of the compiled code");
  std::string code(bytes, '\0');
  check(l.code(program.get(), code.data()), "getting the compiled code");
  return code;
}

}  // namespace ebb::cuda
