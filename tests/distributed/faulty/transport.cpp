// FaultyTransport: the backend "faulty", which is "mpi" with the faults that EBB_FAULTS names.
#include "distributed/transport.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

namespace {

using namespace ebb::distributed;
using Clock = std::chrono::steady_clock;

// EBB_FAULTS is a list of settings, separated by spaces:
//
// - delay=MS: each operation ends at least so much later;
// - late=R:MS: so does each operation of rank R;
// - jitter=MS: each operation ends later by a random time up to this, so that they end in another order;
// - drop=R:K: rank R does not start its operation number K;
// - cut=R:K: from its operation number K on, rank R neither sends nor receives anything.
struct Faults {
  int delay = 0, jitter = 0, late_rank = -1, late_time = 0, drop_rank = -1, drop_number = 0, cut_rank = -1,
      cut_number = 0;

  Faults() {
    const char* const variable = std::getenv("EBB_FAULTS");
    const std::string text = variable ? variable : "";
    const auto read = [&](const char* name, const char* format, int* a, int* b) {
      const std::size_t at = text.find(name);
      if (at != text.npos) std::sscanf(text.c_str() + at, format, a, b);
    };
    int unused = 0;
    read("delay=", "delay=%d%n", &delay, &unused);
    read("jitter=", "jitter=%d%n", &jitter, &unused);
    read("late=", "late=%d:%d", &late_rank, &late_time);
    read("drop=", "drop=%d:%d", &drop_rank, &drop_number);
    read("cut=", "cut=%d:%d", &cut_rank, &cut_number);
  }
};

struct Lost : Operation {
  bool test() override { return false; }
};

struct Late : Operation {
  bool test() override { return ended->test() && Clock::now() >= due; }
  int source() const override { return ended->source(); }
  std::unique_ptr<Operation> ended;
  Clock::time_point due;
};

class FaultyTransport : public Transport {
 public:
  explicit FaultyTransport(std::unique_ptr<Transport> below)
      : below_(std::move(below)), random_(static_cast<unsigned>(below_->rank())) {}

  int rank() const override { return below_->rank(); }
  int size() const override { return below_->size(); }
  std::unique_ptr<Operation> start(const Request& request) override {
    ++number_;
    if (is_cut() || (rank() == faults_.drop_rank && number_ == faults_.drop_number))
      return std::make_unique<Lost>();
    auto late = std::make_unique<Late>();
    late->ended = below_->start(request);
    const int jitter =
        faults_.jitter > 0 ? static_cast<int>(random_() % static_cast<unsigned>(faults_.jitter)) : 0;
    const int delay = faults_.delay + jitter + (rank() == faults_.late_rank ? faults_.late_time : 0);
    late->due = Clock::now() + std::chrono::milliseconds(delay);
    return late;
  }
  std::unique_ptr<Transport> split(const std::vector<int>& ranks) override {
    return std::make_unique<FaultyTransport>(below_->split(ranks));
  }
  void post(int rank, const Note& note) override {
    if (!is_cut()) below_->post(rank, note);
  }
  std::optional<std::pair<int, Note>> poll() override {
    auto received = below_->poll();
    return is_cut() ? std::nullopt : received;
  }
  void close(bool healthy) override { below_->close(healthy); }

 private:
  bool is_cut() const { return rank() == faults_.cut_rank && number_ >= faults_.cut_number; }

  std::unique_ptr<Transport> below_;
  std::mt19937 random_;
  Faults faults_;
  int number_ = 0;
};

}  // namespace

extern "C" EBB_API Transport* ebb_distributed_transport(int abi, const Setup& setup);

Transport* ebb_distributed_transport(int abi, const Setup& setup) {
  EBB_CHECK(abi == kTransportAbi, "faulty: another version");
  return new FaultyTransport(setup.open("mpi"));
}
