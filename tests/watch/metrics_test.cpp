// Metrics of ebb::watch: the values of scikit-learn over batches, devices, processes and compiled functions.
// The expected numbers are printed by sklearn_goldens.py.
#include <ebb/watch.h>

#include "support/catch.h"
#include "support/compare.h"
#include "support/files.h"

#include <cmath>
#include <limits>
#include <optional>

using namespace ebb;
using namespace ebb::watch;
using support::require_close;
using support::Saying;

namespace {

constexpr std::int64_t kSamples = 60, kClasses = 5;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Variable doubles(const std::vector<double>& values) { return tensor(values, kDouble); }

// The scores of sklearn_goldens.py, multiples of 1/8 with many ties.
Variable scores() {
  std::vector<double> values;
  for (std::int64_t i = 0; i < kSamples; ++i)
    for (std::int64_t c = 0; c < kClasses; ++c)
      values.push_back(std::floor(8 * std::sin(1.7 * static_cast<double>(i) + 2.3 * static_cast<double>(c))) /
                       8);
  return doubles(values).reshape({kSamples, kClasses});
}

Variable distinct() { return scores() + 1e-3 * arange(kClasses, TensorOptions(kDouble)); }

Variable targets() {
  const Variable i = arange(kSamples);
  return (i * i + floor_divide(i, 7)).remainder(4);
}

Variable multilabel_targets() {
  const Variable i = arange(kSamples).unsqueeze(1), c = arange(kClasses).unsqueeze(0);
  return (i * (c + 2) + floor_divide(i, 3)).remainder(3).eq(0).to(kLong);
}

// Calls update with batches of uneven sizes, one of them empty.
template <class M>
void update(M& metric, const Variable& predictions, const Variable& truth) {
  std::int64_t from = 0;
  for (const std::int64_t size : {7, 0, 25, 1, 27}) {
    metric.update(predictions.narrow(0, from, size), truth.narrow(0, from, size));
    from += size;
  }
}

Classification classified(
    const ClassificationOptions& options = ClassificationOptions(kClasses).top_k(3).confusion_matrix(true)) {
  Classification metric(options);
  update(metric, distinct(), targets());
  return metric;
}

std::vector<double> scores_of(const Classification& m, Average average) {
  return {m.precision(average), m.recall(average), m.f1(average)};
}

std::vector<double> curves_of(const Ranking& m, Average average) {
  return {m.auroc(average), m.average_precision(average)};
}

std::vector<double> errors_of(const Regression& m) { return {m.mse(), m.rmse(), m.mae(), m.r2()}; }

struct Regressed {
  Variable target, prediction;
};
Regressed regressed() {
  std::vector<double> y, p;
  for (std::int64_t n = 0; n < kSamples; ++n) {
    const auto i = static_cast<double>(n);
    y.push_back(1e6 + 3 * std::sin(0.9 * i) + 0.1 * i);
    p.push_back(1e6 + 2.5 * std::sin(0.9 * i + 0.2) + 0.1 * i);
  }
  return {doubles(y), doubles(p)};
}

// Returns what a metric gives after its state went through a file.
template <class M>
void restore(const M& from, M& to) {
  const std::string path = support::temporary("metric.safetensors");
  serialize::OutputArchive out;
  from.save(out);
  out.save_to(path);
  serialize::InputArchive in;
  in.load_from(path);
  to.load(in);
}

}  // namespace

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

TEST_CASE("metrics record no graph and work in and after an inference mode") {
  std::optional<InferenceMode> construction(std::in_place);
  Classification m(ClassificationOptions(2).confusion_matrix(true));
  Mean mean;
  Ranking ranking;
  Regression errors;
  construction.reset();
  const Variable x = tensor({0.25, 0.75}, kDouble).requires_grad_();
  {
    InferenceMode inference;
    m.update(x, tensor({0, 1}));
    mean.update(x * 2);
    ranking.update(x * 2, tensor({0, 1}));
  }
  m.update(x, tensor({1, 1}));
  mean.update(x * 4);
  errors.update(x, x * 2);
  ranking.update(x * 2, tensor({0, 1}));
  CHECK(m.accuracy() == 0.75);
  CHECK(mean.value() == 1.5);
  CHECK(ranking.auroc() == 1);
  CHECK(x.use_count() == 1);
}

