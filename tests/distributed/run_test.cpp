// ebb run: ranks, labels, deaths, restarts, hosts.
#include <ebb/checkpoint.h>

#include "ranks.h"
#include "slurm.h"
#include "support/catch.h"
#include "support/files.h"
#include "support/scopes.h"

#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

using namespace ebb::distributed;
using ebb::Tensor;
using support::Contains;

namespace {

ranks::Outcome ebb_run(const std::string& arguments) {
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe");
  return ranks::shell("EBB_PLUGIN_PATH=" + program.parent_path().string() + " timeout 120 " EBB_RUN " " +
                      arguments);
}

ranks::Outcome cases(const std::string& options, const std::string& tag) {
  return ebb_run(options + " " + std::filesystem::read_symlink("/proc/self/exe").string() + " '" + tag + "'");
}

// Whether no process is left, after some time, of those whose numbers are in the files of a folder.
bool all_gone(const std::string& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    pid_t process = 0;
    std::ifstream(entry.path()) >> process;
    for (int i = 0; i < 2000 && kill(process, 0) == 0; ++i) usleep(10'000);
    if (process <= 0 || kill(process, 0) == 0) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("ebb run labels the lines of each rank and states the variables of torchrun") {
  const ranks::Outcome outcome = ebb_run(
      "-n 3 --backend nccl sh -c 'echo $RANK $WORLD_SIZE $LOCAL_RANK $LOCAL_WORLD_SIZE $MASTER_ADDR "
      "${#EBB_RENDEZVOUS_TOKEN} $EBB_DISTRIBUTED_BACKEND; printf part; echo error >&2'");
  CHECK(outcome.status == 0);
  for (const std::string rank : {"0", "1", "2"}) {
    CHECK_THAT(outcome.output, Contains("[" + rank + "] " + rank + " 3 " + rank + " 3 127.0.0.1 32 nccl\n"));
    CHECK_THAT(outcome.output, Contains("[" + rank + "] part\n") && Contains("[" + rank + "] error\n"));
  }
  CHECK(ebb_run("-n 1 --backend nccl --no-labels echo a").output == "a\n");
}

TEST_CASE("ebb run kills an mpirun that does not notice the end of its processes") {
  const support::Folder folder;
  // `sleep 100` becomes the parent of `sleep 2`, and does not wait for its end.
  support::write_file(folder / "mpirun",
                      "#!/bin/sh\ncase $1 in --version) echo Open MPI; exit;; esac\n"
                      "sleep 2 & exec sleep 100\n");
  std::filesystem::permissions(folder / "mpirun", std::filesystem::perms::owner_all);
  const ranks::Outcome outcome =
      ranks::shell("PATH=" + folder.path().string() + ":$PATH timeout 60 " EBB_RUN " -n 2 a");
  CHECK_THAT(outcome.output, Contains("does not end after its processes, and is killed"));
  CHECK(outcome.status == 128 + SIGKILL);
}

TEST_CASE("ebb run does not mix the lines of ranks and keeps the last part of a line") {
  const ranks::Outcome outcome = ebb_run(
      "-n 3 --backend nccl sh -c 'for i in $(seq 100); do printf %05000d $RANK | tr 0 $RANK; echo; done; "
      "setsid sleep 130 & printf part'");
  CHECK(outcome.status == 0);
  std::istringstream lines(outcome.output);
  int whole = 0, parts = 0;
  for (std::string line; std::getline(lines, line);) {
    REQUIRE(line.size() > 4);
    const std::string text = line.substr(4);
    parts += text == "part";
    whole += text == std::string(5000, line[1]);
  }
  CHECK(whole == 300);
  CHECK(parts == 3);
}

TEST_CASE("ebb run gives its ranks a terminal if its output is one") {
  const std::string print = " -n 1 --backend nccl sh -c \"test -t 1 && echo terminal || echo pipe\"";
  CHECK_THAT(ranks::shell("script -qec '" EBB_RUN + print + "' /dev/null").output, Contains("[0] terminal"));
  CHECK_THAT(ranks::shell(EBB_RUN + print).output, Contains("[0] pipe"));
}

TEST_CASE("ebb run ends the processes that a rank has left behind") {
  const support::Folder folder;
  CHECK(ebb_run("-n 2 --backend nccl sh -c 'sleep 600 & echo $! > " + folder.path().string() + "/$RANK'")
            .status == 0);
  CHECK(folder.names().size() == 2);
  CHECK(all_gone(folder.path()));
}

TEST_CASE("ebb run divides the processors among the ranks") {
  const std::string all = ranks::shell("nproc").output;
  if (std::stoi(all) < 2) return;
  CHECK(ebb_run("-n 2 --backend nccl --no-labels nproc").output != all + all);
  CHECK(ebb_run("-n 2 --backend nccl --no-labels --no-bind nproc").output == all + all);
}

TEST_CASE("ebb run ends all ranks when one dies and names it") {
  for (const std::string backend : {"nccl", "mpi"}) {
    if (backend == "mpi" && !ranks::can_run()) continue;
    const support::Folder folder;
    // Rank 1 waits until the files of the others are written, because a killed shell leaves an empty file.
    const auto dies = [&](const std::string& how) {
      return ebb_run("-n 3 --backend " + backend + " sh -c 'trap \"\" TERM; cd " + folder.path().string() +
                     "; [ $RANK = 1 ] || { sleep 600 & echo $! > child$RANK; }; echo $$ > $RANK; "
                     "until [ -s 0 ] && [ -s 2 ]; do sleep 0.01; done; [ $RANK = 1 ] && " +
                     how + "; wait; sleep 600'");
    };
    const ranks::Outcome killed = dies("kill -KILL $$");
    INFO(killed.output);
    CHECK(killed.status == 128 + SIGKILL);
    CHECK_THAT(killed.output, Contains("ebb run: rank 1 of 3 on ") && Contains("by signal 9 (Killed)"));
    CHECK_THAT(killed.output, !Contains("rank 0 of 3") && !Contains("rank 2 of 3"));
    CHECK(all_gone(folder.path()));
    const ranks::Outcome failed = dies("exit 7");
    CHECK(failed.status == 7);
    CHECK_THAT(failed.output, Contains("ended with the exit status 7"));
  }
}

TEST_CASE("ebb run ends what a rank has started when the agent of the rank is killed") {
  for (const std::string backend : {"nccl", "mpi"}) {
    if (backend == "mpi" && !ranks::can_run()) continue;
    const support::Folder folder;
    const ranks::Outcome outcome =
        ebb_run("-n 1 --backend " + backend + " sh -c 'cd " + folder.path().string() +
                "; sleep 600 & echo $! > child; kill -KILL $PPID; wait; sleep 600'");
    INFO(backend << ": " << outcome.output);
    CHECK(outcome.status != 0);
    CHECK(all_gone(folder.path()));
  }
}

TEST_CASE("ebb run ends all ranks when it receives a signal or is killed itself") {
  for (const std::string signal : {"TERM", "KILL"}) {
    const support::Folder folder;
    const ranks::Outcome outcome = ranks::shell(
        "cd " + folder.path().string() +
        "; " EBB_RUN
        " -n 2 --backend nccl --max-restarts 5 sh -c 'sleep 600 & echo $! > child$RANK; "
        "echo $$ > $RANK; wait; sleep 600' & until [ -s 0 ] && [ -s 1 ]; do sleep 0.01; done; kill -" +
        signal + " $!; wait $!; echo status $?");
    CHECK_THAT(outcome.output, Contains(signal == "TERM" ? "status 143" : "status 137"));
    CHECK(all_gone(folder.path()));
    CHECK_THAT(outcome.output, !Contains("starts all"));
  }
}

TEST_CASE("ebb run starts all ranks again at most as often as it may") {
  const ranks::Outcome outcome =
      ebb_run("-n 2 --backend nccl --max-restarts 2 sh -c 'echo try $EBB_RESTART_COUNT; exit $RANK'");
  CHECK(outcome.status == 1);
  CHECK_THAT(outcome.output, Contains("try 2") && !Contains("try 3") && Contains("restart 2 of 2"));
  CHECK(ebb_run("-n 2 --backend nccl --max-restarts 2 sh -c 'exit $((1 - EBB_RESTART_COUNT))'").status == 0);
  const ranks::Outcome missing = ebb_run("-n 1 --backend nccl --max-restarts 2 ./missing");
  CHECK(missing.status == 127);
  CHECK_THAT(missing.output, Contains("cannot start ./missing: No such file") && !Contains("again"));
}

TEST_CASE("ebb run starts ranks on hosts through ssh and keeps the token out of the arguments") {
  const support::Folder folder;
  // The stand-in of ssh starts the command in a new environment, as sshd does.
  std::ofstream(folder / "ssh") << "#!/bin/sh\nshift 2; echo \"$@\" >> " << folder.path().string()
                                << "/arguments; host=$1; shift; exec env -i HOST=$host sh -c \"$*\"\n";
  ranks::shell("chmod +x " + folder / "ssh");
  const support::Environment path("PATH", folder.path().string() + ":" + std::getenv("PATH"));
  const ranks::Outcome outcome = ebb_run(
      "--hosts one:2,two:1 --backend nccl sh -c 'echo $HOST $RANK $LOCAL_RANK $MASTER_ADDR \"$0\" "
      "${#EBB_RENDEZVOUS_TOKEN}; pwd' \"it's  \\$two\"");
  CHECK(outcome.status == 0);
  INFO(outcome.output);
  CHECK_THAT(outcome.output, Contains("[1] one 1 1 one it's  $two 32\n") && Contains("[2] two 2 0 one"));
  CHECK_THAT(outcome.output, Contains(std::filesystem::current_path().string()));
  CHECK_THAT(support::read_file(folder / "arguments"), !Contains("TOKEN=") && Contains("agent"));
}

TEST_CASE("ebb run starts ranks on the hosts of a job of Slurm through srun") {
  if (!ranks::has_slurm()) return;
  const auto in_job = [](const std::string& script) {
    const support::Folder folder;
    support::write_file(folder / "script", script);
    return ranks::shell(
        "timeout 120 salloc --quiet --ntasks 2 --nodes 1-2 sh -c 'hosts=$(scontrol show hostnames | tac "
        "| paste -sd,); echo first ${hosts%%,*}; exec " EBB_RUN " -n 4 --hosts $hosts --backend nccl sh " +
        folder / "script" + "'");
  };
  const ranks::Outcome outcome = in_job(
      "echo $SLURMD_NODENAME $RANK $WORLD_SIZE $MASTER_ADDR ${#EBB_RENDEZVOUS_TOKEN}; "
      "echo $((LOCAL_RANK < LOCAL_WORLD_SIZE))");
  INFO(outcome.output);
  CHECK(outcome.status == 0);
  REQUIRE_THAT(outcome.output, Contains("first "));
  const std::size_t at = outcome.output.find("first ") + 6;
  const std::string first = outcome.output.substr(at, outcome.output.find('\n', at) - at);
  CHECK_THAT(outcome.output, Contains("[0] " + first + " 0 4 " + first + " 32\n"));
  for (const std::string rank : {"1", "2", "3"})
    CHECK_THAT(outcome.output,
               Contains(" " + rank + " 4 " + first + " 32\n") && Contains("[" + rank + "] 1\n"));
  const ranks::Outcome failed = in_job("[ $RANK = 3 ] && exit 7; sleep 600");
  CHECK(failed.status == 7);
  CHECK_THAT(failed.output, Contains("rank 3 of 4 on ") && Contains("ended with the exit status 7"));
}

TEST_CASE("srun starts ranks of MPI") {
  if (!ranks::can_run() || !ranks::has_slurm()) return;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe");
  const ranks::Outcome outcome =
      ranks::shell("EBB_PLUGIN_PATH=" + program.parent_path().string() +
                   " timeout 120 srun --mpi=pmix -n 2 " + program.string() + " '[.two_of_slurm]'");
  INFO(outcome.output);
  CHECK(outcome.status == 0);
}
TEST_CASE("srun states rank and size", "[.two_of_slurm]") {
  ranks::join(InitOptions("mpi"));
  CHECK(world_size() == 2);
  CHECK(std::to_string(rank()) == std::getenv("SLURM_PROCID"));
  Tensor x = ebb::ones({2});
  all_reduce(x);
  CHECK(x.sum().item<float>() == 4);
}

TEST_CASE("ebb run refuses wrong options") {
  for (const auto& [arguments, message] : std::vector<std::pair<std::string, std::string>>{
           {"true", "-n is missing"},
           {"-n 0 true", "at least 1"},
           {"-n 2", "no program"},
           {"-n 2 --gpus true", "no option --gpus"},
           {"-n 2 --backend gloo true", "must be mpi or nccl"},
           {"-n 3 --hosts a:1,b:1 true", "does not fit"},
           {"--hosts a:1,b:2,a:1 true", "names a twice"},
           {"--hosts a:1,-oProxyCommand=x:1 true", "has no name"}}) {
    const ranks::Outcome outcome = ebb_run(arguments);
    CHECK(outcome.status == 2);
    CHECK_THAT(outcome.output, Contains(message));
  }
}

TEST_CASE("a program under ebb run continues from its last checkpoint after the death of a rank") {
  if (!ranks::can_run()) return;
  const support::Folder folder;
  const support::Environment file("EBB_TEST_CHECKPOINT", folder / "run.ckpt");
  const ranks::Outcome outcome = cases("-n 2 --max-restarts 3", "[.resumes]");
  INFO(outcome.output);
  CHECK(outcome.status == 0);
  CHECK_THAT(outcome.output, Contains("rank 1 of 2 on ") && Contains("restart 3 of 3"));
}
TEST_CASE("rank 1 is killed at three steps", "[.resumes]") {
  ranks::join(InitOptions());  // ebb run states the backend
  CHECK(ProcessGroup().backend() == "mpi");
  Tensor sum = ebb::zeros({1});
  int step = 0;
  ebb::Checkpoint checkpoint(std::getenv("EBB_TEST_CHECKPOINT"));
  checkpoint.add("sum", sum).add("step", step);
  checkpoint.load();
  const int kill_at = 4 * (1 + std::stoi(std::getenv("EBB_RESTART_COUNT")));
  while (step < 15) {
    ++step;
    Tensor part = ebb::full({1}, step * (rank() + 1.0));
    all_reduce(part);
    sum += part;
    if (rank() == 0) checkpoint.save();
    barrier();
    if (rank() == 1 && step == kill_at) raise(SIGKILL);
  }
  CHECK(sum.item<float>() == 3 * 15 * 16 / 2);
}
