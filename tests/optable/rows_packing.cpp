// Rows of packed and padded sequences, and of ctc_loss.
#include <ebb/nn/functional/ctc_loss.h>
#include <ebb/ops/loss.h>
#include <ebb/ops/rnn.h>

#include "optable/reference.h"
#include "optable/table.h"

#include <algorithm>
#include <cmath>

namespace optable {
namespace {

/// The rows of the result. tests/nn/rnn_test.cpp checks the other parts, which stay on the CPU.
variable_list rows_of(std::tuple<Variable, Variable> x) { return {std::get<0>(x)}; }

/// Returns an array of equal numbers.
Array filled(Sizes sizes, double value) {
  return build(std::move(sizes), [value](const Index&) { return value; });
}

/// Sequences of 3, 2 and 2 steps, and the batch sizes of their packed form.
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
             [] { ebb::_pack_padded_sequence(ebb::ones({3, 2, 1}), ebb::tensor({1, 2}, ebb::kLong), false); })
      .error("greater than 0",
             [] { ebb::_pack_padded_sequence(ebb::ones({3, 2, 1}), ebb::tensor({1, 0}, ebb::kLong), false); })
      .error("batch_size=2",
             [] { ebb::_pack_padded_sequence(ebb::ones({3, 2, 1}), ebb::tensor({1}, ebb::kLong), false); })
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
      .error("differ only in length", [] { ebb::pad_sequence({ebb::ones({2, 3}), ebb::ones({2, 4})}); });
  padded("pad_sequence.left", true, "left");
}

// ctc_loss against the sum over all alignments.

namespace {

// Returns -log of the total probability of all class sequences with `steps` steps that collapse to the
// target; x contains scores, from which softmax computes probabilities.
double loss_of(const Array& x, std::int64_t sample, std::int64_t steps, const Index& target,
               std::int64_t blank) {
  const std::int64_t classes = x.sizes[2];
  std::int64_t paths = 1;
  for (std::int64_t t = 0; t < steps; ++t) paths *= classes;
  double sum = 0;
  for (std::int64_t path = 0; path < paths; ++path) {
    Index collapsed;
    double probability = 1;
    std::int64_t before = blank;
    for (std::int64_t t = 0, rest = path; t < steps; ++t, rest /= classes) {
      const std::int64_t c = rest % classes;
      double total = 0;
      for (std::int64_t k = 0; k < classes; ++k) total += std::exp(x({t, sample, k}));
      probability *= std::exp(x({t, sample, c})) / total;
      if (c != blank && c != before) collapsed.push_back(c);
      before = c;
    }
    if (collapsed == target) sum += probability;
  }
  return -std::log(sum);
}

variable_list of_scores(In x, const ebb::Variable& targets, ebb::IntArrayRef lengths,
                        ebb::IntArrayRef target_lengths, std::int64_t blank, std::int64_t reduction) {
  const ebb::Variable to = targets.to(ebb::TensorOptions(ebb::kLong).device(x[0].device()));
  return {ebb::ctc_loss(x[0].log_softmax(2), to, lengths, target_lengths, blank, reduction)};
}

Row& ctc(const char* name, Row::Function f, Row::Reference reference) {
  return row(name, std::move(f))
      .shapes({{{4, 2, 3}, {4}}})
      .special([](std::size_t, std::size_t input) {
        return input == 1 ? ebb::tensor({1, 2, 2, 2}, ebb::kLong) : Variable();
      })
      .range(-1, 1)
      .order(1, "torch differentiates it once")
      .roundings(16)
      .no_half("Float and Double only, as in torch")
      .reference(std::move(reference));
}

}  // namespace

void register_ctc() {
  family("loss");
  ctc(
      "ctc_loss", [](In x) { return of_scores(x, x[1], {4, 3}, {2, 2}, 0, ebb::Reduction::None); },
      [](const Arrays& in) {
        return Arrays{{{2}, {loss_of(in[0], 0, 4, {1, 2}, 0), loss_of(in[0], 1, 3, {2, 2}, 0)}}};
      })
      .error("blank must be in label range",
             [] { ebb::ctc_loss(ebb::zeros({2, 1, 3}), ebb::ones({1, 1}, ebb::kLong), {2}, {1}, 3); });
  ctc(
      "ctc_loss.mean",
      [](In x) { return of_scores(x, x[1].view({2, 2}), {4, 4}, {2, 1}, 0, ebb::Reduction::Mean); },
      [](const Arrays& in) {
        return Arrays{{{}, {(loss_of(in[0], 0, 4, {1, 2}, 0) / 2 + loss_of(in[0], 1, 4, {2}, 0)) / 2}}};
      });
  // The blank is the last class, one target is empty, and one label occurs three times.
  ctc(
      "ctc_loss.last_blank",
      [](In x) { return of_scores(x, x[1] - 1, {6, 2}, {4, 0}, 2, ebb::Reduction::Sum); },
      [](const Arrays& in) {
        return Arrays{{{}, {loss_of(in[0], 0, 4, {0, 1, 1, 1}, 2) + loss_of(in[0], 1, 2, {}, 2)}}};
      })
      .shapes({{{6, 2, 3}, {4}}})
      .reference([](const Arrays& in) {
        return Arrays{{{}, {loss_of(in[0], 0, 6, {0, 1, 1, 1}, 2) + loss_of(in[0], 1, 2, {}, 2)}}};
      });
}

}  // namespace optable
