// Programs under mpirun: the cases of this program that several processes run together.
#include "ranks.h"

#include "support/catch.h"
#include "support/tool.h"

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>

namespace ranks {

std::string error_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const ebb::Error& error) {
    return error.what();
  }
  return "no error";
}

Outcome shell(const std::string& command) {
  Outcome outcome;
  // Open MPI leaks, which AddressSanitizer would report for each rank.
  std::FILE* const pipe = popen(("export LSAN_OPTIONS=detect_leaks=0; " + command + " 2>&1").c_str(), "r");
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
  if (!support::has_tool("mpirun", "openmpi-bin")) return false;
  static const Outcome joined = [] {
    Outcome outcome;
    // mpirun can fail while others start and end, as all of a user share a folder.
    for (int i = 0; i < 3 && (i == 0 || outcome.status != 0); ++i) outcome = run(1, "[.joins]");
    return outcome;
  }();
  if (joined.status == 0) return true;
  INFO(joined.output);
  if (EBB_TEST_MPI && std::getenv("EBB_REQUIRE_TOOLS")) FAIL("a process does not join the world of MPI");
  WARN("skipped: a process does not join the world of MPI. libebb_mpi.so needs libopenmpi-dev");
  return false;
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
