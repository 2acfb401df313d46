// Report: a training run as one self-contained HTML file.
#pragma once

#include <ebb/core/arg.h>
#include <ebb/watch/records.h>

namespace ebb::watch {

/// Options of a Report.
class ReportOptions {
  EBB_ARG(std::string, title) = "";  ///< the heading of the page; by default the name of the file
  /// The name of the report's own run in legends; by default the name of the file without its ending.
  EBB_ARG(std::string, run) = "";
  /// The least number of seconds between two rewrites of the file. They are rarer if a rewrite takes long, so
  /// that they take at most 5 % of the time.
  EBB_ARG(double, interval) = 5;
  /// The largest number of points of a curve in the file. Beyond it, neighbours are joined: the page shows
  /// the mean of each group and the range from its least to its largest value, so no peak is lost.
  EBB_ARG(std::int64_t, points) = 1000;
  /// The largest number of records of each other tag (histograms, images, texts, tables) in the file. Beyond
  /// it, every second one is dropped; the newest one always stays.
  EBB_ARG(std::int64_t, samples) = 20;
  /// Continues the records of the file, if it exists. Otherwise an existing file is replaced.
  EBB_ARG(bool, resume) = false;
  /// With resume, drops the records from this step on, because the continued run repeats them (purge_step of
  /// torch.utils.tensorboard.SummaryWriter).
  EBB_ARG(std::optional<std::int64_t>, purge_step) = {};
  /// Writes on every rank of a distributed run, not only on rank 0. Each rank then needs its own path.
  EBB_ARG(bool, all_ranks) = false;
};

/// Writes one HTML file without references to other files, which every browser shows: curves with smoothing
/// and logarithmic axes, several runs over one another, histograms over time, images, confusion tables,
/// precision-recall curves, texts, hyper-parameters, the model, the hardware, and ebb's version.
///     watch::Report report("run.html");
///     report.add_summary(watch::summary(net, images).str());
///     report.add_scalar("loss/train", loss, step);
/// The file is complete at any moment. It is written by the constructor, then by the calls that record, at
/// most once per interval, and by close(). An open page reads the newer records by itself.
///
/// The methods may be called from many threads. If a rewrite within a recording call fails, for example
/// because the disk is full, a warning says so once and later calls try again; flush() and close() throw.
class EBB_API Report final : public Recorder {
 public:
  /// Throws an error that names the path if the file cannot be written, or cannot be resumed.
  explicit Report(const std::string& path, ReportOptions options = {});
  /// Closes the report. A failure is a warning, not an exception. If an exception ends the scope, the page
  /// says that the run was stopped.
  ~Report() override;

  /// Returns a recorder that writes to another run of this report, for example one value of a learning rate.
  /// The same name gives the same recorder. It must not be used after the report's end.
  Recorder& run(const std::string& name);

  /// Adds a model's summary: the text that watch::summary() gives, or any other text. The page shows the
  /// newest one of each name.
  void add_summary(const std::string& summary, const std::string& name = "model");
  /// Adds a table of counts [n, n], any dtype and device: rows are true classes, columns predicted ones
  /// (sklearn.metrics.confusion_matrix). `labels` has n names or none. Of a table of more than 50 classes the
  /// page lists the most frequent confusions.
  void add_confusion_table(const std::string& tag, const Variable& counts,
                           const std::vector<std::string>& labels = {}, Step step = {},
                           WallTime wall_time = {});

  /// Writes the file now. Throws an error that names it if that is impossible.
  void flush();
  /// Marks the run as finished, and writes the file. Records that follow mark it as running again.
  void close();

 private:
  void write(Record&& record) override;
  struct State;
  class Run;
  std::unique_ptr<State> state_;
};

}  // namespace ebb::watch
