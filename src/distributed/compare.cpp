// start_compared: the comparison of collectives among all ranks, for the debug mode.
#include "distributed/engine.h"

namespace ebb::distributed::detail {
namespace {

/// The description of a collective that ranks exchange.
struct Description {
  char text[176] = {};
  std::uint64_t terms = 0;  // a hash, equal on all ranks
  std::uint64_t parts = 0;  // adds up to 0 over all ranks if each receives what the others send
};

std::uint64_t hash(const std::string& text) { return std::hash<std::string>()(text); }

Description describe(const Task& task) {
  const Request& request = task.request;
  Description result;
  std::string text = task.terms;
  result.terms = hash(text);
  const auto parts = [&](bool is_sender, const std::vector<std::int64_t>& counts) {
    text += is_sender ? ", sends" : ", receives";
    for (int peer = 0; const std::int64_t count : counts) {
      const int from = is_sender ? task.group->rank : peer, to = is_sender ? peer : task.group->rank;
      const std::uint64_t part = hash(ebb::detail::text(from, " ", to, " ", count));
      result.parts += is_sender ? part : -part;
      text += ebb::detail::text(" ", count);
      ++peer;
    }
  };
  if (!request.send_counts.empty()) {  // of all_to_all, gather and scatter
    parts(true, request.send_counts);
    parts(false, request.receive_counts);
  }
  constexpr std::size_t kLongest = sizeof result.text - 1;
  if (text.size() > kLongest) text.replace(kLongest - 3, text.npos, "...");
  text.copy(result.text, kLongest);
  return result;
}

class Compared : public Operation {
 public:
  explicit Compared(const Task& task) : task_(task), own_(describe(task)), all_(task.group->ranks.size()) {
    Request request;
    request.kind = Collective::all_gather;
    request.send = &own_;
    request.receive = all_.data();
    request.send_count = sizeof own_;
    request.receive_count = static_cast<std::int64_t>(all_.size() * sizeof own_);
    request.receive_counts.assign(all_.size(), sizeof own_);
    operation_ = task.group->transport->start(request);
  }
  bool test() override {
    if (!operation_->test()) return false;
    if (compared_) return true;
    compare();
    compared_ = true;
    operation_ = task_.group->transport->start(task_.request);
    return operation_->test();
  }
  const cuda::Event* done() const override { return compared_ ? operation_->done() : nullptr; }
  int source() const override { return operation_->source(); }

 private:
  void compare() const {
    bool equal = true;
    std::uint64_t parts = 0;
    std::string calls;
    for (std::size_t rank = 0; rank < all_.size(); ++rank) {
      const Description& each = all_[rank];
      parts += each.parts;
      equal = equal && each.terms == own_.terms;
      const Description& before = all_[rank == 0 ? 0 : rank - 1];
      if (rank == 0 || each.terms != before.terms || std::string_view(each.text) != before.text)
        calls += ebb::detail::text("from rank ", static_cast<int>(rank), " on ", each.text, "; ");
    }
    EBB_CHECK(equal && parts == 0, "the ranks call different collectives: ", calls,
              "all ranks must call the same collectives in the same order with the same shapes, and receive "
              "as many elements as the others send to them");
  }

  const Task& task_;
  const Description own_;
  std::vector<Description> all_;
  std::unique_ptr<Operation> operation_;
  bool compared_ = false;
};

}  // namespace

std::unique_ptr<Operation> start_compared(const Task& task) { return std::make_unique<Compared>(task); }

}  // namespace ebb::distributed::detail