TEST_CASE("metrics are updated by replays of a compiled function, which reads no element on the host") {
  Classification m(ClassificationOptions(kClasses).top_k(2).confusion_matrix(true));
  Regression errors;
  Mean mean, window(2);
  Perplexity perplexity;
  auto step = compile([&](Variable x, Variable y) {
    m.update(x, y);
    errors.update(x, x * 2);
    mean.update(x);
    window.update(x.sum());
    perplexity.update(x, y);
    return x.sum();
  });
  Classification expected(ClassificationOptions(kClasses).top_k(2).confusion_matrix(true));
  Regression expected_errors;
  Mean expected_mean, expected_window(2);
  Perplexity expected_perplexity;
  for (int i = 0; i < 6; ++i) {
    const Variable x = distinct().narrow(0, 10 * i, 10), y = targets().narrow(0, 10 * i, 10);
    step(x, y);
    expected.update(x, y);
    expected_errors.update(x, x * 2);
    expected_mean.update(x);
    expected_window.update(x.sum());
    expected_perplexity.update(x, y);
  }
  INFO(step.report().reason);
  CHECK(step.report().replays >= 3);
  CHECK(equal(m.confusion_matrix(), expected.confusion_matrix()));
  CHECK(m.top_k_accuracy() == expected.top_k_accuracy());
  CHECK(errors_of(errors) == errors_of(expected_errors));
  CHECK(mean.value() == expected_mean.value());
  CHECK(window.value() == expected_window.value());
  CHECK(perplexity.value() == expected_perplexity.value());
}

TEST_CASE("metrics give the same values on every device and follow the batches from one to another") {
  std::vector<Device> devices{Device::CPU};
  if (cuda::is_available()) devices.emplace_back(Device::CUDA);
  const auto [y, p] = regressed();
  for (const Device device : devices) {
    INFO(device.str());
    Classification m = classified(), top(ClassificationOptions(kClasses).top_k(3).confusion_matrix(true));
    update(top, distinct().to(device), targets().to(device));
    CHECK(top.top_k_accuracy() == m.top_k_accuracy());
    CHECK(top.per_class().equal(m.per_class()));
    CHECK(top.confusion_matrix().equal(m.confusion_matrix()));
    m.update(distinct().to(device), targets().to(device));
    CHECK(m.f1() == top.f1());
    m.merge(top);
    CHECK(m.confusion_matrix().equal(3 * top.confusion_matrix()));
    Ranking areas;
    areas.update(scores().narrow(0, 0, 20), targets().narrow(0, 0, 20));
    areas.update(scores().narrow(0, 20, 40).to(device), targets().narrow(0, 20, 40).to(device));
    Ranking expected;
    update(expected, scores(), targets());
    require_close(areas.per_class(), expected.per_class(), 1e-13);
    Regression errors;
    update(errors, p.to(device), y.to(device));
    require_close(errors_of(errors),
                  {0.27516683903451883, 0.5245634747430656, 0.4765524932629584, 0.9631669975808975}, 1e-10);
    Mean mean(3);
    for (int i = 0; i < 5; ++i) mean.update(full({2}, i, TensorOptions(kFloat).device(device)));
    mean.update(8);
    CHECK(mean.value() == Approx((3 * 2 + 4 * 2 + 8) / 5.0));
    Perplexity perplexity;
    update(perplexity, scores().to(device), targets().to(device));
    CHECK(perplexity.value() == Approx(6.260569096424133).epsilon(1e-12));
    m.reset();
    CHECK_THROWS_MATCHES(m.accuracy(), Error, Saying("no sample"));
    if (device.is_cuda())
      CHECK_THROWS_MATCHES(m.update(distinct().to(device), targets()), Error, Saying("on one device"));
  }
}

