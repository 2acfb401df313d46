// Programs under mpirun: the cases of this program that several processes run together.
#include "ranks.h"

#include "support/catch.h"

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>

namespace ranks {

Outcome shell(const std::string& command) {
  Outcome outcome;
  std::FILE* const pipe = popen((command + " 2>&1").c_str(), "r");
  std::array<char, 4096> text{};
  while (const std::size_t length = std::fread(text.data(), 1, text.size(), pipe))
    outcome.output.append(text.data(), length);
  const int status = pclose(pipe);
  outcome.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return outcome;
}

Outcome run(int count, const std::string& tag, const std::string& variables) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe");
  return shell("EBB_PLUGIN_PATH=" + std::filesystem::path(program).parent_path().string() + " " + variables +
               " timeout 300 mpirun --allow-run-as-root --oversubscribe -np " + std::to_string(count) + " '" +
               program + "' '" + tag + "'");
}

bool can_run() {
  static const bool works = [] {
    return shell("mpirun --version").status == 0 && run(1, "[.joins]").status == 0;
  }();
  if (!works) WARN("skipped: needs mpirun and libebb_mpi.so (Debian: libopenmpi-dev)");
  return works;
}

void join(const ebb::distributed::InitOptions& options) {
  if (ebb::distributed::is_initialized()) return;
  ebb::distributed::InitOptions chosen = options;
  if (const char* const backend = std::getenv("EBB_TEST_BACKEND")) chosen.backend(backend);
  ebb::distributed::init(chosen);
}

TEST_CASE("a process joins the world of MPI", "[.joins]") {
  join();
  CHECK(ebb::distributed::get_rank() < ebb::distributed::get_world_size());
}

}  // namespace ranks
