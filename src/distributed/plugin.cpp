// open_transport: the backend "self", and the plugins of other backends.
#include <ebb/core/environment.h>

#include "distributed/transport.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string_view>

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
  void post(int, const Note&) override {}
  std::optional<std::pair<int, Note>> poll() override { return std::nullopt; }
  void close(bool) override {}
};

// Returns the folders that may contain plugins: that of this library or program, and those of
// EBB_PLUGIN_PATH.
std::vector<std::string> folders() {
  std::vector<std::string> found;
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&open_transport), &info) && info.dli_fname) {
    const std::string_view path = info.dli_fname;
    if (const std::size_t slash = path.rfind('/'); slash != path.npos) found.emplace_back(path, 0, slash);
  }
  const char* const variable = ebb::detail::environment("EBB_PLUGIN_PATH");
  for (std::string_view rest = variable ? variable : ""; !rest.empty();) {
    const std::size_t colon = std::min(rest.find(':'), rest.size());
    if (colon > 0) found.emplace_back(rest.substr(0, colon));
    rest.remove_prefix(std::min(colon + 1, rest.size()));
  }
  return found;
}

void* open_library(const std::string& name, const std::string& backend) {
  std::string looked;
  for (const std::string& folder : folders()) {
    const std::string path = folder + '/' + name;
    looked += folder + ", ";
    if (access(path.c_str(), F_OK) != 0) continue;
    if (void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
    ebb::detail::fail("distributed::init: the plugin ", path, " of the backend \"", backend,
                      "\" cannot be opened: ", dlerror(), ". Install the library that the message names");
  }
  if (void* const library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
  ebb::detail::fail("distributed::init: the backend \"", backend, "\" needs the plugin ", name,
                    ", which is in none of ", looked, "the system's library path. ",
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