TEST_CASE("merge adds the samples of another process that sent its state") {
  const auto half = [](auto& metric, const Variable& x, const Variable& y, std::int64_t part) {
    metric.update(x.narrow(0, 23 * part, part == 0 ? 23 : 37), y.narrow(0, 23 * part, part == 0 ? 23 : 37));
  };
  const auto merged = [&](auto& a, auto& b, auto& received, const Variable& x, const Variable& y) {
    half(a, x, y, 0);
    half(b, x, y, 1);
    restore(b, received);
    a.merge(received);
  };
  Classification c[3] = {Classification(kClasses), Classification(kClasses), Classification(kClasses)};
  merged(c[0], c[1], c[2], distinct(), targets());
  CHECK(c[0].f1() == classified().f1());
  Ranking r[3], whole;
  merged(r[0], r[1], r[2], scores(), multilabel_targets());
  update(whole, scores(), multilabel_targets());
  CHECK(r[0].auroc() == whole.auroc());
  const auto [y, p] = regressed();
  Regression e[3], all;
  merged(e[0], e[1], e[2], p, y);
  all.update(p, y);
  require_close(errors_of(e[0]), errors_of(all), 1e-9);
  e[0].merge(Regression());
  require_close(errors_of(e[0]), errors_of(all), 1e-9);
  Perplexity l[3], loss;
  merged(l[0], l[1], l[2], scores(), targets());
  loss.update(scores(), targets());
  CHECK(l[0].value() == Approx(loss.value()));

  Classification other(3);
  CHECK_THROWS_MATCHES(c[0].merge(other), Error, Saying("Classification: the other state is of"));
  CHECK_THROWS_MATCHES(c[0].merge(c[0]), Error, Saying("the same object"));
  CHECK_THROWS_MATCHES(c[0].merge(all), Error, Saying("got Regression"));
  CHECK_THROWS_MATCHES(restore(c[0], other), Error, Saying("other options"));
  Mean window[2] = {Mean(2), Mean(2)};
  for (const double x : {9, 1, 2}) window[0].update(x), window[1].update(x + 4);
  window[0].merge(window[1]);
  CHECK(window[0].value() == 3.5);
  CHECK_THROWS_MATCHES(window[0].merge(Mean(3)), Error, Saying("other options"));
}

TEST_CASE("a metric continues from a checkpoint of a run") {
  const std::string path = support::temporary("metric.ckpt");
  Classification a(kClasses), b(kClasses);
  Ranking ra, rb;
  a.update(distinct().narrow(0, 0, 20), targets().narrow(0, 0, 20));
  ra.update(scores().narrow(0, 0, 20), multilabel_targets().narrow(0, 0, 20));
  Checkpoint(path).add("valid", a).add("ranking", ra).save();
  b.update(distinct(), targets());
  rb.update(scores(), multilabel_targets());
  REQUIRE(Checkpoint(path).add("valid", b).add("ranking", rb).load());
  b.update(distinct().narrow(0, 20, 40), targets().narrow(0, 20, 40));
  rb.update(scores().narrow(0, 20, 40), multilabel_targets().narrow(0, 20, 40));
  CHECK(b.accuracy() == classified().accuracy());
  Ranking whole;
  whole.update(scores(), multilabel_targets());
  CHECK(rb.auroc() == whole.auroc());
}

TEST_CASE("metrics report wrong classes when a value is read") {
  Classification m(3);
  m.update(tensor({0, 1, 3}), tensor({0, -1, 2}));
  m.update(tensor({0, 1, -7}), tensor({4, 1, 2}));
  CHECK_THROWS_MATCHES(m.accuracy(), Error,
                       Saying("2 targets and 2 predictions were not classes from 0 to 2"));
  m.reset();
  CHECK_THROWS_MATCHES(m.accuracy(), Error, Saying("no sample"));
  Ranking r;
  CHECK_THROWS_MATCHES(r.auroc(), Error, Saying("no sample"));
  r.update(tensor({0.5, 0.25, 0.75}), tensor({0, 1, 2}));
  CHECK_THROWS_MATCHES(r.auroc(), Error, Saying("1 targets were not from 0 to 1"));
  r.reset();
  r.update(zeros({2, 3}), tensor({2, 3}));
  CHECK_THROWS_MATCHES(r.auroc(), Error, Saying("not from 0 to 2"));
  Regression e;
  CHECK_THROWS_MATCHES(e.mse(), Error, Saying("no sample"));
}

