// open_transport: the backend "self", and the plugins of other backends.
#include <ebb/core/environment.h>

#include "distributed/transport.h"

#include <dlfcn.h>

#include <cstring>
#include <sstream>

namespace ebb::distributed {
namespace {

struct Finished : Operation {
  bool test() override { return true; }
};

// A world of one process, which sends to itself by copies.
class SelfTransport : public Transport {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  std::unique_ptr<Operation> start(const Request& request) override {
    const auto bytes = static_cast<std::size_t>(request.receive_count * element_size(request.dtype));
    if (request.send && request.receive != request.send && bytes > 0)
      std::memcpy(request.receive, request.send, bytes);
    return std::make_unique<Finished>();
  }
  std::unique_ptr<Transport> split(const std::vector<int>&) override {
    return std::make_unique<SelfTransport>();
  }
};

// Opens a library in the folder of this one, on the system's path, or in a folder of EBB_PLUGIN_PATH. The
// loader would find the first one by RUNPATH too, but not through the dlopen of AddressSanitizer.
void* open_library(const std::string& name, const std::string& backend) {
  Dl_info own{};
  dladdr(reinterpret_cast<void*>(&open_transport), &own);
  const std::string path = own.dli_fname ? own.dli_fname : "";
  std::vector<std::string> paths = {path.substr(0, path.rfind('/') + 1) + name, name};
  const char* const variable = ebb::detail::environment("EBB_PLUGIN_PATH");
  std::istringstream folders(variable ? variable : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (!folder.empty()) paths.push_back(folder + '/' + name);
  std::string reasons;
  for (const std::string& candidate : paths) {
    if (void* const library = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
    reasons += ebb::detail::text(dlerror(), ". ");
  }
  ebb::detail::fail("distributed::init: the backend \"", backend, "\" needs the plugin ", name,
                    ", which cannot be opened: ", reasons,
                    backend == "mpi" ? "Install MPI (Debian: libopenmpi-dev) and build ebb again"
                                     : "Choose the backend \"mpi\", or build ebb with this backend",
                    ", or name the folder of the plugin in EBB_PLUGIN_PATH");
}

}  // namespace

std::unique_ptr<Transport> open_transport(const std::string& backend, const Setup& setup) {
  if (backend == "self") return std::make_unique<SelfTransport>();
  EBB_CHECK(!backend.empty() && backend.find('/') == backend.npos, "distributed::init: \"", backend,
            "\" is no name of a backend. Use \"mpi\", \"nccl\" or \"self\"");
  const std::string name = "libebb_" + backend + ".so";
  void* const library = open_library(name, backend);
  const auto entry = reinterpret_cast<TransportEntry>(dlsym(library, kTransportEntry));
  EBB_CHECK(entry, "distributed::init: ", name, " is no backend of ebb::distributed: it has no function ",
            kTransportEntry, ". Choose another backend");
  return std::unique_ptr<Transport>(entry(kTransportAbi, setup));
}

}  // namespace ebb::distributed
