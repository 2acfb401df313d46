// Metrics of ebb::watch: the values of scikit-learn over batches.
// The expected numbers are printed by sklearn_goldens.py.
#include <ebb/watch.h>

#include "metric_samples.h"
#include "support/catch.h"
#include "support/compare.h"
#include "support/files.h"

#include <cmath>
#include <limits>
#include <optional>

using namespace watch_samples;
using support::require_close;
using support::Saying;

TEST_CASE("Classification gives the accuracies of scikit-learn") {
  const Classification m = classified();
  CHECK(m.accuracy() == Approx(0.26666666666666666).epsilon(1e-14));
  CHECK(m.top_k_accuracy() == Approx(0.5333333333333333).epsilon(1e-14));
  CHECK(m.balanced_accuracy() == Approx(0.27529761904761907).epsilon(1e-14));
}

TEST_CASE("Classification gives the averages of precision, recall and F1 of scikit-learn") {
  const Classification m = classified();
  require_close(scores_of(m, Average::macro), {0.2585897435897436, 0.22023809523809526, 0.23277777777777775},
                1e-14);
  require_close(scores_of(m, Average::weighted),
                {0.32358974358974363, 0.26666666666666666, 0.28555555555555556}, 1e-14);
  require_close(scores_of(m, Average::micro), {0.26666666666666666, 0.26666666666666666, 0.26666666666666666},
                1e-14);
  require_close(m.per_class(),
                {0.3333333333333333,
                 0.2,
                 0.375,
                 0.38461538461538464,
                 0.0,
                 0.16666666666666666,
                 0.14285714285714285,
                 0.375,
                 0.4166666666666667,
                 0.0,
                 0.2222222222222222,
                 0.16666666666666666,
                 0.375,
                 0.4,
                 0.0,
                 18.0,
                 14.0,
                 16.0,
                 12.0,
                 0.0},
                1e-14);
}

TEST_CASE("Classification averages over the classes that occur only") {
  Classification m(4);
  m.update(tensor({0, 0, 1}), tensor({0, 1, 1}));  // classes 2 and 3 occur nowhere
  CHECK(m.recall() == Approx(0.75));
  m.update(tensor({2}), tensor({0}));  // class 2 is predicted
  CHECK(m.recall() == Approx((0.5 + 0.5 + 0) / 3));
  CHECK(m.balanced_accuracy() == Approx(0.5));
}

TEST_CASE("Classification counts pairs of classes as confusion_matrix does") {
  const Classification m = classified();
  const Variable table = m.confusion_matrix();
  CHECK(table.dtype() == kLong);
  require_close(table, {3, 2, 3, 5, 5, 4, 2, 2, 1, 5, 2, 5, 6, 2, 1, 0, 1, 5, 5, 1, 0, 0, 0, 0, 0});
}

TEST_CASE("Classification leaves out samples of ignore_index") {
  Classification m = classified(ClassificationOptions(kClasses).ignore_index(2).confusion_matrix(true));
  CHECK(m.accuracy() == Approx(0.22727272727272727).epsilon(1e-14));
  CHECK(m.f1() == Approx(0.17706178489702515).epsilon(1e-14));
  CHECK(m.confusion_matrix().sum().item<std::int64_t>() == 44);
  Classification outside(ClassificationOptions(2).ignore_index(-100));
  outside.update(tensor({0, 1, 1}), tensor({-100, 1, 0}));
  CHECK(outside.accuracy() == 0.5);
}

TEST_CASE("Classification thresholds probabilities and logits of two classes") {
  const Variable probability = (scores().select(1, 0) + 1) / 2, truth = targets().ge(2).to(kLong);
  Classification m(2), logits(ClassificationOptions(2).threshold(0));
  update(m, probability, truth);
  update(logits, scores().select(1, 0).to(kFloat), truth.to(kBool));
  const std::vector<double> expected{0.4444444444444444, 0.42857142857142855, 0.43636363636363634};
  require_close(scores_of(m, Average::binary), expected, 1e-14);
  require_close(scores_of(logits, Average::binary), expected, 1e-14);
}

TEST_CASE("Classification takes scores of images and classes of any integer dtype") {
  // [N, classes] as [N / 6, classes, 2, 3]
  const Variable images = distinct().reshape({10, 2, 3, kClasses}).permute({0, 3, 1, 2});
  Classification m(ClassificationOptions(kClasses).top_k(3)), classes(kClasses);
  m.update(images.to(kFloat), targets().reshape({10, 2, 3}).to(kByte));
  CHECK(m.accuracy() == Approx(classified().accuracy()));
  CHECK(m.top_k_accuracy() == Approx(classified().top_k_accuracy()));
  classes.update(distinct().argmax(1).to(kInt), targets().to(kShort));
  CHECK(classes.f1() == Approx(classified().f1()));
}

TEST_CASE("Ranking gives the areas of scikit-learn for two classes") {
  Ranking m;
  update(m, (scores().select(1, 0) + 1) / 2, targets().ge(2).to(kLong));
  for (const Average average : {Average::macro, Average::micro, Average::binary})
    require_close(curves_of(m, average), {0.4988839285714286, 0.43469352231872477}, 1e-13);
}

TEST_CASE("Ranking gives the areas of scikit-learn for classes against the rest") {
  Variable four = (softmax(scores().narrow(1, 0, 4), 1) * 16).round() / 16;
  four.select(1, 3).copy_(1 - four.narrow(1, 0, 3).sum(1));
  Ranking m;
  update(m, four, targets());
  require_close(curves_of(m, Average::macro), {0.5134684219263024, 0.3072701110563744}, 1e-13);
  require_close(curves_of(m, Average::weighted), {0.5134140316205534, 0.3080150395673542}, 1e-13);
  require_close(curves_of(m, Average::micro), {0.5133333333333334, 0.28460262508539674}, 1e-13);
  require_close(
      m.per_class(),
      {0.5092592592592593, 0.5031055900621118, 0.5241477272727273, 0.517361111111111, 0.3235571367755276,
       0.3349170437405732, 0.28019003380024243, 0.29041622990915444, 18, 14, 16, 12},
      1e-13);
}

