// ngram_nats: counts of characters after contexts.
#include "ngram.h"

#include <array>
#include <cmath>
#include <string_view>
#include <unordered_map>

namespace {

struct Followers {
  std::array<int, 256> counts{};
  int total = 0, kinds = 0;
};

}  // namespace

double ngram_nats(const std::string& training, const std::string& held_out, std::size_t order) {
  std::unordered_map<std::string_view, Followers> contexts;
  for (std::size_t i = order - 1; i < training.size(); ++i)
    for (std::size_t length = 0; length < order; ++length) {
      Followers& after = contexts[std::string_view(training).substr(i - length, length)];
      int& count = after.counts[static_cast<unsigned char>(training[i])];
      after.kinds += count == 0;
      ++count;
      ++after.total;
    }

  double nats = 0;
  for (std::size_t i = order - 1; i < held_out.size(); ++i) {
    double p = 1.0 / 256;  // the prior without a context
    for (std::size_t length = 0; length < order; ++length) {
      const auto found = contexts.find(std::string_view(held_out).substr(i - length, length));
      if (found == contexts.end()) break;
      const Followers& after = found->second;
      p = (after.counts[static_cast<unsigned char>(held_out[i])] + after.kinds * p) /
          (after.total + after.kinds);
    }
    nats -= std::log(p);
  }
  return nats / static_cast<double>(held_out.size() - order + 1);
}
