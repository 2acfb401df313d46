// Classification, Ranking, Regression, Mean and Perplexity: metrics that are accumulated over batches.
#pragma once

#include <ebb/archive.h>
#include <ebb/core/arg.h>

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace ebb::watch {

/// Base class of metrics (torchmetrics.Metric). Their values are those of scikit-learn for all samples.
///
///     Classification valid(10);
///     for (auto& batch : *loader) valid.update(model->forward(batch.data), batch.target);
///     log.log(epoch, {{"accuracy", valid.accuracy()}, {"f1", valid.f1(Average::weighted)}});
///     valid.reset();
///
/// update() records no graph and reads no element, so that it does not wait for a device. Except in Ranking,
/// it also works in a compiled function. The state follows the batches to their device, in Long or Double. A
/// value waits for the device; it throws if there is no sample, or if a batch contained a wrong class. A
/// metric can be a part of a Checkpoint, and can be moved, not copied.
class EBB_API Metric {
 public:
  virtual ~Metric() = default;
  Metric(Metric&&) = default;
  Metric& operator=(Metric&&) = default;

  /// Forgets all samples.
  virtual void reset();
  /// Adds the samples of another metric with the same options, for example of another process, from which
  /// save() and load() carry it.
  void merge(const Metric& other);
  void save(serialize::OutputArchive& archive) const;
  void load(serialize::InputArchive& archive);

 protected:
  Metric(const char* name, std::vector<Variable> zeros) : name_(name), state_(std::move(zeros)) {}
  virtual void combine(const std::vector<Variable>& other);
  /// Returns the state for the samples of both.
  virtual Variable joined(const Variable& a, const Variable& b) const;
  /// Checks that the tensors are on one device, and moves the state there.
  const std::vector<Variable>& state_for(const Variable& predictions, const Variable& targets);

  const char* name_;
  std::vector<Variable> state_;
};

/// The way in which the values of classes become one. `macro` is their mean, `weighted` the mean weighted by
/// the numbers of true samples, `binary` the value of class 1 of two. `micro` counts all classes together.
enum class Average { macro, weighted, micro, binary };

/// Options of Classification, which begin with the number of classes.
class EBB_API ClassificationOptions {
 public:
  ClassificationOptions(std::int64_t num_classes) : num_classes_(num_classes) {}
  EBB_ARG(std::int64_t, num_classes);
  EBB_ARG(std::int64_t, top_k) = 1;               ///< for top_k_accuracy
  EBB_ARG(double, threshold) = 0.5;               ///< a larger probability is class 1; 0 is for logits
  EBB_ARG(optional<std::int64_t>, ignore_index);  ///< samples of this target are not counted
  EBB_ARG(bool, confusion_matrix) = false;        ///< counts every pair of classes, Long [classes, classes]
};

/// Counts of predicted and true classes. A quotient by 0 is 0.
class EBB_API Classification : public Metric {
 public:
  explicit Classification(const ClassificationOptions& options);
  /// Targets [N, ...] are classes of an integer dtype. Predictions are scores [N, classes, ...] of a floating
  /// dtype, classes [N, ...], or for two classes probabilities of class 1 [N, ...].
  void update(const Variable& predictions, const Variable& targets);

  /// Returns the number of correct predictions over the number of samples (accuracy_score).
  double accuracy() const { return part(0); }
  /// Returns the part of the targets that are among the top_k highest scores (top_k_accuracy_score).
  double top_k_accuracy() const { return part(3); }
  /// Returns the mean recall of the classes that have samples (balanced_accuracy_score).
  double balanced_accuracy() const;
  /// Return true positives over predicted positives, true positives over true samples, and the harmonic mean
  /// of both (precision_score, recall_score, f1_score). `macro` leaves out classes that do not occur.
  double precision(Average average = Average::macro) const { return score(0, average); }
  double recall(Average average = Average::macro) const { return score(1, average); }
  double f1(Average average = Average::macro) const { return score(2, average); }
  /// Returns precision, recall, F1 and the number of true samples of every class, Double [4, classes]
  /// (precision_recall_fscore_support).
  Variable per_class() const;
  /// Returns counts of true (rows) and predicted classes, Long [classes, classes] (confusion_matrix), as
  /// Figure::confusion_table draws them.
  Variable confusion_matrix() const;

 private:
  double part(std::int64_t row) const;
  double score(std::int64_t row, Average average) const;
  Variable counts() const;

  ClassificationOptions options_;
};

/// Curves over all thresholds of the scores. It keeps every score, on its device. Scores [N] have targets 0
/// or 1 [N]. Scores [N, classes] have classes [N], each against the rest, or 0 and 1 [N, classes].
class EBB_API Ranking : public Metric {
 public:
  Ranking() : Metric("Ranking", {}) {}
  void update(const Variable& scores, const Variable& targets);
  /// Returns the area under the ROC curve (roc_auc_score, multi_class="ovr"). It is NaN if a class has no
  /// positive or no negative sample, or if a score is NaN.
  double auroc(Average average = Average::macro) const { return score(0, average); }
  /// Returns sum_n (R_n - R_(n-1)) P_n over recall R and precision P (average_precision_score); 0 for a class
  /// without positive samples.
  double average_precision(Average average = Average::macro) const { return score(1, average); }
  /// Returns auroc, average precision and the number of positive samples of every class, Double [3, classes].
  Variable per_class() const { return curves(false); }
  void reset() override { state_.clear(); }

 private:
  void combine(const std::vector<Variable>& other) override;
  double score(std::int64_t row, Average average) const;
  Variable curves(bool together) const;
};

/// Errors of real numbers [N], or [N, outputs], in which case the values are means over the outputs. Means
/// and variances are merged without cancellation (Chan, Golub and LeVeque, 1983).
class EBB_API Regression : public Metric {
 public:
  explicit Regression(std::int64_t outputs = 1);
  void update(const Variable& predictions, const Variable& targets);
  double mse() const { return errors()[0]; }   ///< mean_squared_error
  double rmse() const { return errors()[1]; }  ///< root_mean_squared_error
  double mae() const { return errors()[2]; }   ///< mean_absolute_error
  /// Returns 1 - sum (y - prediction)^2 / sum (y - mean y)^2 (r2_score). A constant y has 1 if it is
  /// predicted exactly, else 0. One sample has NaN.
  double r2() const { return errors()[3]; }

 private:
  Variable joined(const Variable& a, const Variable& b) const override;
  std::array<double, 4> errors() const;
};

/// The mean of numbers, sum(value * weight) / sum(weight), over all updates, or over the last `window` ones
/// (torchmetrics.MeanMetric and RunningMean).
class EBB_API Mean : public Metric {
 public:
  explicit Mean(std::int64_t window = 0) : Mean("Mean", window) {}
  void update(double value, double weight = 1);
  /// Adds each element. `weight` has one element, or broadcasts to the values.
  void update(const Variable& values, const Variable& weight = {});
  double value() const;

 protected:
  Mean(const char* name, std::int64_t window);
  void add(const Variable& sum, const Variable& weight);
  std::int64_t window_;
};

/// exp of the mean cross entropy of targets [...] under logits [..., classes] (torchmetrics' Perplexity).
class EBB_API Perplexity : public Mean {
 public:
  explicit Perplexity(std::int64_t ignore_index = -100) : Mean("Perplexity", 0), ignore_(ignore_index) {}
  void update(const Variable& logits, const Variable& targets);
  double value() const;

 private:
  std::int64_t ignore_;
};

}  // namespace ebb::watch
