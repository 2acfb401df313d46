// SelfTransport: the backend "self", a world of one process.
#pragma once

#include "distributed/transport.h"

namespace ebb::distributed {

/// Copies what this process sends to itself. Needs no library.
class SelfTransport : public Transport {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  std::unique_ptr<Operation> start(const Request& request) override;
  std::unique_ptr<Transport> split(const std::vector<int>&) override {
    return std::make_unique<SelfTransport>();
  }
  void post(int, const Note&) override {}
  std::optional<std::pair<int, Note>> poll() override { return std::nullopt; }
  void close(bool) override {}
};

}  // namespace ebb::distributed
