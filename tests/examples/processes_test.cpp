// The example data_parallel under `ebb run`: the losses of a process for each replica.
#include "support/catch.h"
#include "support/files.h"

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>

using support::Contains;

namespace {

/// The output and the exit status of a command.
struct Outcome {
  int status = 0;
  std::string output;
};

Outcome shell(const std::string& command) {
  Outcome outcome;
  std::FILE* const pipe = popen((command + " 2>&1").c_str(), "r");
  std::array<char, 4096> text{};
  while (const std::size_t length = std::fread(text.data(), 1, text.size(), pipe))
    outcome.output.append(text.data(), length);
  outcome.status = WEXITSTATUS(pclose(pipe));
  return outcome;
}

/// Returns the last loss in the line that begins with `title`, "0.011008168616", or an empty text.
std::string loss_after(const std::string& output, const std::string& title) {
  const std::size_t line = output.find(title), loss = output.find("last loss ", line);
  return line == output.npos || loss == output.npos ? "" : output.substr(loss + 10, 14);
}

}  // namespace

TEST_CASE("data_parallel has the same losses in one process and in several under ebb run") {
  const std::string example = EBB_EXAMPLES_FOLDER "/data_parallel --short --threads 1 --epochs 3 --out " +
                              support::temporary("data_parallel");
  const std::string alone = shell(example).output;  // so short a training misses the stated accuracy
  const std::string loss = loss_after(alone, "one network:");
  INFO(alone);
  CHECK(loss.size() == 14);
  CHECK(loss_after(alone, "4 replicas:") == loss);
  if (!EBB_HAS_MPI || shell("mpirun --version").status != 0) {
    WARN("skipped: needs mpirun and libebb_mpi.so (Debian: libopenmpi-dev)");
    return;
  }
  for (const std::string count : {"2", "3"}) {
    const Outcome outcome = shell(EBB_RUN " -n " + count + " --no-labels " + example);
    INFO(outcome.output);
    CHECK(loss_after(outcome.output, "one network:") == loss);
    CHECK(loss_after(outcome.output, count + " processes:") == loss);
    CHECK_THAT(outcome.output, Contains("(stated: at most 1e-09, reached)"));
  }
}
