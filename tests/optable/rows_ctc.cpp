// Connectionist temporal classification, against the sum over all alignments.
#include <ebb/nn/functional/ctc_loss.h>
#include <ebb/ops/ctc_loss.h>
#include <ebb/ops/loss.h>

#include <cmath>

#include "optable/reference.h"
#include "optable/table.h"

namespace optable {
namespace {

// -log of the summed probability of all class sequences of so many steps that collapse to the target; x has
// scores, of which softmax makes probabilities.
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
      "ctc_loss",
      [](In x) {
        return of_scores(x, x[1], {4, 3}, {2, 2}, 0, ebb::Reduction::None);
      },
      [](const Arrays& in) {
        return Arrays{{{2}, {loss_of(in[0], 0, 4, {1, 2}, 0), loss_of(in[0], 1, 3, {2, 2}, 0)}}};
      })
      .error("blank must be in label range", [] {
        ebb::ctc_loss(ebb::zeros({2, 1, 3}), ebb::ones({1, 1}, ebb::kLong), {2}, {1}, 3);
      });
  ctc(
      "ctc_loss.mean",
      [](In x) {
        return of_scores(x, x[1].view({2, 2}), {4, 4}, {2, 1}, 0, ebb::Reduction::Mean);
      },
      [](const Arrays& in) {
        return Arrays{{{}, {(loss_of(in[0], 0, 4, {1, 2}, 0) / 2 + loss_of(in[0], 1, 4, {2}, 0)) / 2}}};
      });
  // The blank is the last class, a target is empty, and a label comes three times.
  ctc(
      "ctc_loss.last_blank",
      [](In x) {
        return of_scores(x, x[1] - 1, {6, 2}, {4, 0}, 2, ebb::Reduction::Sum);
      },
      [](const Arrays& in) {
        return Arrays{{{}, {loss_of(in[0], 0, 4, {0, 1, 1, 1}, 2) + loss_of(in[0], 1, 2, {}, 2)}}};
      })
      .shapes({{{6, 2, 3}, {4}}})
      .reference([](const Arrays& in) {
        return Arrays{{{}, {loss_of(in[0], 0, 6, {0, 1, 1, 1}, 2) + loss_of(in[0], 1, 2, {}, 2)}}};
      });
}

}  // namespace optable