TEST_CASE("Ranking gives the areas of scikit-learn for several labels") {
  Ranking m;
  update(m, scores(), multilabel_targets());
  require_close(curves_of(m, Average::macro), {0.49831089743589746, 0.3440762028442278}, 1e-13);
  require_close(curves_of(m, Average::weighted), {0.49821832579185515, 0.34443192540680756}, 1e-13);
  require_close(curves_of(m, Average::micro), {0.4980194097841157, 0.3343026202116708}, 1e-13);
}

TEST_CASE("Ranking gives NaN for classes of one kind and for scores that are NaN") {
  Ranking m;
  m.update(tensor({0.25, 0.5}), tensor({1, 1}));
  CHECK(std::isnan(m.auroc()));
  CHECK(m.average_precision() == 1);
  m.reset();
  m.update(tensor({0.25, 0.5}), tensor({0, 0}));
  CHECK(std::isnan(m.auroc()));
  CHECK(m.average_precision() == 0);
  m.update(tensor({1.0, kNaN}), tensor({1, 0}));
  CHECK(std::isnan(m.auroc()));
  CHECK(std::isnan(m.average_precision()));
  m.reset();
  m.update(tensor({{0.25, 0.5}, {0.5, 0.75}}), zeros({2, 2}, kLong));
  CHECK(m.average_precision(Average::weighted) == 0);
  CHECK(std::isnan(m.auroc(Average::weighted)));
  m.reset();
  const double infinity = std::numeric_limits<double>::infinity();
  m.update(tensor({-infinity, 0.0, infinity}), tensor({0, 0, 1}));
  CHECK(m.auroc() == 1);
}

TEST_CASE("Ranking keeps copies of the batches and the precision of their dtype") {
  Ranking m;
  Variable x = tensor({0.1, 0.2, 0.3, 0.4}).to(kHalf), y = tensor({0, 0, 1, 1});
  m.update(x, y);
  x.zero_();
  y.zero_();
  CHECK(m.auroc() == 1);
  m.reset();
  m.update(tensor({1.0, 1.0 + 1e-12}, kDouble), tensor({0, 1}));
  CHECK(m.auroc() == 1);
}

TEST_CASE("Regression gives the errors and R2 of scikit-learn for large means") {
  const auto [y, p] = regressed();
  Regression m, two(2);
  update(m, p, y);
  two.update(p.reshape({-1, 2}), y.reshape({-1, 2}));
  require_close(errors_of(m),
                {0.27516683903451883, 0.5245634747430656, 0.4765524932629584, 0.9631669975808975}, 1e-10);
  require_close(errors_of(two),
                {0.27516683903451883, 0.5245494367169784, 0.47655249326295845, 0.9631488775222291}, 1e-10);
}

TEST_CASE("Regression gives the R2 of scikit-learn for constant targets and for one sample") {
  Regression m;
  m.update(tensor({0.25}), tensor({0.1}));
  CHECK(std::isnan(m.r2()));
  CHECK(m.mae() == Approx(0.15));
  for (int i = 0; i < 10; ++i) m.update(full({3}, 0.1, kDouble), full({3}, 0.1, kDouble));
  m.reset();
  for (int i = 0; i < 10; ++i) m.update(full({3}, 0.1, kDouble), full({3}, 0.1, kDouble));
  CHECK(m.r2() == 1);
  m.update(full({1}, 0.3, kDouble), full({1}, 0.1, kDouble));
  CHECK(m.r2() == 0);
}

TEST_CASE("Mean weights its values and forgets all but a window") {
  Mean m, last(2);
  CHECK_THROWS_MATCHES(m.value(), Error, Saying("no value"));
  for (const double x : {1.0, 2.0, 6.0}) m.update(x), last.update(tensor(x));
  CHECK(m.value() == 3);
  CHECK(last.value() == 4);
  m.update(tensor({1.0, 2.0}), tensor({3.0, 0.0}));
  CHECK(m.value() == Approx((9 + 3) / 6.0));
  m.update(tensor({{1, 2}, {3, 4}}), tensor({0.5}));
  CHECK(m.value() == Approx((12 + 5) / 8.0));
  m.reset();
  m.update(2, 0.25);
  CHECK(m.value() == 2);
  last.update(kNaN);
  CHECK(std::isnan(last.value()));
  last.update(1), last.update(2);
  CHECK(last.value() == 1.5);
}

TEST_CASE("Mean does not lose a small number after many large ones") {
  Mean m;
  const Variable x = full({1000}, 16777217.0, kDouble);  // 2^24 + 1 is no Float
  for (int i = 0; i < 100; ++i) m.update(x);
  CHECK(m.value() == 16777217);
}

TEST_CASE("Perplexity is exp of the mean log_loss of scikit-learn") {
  Perplexity m, sequences(0);
  update(m, scores(), targets());
  CHECK(m.value() == Approx(6.260569096424133).epsilon(1e-12));
  sequences.update(scores().reshape({6, 10, kClasses}), targets().reshape({6, 10}));
  Perplexity kept;
  const Variable places = targets().nonzero().reshape({-1});
  kept.update(scores().index_select(0, places), targets().index_select(0, places));
  CHECK(sequences.value() == Approx(kept.value()).epsilon(1e-12));
  Perplexity half;
  half.update(zeros({3, 8}, kHalf), zeros({3}, kLong));
  CHECK(half.value() == Approx(8));
}