TEST_CASE("metrics refuse tensors of wrong shapes and dtypes and say what they expect") {
  Classification m(3), two(2), top(ClassificationOptions(3).top_k(2));
  CHECK_THROWS_MATCHES(m.update(zeros({4, 2}), zeros({4}, kLong)), Error, Saying("scores [N, 3, ...]"));
  CHECK_THROWS_MATCHES(m.update(zeros({4, 3}), zeros({3}, kLong)), Error, Saying("[4, 3]"));
  CHECK_THROWS_MATCHES(m.update(zeros({4}), zeros({4}, kLong)), Error, Saying("classes [N, ...]"));
  CHECK_THROWS_MATCHES(m.update(zeros({4, 3}), zeros({4})), Error, Saying("integer dtype"));
  CHECK_THROWS_MATCHES(m.update(zeros({3}), zeros({}, kLong)), Error, Saying("integer dtype"));
  CHECK_THROWS_MATCHES(m.update(Variable(), zeros({4}, kLong)), Error, Saying("undefined"));
  CHECK_THROWS_MATCHES(two.update(zeros({4}), zeros({3}, kLong)), Error, Saying("probabilities"));
  CHECK_THROWS_MATCHES(top.update(zeros({4}, kLong), zeros({4}, kLong)), Error, Saying("top_k needs scores"));
  CHECK_THROWS_MATCHES(Classification(1), Error, Saying("2 or more classes, got 1"));
  CHECK_THROWS_MATCHES(Classification(ClassificationOptions(3).top_k(4)), Error, Saying("top_k is 4"));
  m.update(zeros({4, 3}), zeros({4}, kLong));
  CHECK_THROWS_MATCHES(m.f1(Average::binary), Error, Saying("needs 2 classes, but there are 3"));
  CHECK_THROWS_MATCHES(m.confusion_matrix(), Error, Saying("confusion_matrix(true)"));
  Ranking r;
  CHECK_THROWS_MATCHES(r.update(zeros({4}), zeros({4})), Error, Saying("integer dtype"));
  CHECK_THROWS_MATCHES(r.update(zeros({4, 2}), zeros({4, 3}, kLong)), Error, Saying("[N, classes]"));
  r.update(zeros({4, 2}), zeros({4}, kLong));
  CHECK_THROWS_MATCHES(r.update(zeros({4, 3}), zeros({4}, kLong)), Error, Saying("Call reset()"));
  CHECK_THROWS_MATCHES(r.update(zeros({4, 2}), zeros({4, 2}, kLong)), Error, Saying("Call reset()"));
  Regression e, pair(2);
  CHECK_THROWS_MATCHES(e.update(zeros({4, 1}), zeros({4})), Error, Saying("one shape"));
  CHECK_THROWS_MATCHES(pair.update(zeros({4}), zeros({4})), Error, Saying("2 columns"));
  CHECK_THROWS_MATCHES(Regression(0), Error, Saying("got 0"));
  Perplexity p;
  CHECK_THROWS_MATCHES(p.update(zeros({4, 3}), zeros({3}, kLong)), Error, Saying("logits [..., classes]"));
  CHECK_THROWS_AS(p.update(zeros({4, 3}), full({4}, 3, kLong)), Error);
  CHECK_THROWS_MATCHES(Mean(-1), Error, Saying("window is -1"));
  Mean mean;
  CHECK_THROWS_AS(mean.update(zeros({4}), zeros({3})), Error);
  CHECK_THROWS_MATCHES(mean.update(Variable()), Error, Saying("undefined"));
}
