// Agreement: the comparison of a collective's terms on all ranks, in debug mode.
#pragma once

#include "distributed/transport.h"

#include <string>

namespace ebb::distributed::detail {

/// Gathers a text from each rank of a group, and throws ebb::Error unless all are equal.
class Agreement {
 public:
  Agreement(Transport& transport, const std::string& terms);
  /// Returns true when all ranks' terms are there and equal.
  bool test();

 private:
  std::string own_, all_;
  int ranks_;
  std::unique_ptr<Operation> gathering_;
};

}  // namespace ebb::distributed::detail
