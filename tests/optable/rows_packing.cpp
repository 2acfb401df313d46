// Sequences that are packed and padded.
#include "optable/reference.h"
#include "optable/table.h"

#include <ebb/ops/rnn.h>

#include <algorithm>

namespace optable {
namespace {

/// The rows. What else there is stays on the CPU: tests/nn/rnn_test.cpp looks at it.
variable_list rows_of(std::tuple<Variable, Variable> x) { return {std::get<0>(x)}; }

/// All numbers the same.
Array filled(Sizes sizes, double value) {
  return build(std::move(sizes), [value](const Index&) { return value; });
}

/// Sequences of 3, 2 and 2 steps and how they lie when packed.
const std::vector<std::int64_t> kLengths = {3, 2, 2}, kBatchSizes = {3, 3, 1};

}  // namespace

void register_packing() {
  family("rnn");
  row("_pack_padded_sequence",
      [](In x) {
        return rows_of(ebb::_pack_padded_sequence(x[0], ebb::tensor(kLengths, ebb::kLong), false));
      })
      .shapes({{{4, 3, 2}}, {{3, 3}}})
      .reference([](const Arrays& in) {
        const std::size_t width = in[0].sizes.size() == 3 ? 2 : 1;
        Array out{{7}, {}};
        if (width == 2) out.sizes.push_back(2);
        for (std::size_t t = 0; t < 3; ++t)
          for (std::size_t n = 0; n < static_cast<std::size_t>(kBatchSizes[t]); ++n)
            for (std::size_t j = 0; j < width; ++j) out.values.push_back(in[0][(t * 3 + n) * width + j]);
        return Arrays{out};
      })
      .error("decreasing order",
             [] {
               ebb::_pack_padded_sequence(ebb::ones({3, 2, 1}), ebb::tensor({1, 2}, ebb::kLong), false);
             })
      .error("greater than 0",
             [] {
               ebb::_pack_padded_sequence(ebb::ones({3, 2, 1}), ebb::tensor({1, 0}, ebb::kLong), false);
             })
      .error("batch_size=2",
             [] {
               ebb::_pack_padded_sequence(ebb::ones({3, 2, 1}), ebb::tensor({1}, ebb::kLong), false);
             })
      .error("at most 3", [] {
        ebb::_pack_padded_sequence(ebb::ones({3, 2, 1}), ebb::tensor({4, 2}, ebb::kLong), false);
      });
  const auto pad = [](const char* name, bool batch_first, std::int64_t total) -> Row& {
    return row(name,
               [=](In x) {
                 return rows_of(ebb::_pad_packed_sequence(x[0], ebb::tensor(kBatchSizes, ebb::kLong),
                                                          batch_first, 0.5, total));
               })
        .shapes({{{7, 2}}})
        .reference([=](const Arrays& in) {
          const std::int64_t steps = total > 0 ? total : 3;
          Array out = filled(batch_first ? Sizes{3, steps, 2} : Sizes{steps, 3, 2}, 0.5);
          std::size_t from = 0;
          for (std::int64_t t = 0; t < 3; ++t)
            for (std::int64_t n = 0; n < kBatchSizes[static_cast<std::size_t>(t)]; ++n)
              for (std::int64_t j = 0; j < 2; ++j)
                out.values[static_cast<std::size_t>((batch_first ? n * steps + t : t * 3 + n) * 2 + j)] =
                    in[0][from++];
          return Arrays{out};
        });
  };
  pad("_pad_packed_sequence", false, 0).error("total_length", [] {
    ebb::_pad_packed_sequence(ebb::ones({7, 2}), ebb::tensor(kBatchSizes, ebb::kLong), false, 0, 2);
  });
  pad("_pad_packed_sequence.longer", true, 5);
  const auto padded = [](const char* name, bool batch_first, const char* side) -> Row& {
    return row(name, [=](In x) { return variable_list{ebb::pad_sequence(x, batch_first, 0.25, side)}; })
        .shapes({{{2, 2}, {4, 2}, {1, 2}}})
        .reference([=](const Arrays& in) {
          Array out = filled(batch_first ? Sizes{3, 4, 2} : Sizes{4, 3, 2}, 0.25);
          for (std::size_t n = 0; n < 3; ++n)
            for (std::size_t i = 0; i < in[n].values.size(); ++i) {
              const std::size_t t = i / 2 + (side[0] == 'l' ? 4 - in[n].values.size() / 2 : 0);
              out.values[(batch_first ? n * 4 + t : t * 3 + n) * 2 + i % 2] = in[n][i];
            }
          return Arrays{out};
        });
  };
  padded("pad_sequence", false, "right")
      .error("empty list", [] { ebb::pad_sequence(variable_list{}); })
      .error("left or right", [] { ebb::pad_sequence({ebb::ones({2})}, false, 0, "top"); })
      .error("differ in their lengths", [] {
        ebb::pad_sequence({ebb::ones({2, 3}), ebb::ones({2, 4})});
      });
  padded("pad_sequence.left", true, "left");
}

}  // namespace optable
