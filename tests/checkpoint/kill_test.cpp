// Two hundred kills at random moments of a run that saves after each step lose no saved state. The test does
// not run with AddressSanitizer or ThreadSanitizer, whose locks stay held in a forked child of several
// threads.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#include <ebb/ebb.h>

#include "checkpoint/files.h"
#include "support/catch.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <random>
#include <vector>

using namespace ebb;

namespace {

// A model, its optimizer and the number of steps, in a checkpoint.
struct Training {
  explicit Training(const std::string& path) : run(path) {
    run.add("model", model).add("optimizer", optimizer).add("steps", steps);
    run.load();
  }
  void step() {
    optimizer.zero_grad();
    const Tensor x = randn({8, 16});
    (model->forward(x) - x.sum(1, true)).square().mean().backward();
    optimizer.step();
    ++steps;
  }
  nn::Sequential model{nn::Linear(16, 64), nn::Dropout(0.2), nn::Tanh(), nn::Linear(64, 1)};
  optim::Adam optimizer{model->parameters(), optim::AdamOptions(1e-2)};
  std::int64_t steps = 0;
  Checkpoint run;
};

// Starts a child that resumes from the file, saves after each step and reports it, until it is killed.
pid_t start_child(const std::string& path, int& done) {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::close(ends[0]);
    ::alarm(60);
    Training training(path);
    while (true) {
      training.step();
      training.run.save();
      if (::write(ends[1], "s", 1) != 1) ::_exit(1);
    }
  }
  ::close(ends[1]);
  done = ends[0];
  return child;
}

}  // namespace

TEST_CASE("two hundred kills during saves lose no saved checkpoint") {
  const checkpoint_test::File file, other;
  manual_seed(11);
  {
    Training(file.path()).run.save();
  }
  std::mt19937 random(5);
  std::int64_t least = 0;  // steps that a child reported as saved
  for (int kill = 0; kill < 200; ++kill) {
    int done = -1;
    const pid_t child = start_child(file.path(), done);
    char said = 0;
    // The kill comes after this many steps and a delay that depends on CPU work and not on a clock.
    const unsigned steps = 1 + random() % 2, moment = random() % 20000;
    for (unsigned i = 0; i < steps; ++i) {
      REQUIRE(::read(done, &said, 1) == 1);
      ++least;
    }
    for (std::atomic<unsigned> i = 0; i < moment;) ++i;
    ::kill(child, SIGKILL);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFSIGNALED(status));
    while (::read(done, &said, 1) == 1) ++least;  // reported before the kill
    ::close(done);
    const Training found(file.path());
    CHECK(found.steps >= least);
    CHECK(found.steps <= least + 1);  // saved, but killed before the report
    least = found.steps;
  }
  const Training killed(file.path());

  manual_seed(11);
  Training whole(other.path());
  while (whole.steps < killed.steps) whole.step();
  for (std::size_t i = 0; i < whole.model->parameters().size(); ++i)
    CHECK(whole.model->parameters()[i].equal(killed.model->parameters()[i]));
}
#endif
