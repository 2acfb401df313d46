// Metrics of ebb::watch: graphs, devices, compiled functions, processes, checkpoints and errors.
#include <ebb/watch.h>

#include "metric_samples.h"
#include "support/catch.h"
#include "support/compare.h"
#include "support/files.h"
#include "support/scopes.h"

#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

using namespace watch_samples;
using support::Contains;
using support::require_close;
using support::Saying;

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

// Updates every metric once, in each of the ways that its update() has.
struct AllMetrics {
  Classification classes{ClassificationOptions(kClasses).top_k(2).ignore_index(1).confusion_matrix(true)};
  Classification plain{kClasses};
  Classification two{2};
  Ranking binary, rest, labels;
  Regression errors, outputs{kClasses};
  Mean mean, window{2};
  Perplexity perplexity;

  std::vector<std::function<void(const Variable& x, const Variable& y)>> updates{
      [this](const Variable& x, const Variable& y) { classes.update(x, y); },
      [this](const Variable& x, const Variable& y) { plain.update(x, y); },
      [this](const Variable&, const Variable& y) { plain.update(y, y); },
      [this](const Variable& x, const Variable& y) { two.update(x.select(1, 0), y.ge(2)); },
      [this](const Variable& x, const Variable& y) { binary.update(x.select(1, 0), y.ge(2)); },
      [this](const Variable& x, const Variable& y) { rest.update(x, y); },
      [this](const Variable& x, const Variable&) { labels.update(x, x.gt(0)); },
      [this](const Variable& x, const Variable&) { errors.update(x, x * 2); },
      [this](const Variable& x, const Variable&) { outputs.update(x, x * 2); },
      [this](const Variable& x, const Variable& y) { mean.update(x, y.unsqueeze(1)); },
      [this](const Variable&, const Variable&) { mean.update(2, 3); },
      [this](const Variable& x, const Variable&) { window.update(x); },
      [this](const Variable& x, const Variable& y) { perplexity.update(x, y); }};
};

TEST_CASE("update of every metric reads no element on the host") {
  const support::Warnings warnings;
  AllMetrics metrics;
  const Variable x = distinct(), y = targets();
  for (std::size_t i = 0; i < metrics.updates.size(); ++i) {
    INFO("update " << i);
    auto step = compile([&](Variable scores, Variable classes) {
      metrics.updates[i](scores, classes);
      return scores.sum();
    });
    for (int k = 0; k < 4; ++k) step(x, y);
    CHECK_THAT(step.report().reason, !Contains("the host reads"));
  }
  // The recorder notices a read.
  Ranking ranking;
  auto reads = compile([&](Variable scores, Variable classes) {
    ranking.update(scores, classes);
    return scores.sum() + ranking.auroc();
  });
  for (int k = 0; k < 4; ++k) reads(x, y);
  CHECK_THAT(reads.report().reason, Contains("the host reads"));
}

TEST_CASE("update of every metric can be captured in a graph, which refuses to wait for the device") {
  if (!cuda::is_available()) return;
  AllMetrics metrics;
  const Variable x = distinct().to(Device::CUDA), y = targets().to(Device::CUDA);
  for (std::size_t i = 0; i < metrics.updates.size(); ++i) {
    INFO("update " << i);
    metrics.updates[i](x, y);  // moves the state
    cuda::Graph graph;
    graph.capture([&] { metrics.updates[i](x, y); });
    CHECK(graph.is_captured());
    graph.replay();
  }
  CHECK(metrics.plain.accuracy() == Approx((classified().accuracy() + 1) / 2));
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
