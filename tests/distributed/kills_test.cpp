// Kills: a training run under `ebb run` whose ranks are killed at random moments loses nothing.
#include "ranks.h"
#include "support/catch.h"
#include "support/files.h"

#include <signal.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <random>
#include <thread>

using std::chrono::milliseconds;
using support::Contains;

namespace {

const std::filesystem::path& program() {
  static const std::filesystem::path path = std::filesystem::read_symlink("/proc/self/exe");
  return path;
}

// Returns the processes that run this program with the folder in their environment.
std::vector<pid_t> ranks_of(const std::string& folder) {
  std::vector<pid_t> processes;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    std::error_code gone;  // processes end while this function reads
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (std::filesystem::read_symlink(entry.path() / "exe", gone) != program()) continue;
    std::ifstream environment(entry.path() / "environ", std::ios::binary);
    const std::string text(std::istreambuf_iterator<char>(environment), {});
    if (text.find("EBB_TEST_DIR=" + folder) != std::string::npos) processes.push_back(std::stoi(name));
  }
  return processes;
}

// Runs the training of the hidden case of VirtualShards, which saves every 50 steps.
ranks::Outcome train(const std::string& folder) {
  return ranks::shell(
      "EBB_NUM_THREADS=1 EBB_TEST_DIR=" + folder + " EBB_PLUGIN_PATH=" + program().parent_path().string() +
      " timeout 600 " EBB_RUN " -n 2 --max-restarts 1000 " + program().string() + " '[.same-bits]'");
}

std::string hash_in(const std::string& output) {
  const std::size_t at = output.rfind("hash ");
  return at == std::string::npos ? "no hash in: " + output : output.substr(at, output.find('\n', at) - at);
}

}  // namespace

// EBB_TEST_KILLS states the number of kills.
TEST_CASE("ranks that are killed at random moments lose nothing") {
  if (!ranks::can_run()) return;
  const char* const stated = std::getenv("EBB_TEST_KILLS");
  const int wanted = stated ? std::stoi(stated) : 5;
  const auto seed = std::random_device{}();
  std::mt19937 random(seed);
  const support::Folder whole;
  const std::string expected = hash_in(train(whole.path()).output);
  REQUIRE_THAT(expected, Contains("of loss"));
  int kills = 0;
  while (kills < wanted) {
    const support::Folder folder;
    std::future<ranks::Outcome> run = std::async(std::launch::async, [&] { return train(folder.path()); });
    const auto pause = [&] { return milliseconds(std::uniform_int_distribution<int>(0, 2500)(random)); };
    while (run.wait_for(pause()) == std::future_status::timeout && kills < wanted) {
      const std::vector<pid_t> processes = ranks_of(folder.path());
      if (processes.empty()) continue;
      kills += kill(processes[random() % processes.size()], SIGKILL) == 0;
    }
    const ranks::Outcome outcome = run.get();
    INFO("seed " << seed << ", " << kills << " kills:\n" << outcome.output);
    CHECK(outcome.status == 0);
    CHECK(hash_in(outcome.output) == expected);
    CHECK(ranks_of(folder.path()).empty());
  }
}
