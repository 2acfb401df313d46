// Agreement: the comparison of a collective's terms on all ranks, in debug mode.
#include "distributed/agreement.h"

#include <algorithm>
#include <functional>

namespace ebb::distributed::detail {
namespace {

constexpr std::size_t kLength = 192;

// Returns the terms with a fixed length. A hash replaces the end of a long text.
std::string fixed(const std::string& terms) {
  if (terms.size() <= kLength) return terms + std::string(kLength - terms.size(), '\0');
  std::string result = ebb::detail::text("... hash ", std::uint64_t{std::hash<std::string>()(terms)});
  return terms.substr(0, kLength - result.size()) + result;
}

}  // namespace

Agreement::Agreement(Transport& transport, const std::string& terms)
    : own_(fixed(terms)),
      all_(kLength * static_cast<std::size_t>(transport.size()), '\0'),
      ranks_(transport.size()) {
  Request request;
  request.kind = Collective::all_gather;
  request.send = own_.data();
  request.receive = all_.data();
  request.send_count = kLength;
  request.receive_count = static_cast<std::int64_t>(all_.size());
  request.receive_counts.assign(static_cast<std::size_t>(ranks_), kLength);
  gathering_ = transport.start(request);
}

bool Agreement::test() {
  if (!gathering_->test()) return false;
  std::string differences;
  for (int rank = 0; rank < ranks_; ++rank) {
    const std::string theirs = all_.substr(static_cast<std::size_t>(rank) * kLength, kLength);
    if (rank == 0 || theirs != all_.substr(static_cast<std::size_t>(rank - 1) * kLength, kLength))
      differences += ebb::detail::text(differences.empty() ? "from rank " : "; from rank ", rank, " on ",
                                       theirs.c_str());
  }
  EBB_CHECK(std::equal(all_.begin() + kLength, all_.end(), all_.begin()),
            "the ranks call different collectives: ", differences,
            ". All ranks must call the same collectives in the same order with the same shapes");
  return true;
}

}  // namespace ebb::distributed::detail
