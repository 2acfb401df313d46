// make_replicas: tensors that all ranks have.
#include "distributed/replicas.h"

#include <ebb/autograd/grad_mode.h>

#include <algorithm>

namespace ebb::distributed::detail {

void make_replicas(const char* name, const std::vector<Variable>& tensors, const ProcessGroup& group) {
  EBB_CHECK(group.rank() >= 0, name, ": this process is not in group ", group.id(),
            ". Construct it in the members of the group only.");
  std::string own;
  for (const Variable& tensor : tensors)
    own += ebb::detail::text(tensor.dtype(), tensor.sizes(), tensor.requires_grad() ? "\n" : " frozen\n");
  const std::vector<std::string> all = all_gather_object(own + "missing\n", group);
  for (std::size_t r = 1; r < all.size(); ++r) {
    if (all[r] == all[0]) continue;
    const auto same = static_cast<std::size_t>(
        std::mismatch(all[0].begin(), all[0].end(), all[r].begin(), all[r].end()).first - all[0].begin());
    const std::size_t line = same == 0 ? 0 : all[0].rfind('\n', same - 1) + 1;
    ebb::detail::fail(name, " ", std::count(all[0].begin(), all[0].begin() + std::ptrdiff_t(line), '\n'),
                      " is ", all[0].substr(line, all[0].find('\n', line) - line), " on rank 0, but ",
                      all[r].substr(line, all[r].find('\n', line) - line), " on rank ", std::uint64_t{r},
                      ". Construct the same net on all ranks.");
  }
  const NoGradGuard no_grad;
  for (const Variable& tensor : tensors) broadcast(tensor, 0, group);
}

}  // namespace ebb::distributed::detail
