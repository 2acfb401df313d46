// Recorder: the methods that SummaryWriter and Report share, and the records that they write.
#pragma once

#include <ebb/autograd/variable.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace ebb::nn {
class Module;
}

namespace ebb::watch {

class Figure;

struct ScalarRecord {
  double value;
};

/// A histogram: counts[i] values lie in (limits[i - 1], limits[i]]. The first bucket begins at -infinity.
/// min, max, sum and the buckets count finite values only; the numbers of NaN and infinities are separate.
struct HistogramRecord {
  double min = 0, max = 0, count = 0, sum = 0, sum_squares = 0;
  std::int64_t nans = 0, infinities = 0;
  std::vector<double> limits, counts;
};

/// An image as the bytes of a PNG file.
struct ImageRecord {
  std::int64_t height, width, channels;
  std::string png;
};

struct TextRecord {
  std::string text;
};

/// A precision-recall curve over thresholds from 0 to 1: the rows of torch's pr_curve_raw.
struct CurveRecord {
  std::vector<double> true_positives, false_positives, true_negatives, false_negatives, precision, recall;
};

/// The modules or ops of a network: nodes with the names of their inputs.
struct GraphRecord {
  struct Node {
    std::string name, op;
    std::vector<std::string> inputs;
    std::vector<std::vector<std::int64_t>> shapes;
  };
  std::vector<Node> nodes;
};

using Hyperparameter = std::variant<bool, double, std::string>;

struct HparamsRecord {
  std::map<std::string, Hyperparameter> hparams;
  std::map<std::string, double> metrics;
};

struct Record {
  std::string run;  // "" is the recorder's own run; add_scalars and add_hparams write to further runs
  std::string tag;
  std::optional<std::int64_t> step;
  double wall_time;  // seconds since 1970
  std::variant<ScalarRecord, HistogramRecord, ImageRecord, TextRecord, CurveRecord, GraphRecord, HparamsRecord>
      content;
};

/// Base class of SummaryWriter and Report. The methods have the names and arguments of
/// torch.utils.tensorboard.SummaryWriter. They check their arguments and copy what they record, so that the
/// tensors may change afterwards. They may be called from many threads.
class EBB_API Recorder {
 public:
  virtual ~Recorder();
  using Step = std::optional<std::int64_t>;
  using WallTime = std::optional<double>;

  /// Records one number. NaN and infinities are recorded as they are.
  void add_scalar(const std::string& tag, double value, Step step = {}, WallTime wall_time = {});
  /// The same for a tensor of one element, on any device.
  void add_scalar(const std::string& tag, const Variable& value, Step step = {}, WallTime wall_time = {});
  /// Records several numbers in one chart, each as a run of its own: RUN/main_tag_key.
  void add_scalars(const std::string& main_tag, const std::map<std::string, double>& values, Step step = {},
                   WallTime wall_time = {});
  /// Records the distribution of a tensor's elements. `bins` is "tensorflow" (buckets that grow by 10 %) or
  /// a number of equal buckets; `max_bins` joins neighbours. An empty tensor gives an empty histogram.
  void add_histogram(const std::string& tag, const Variable& values, Step step = {},
                     std::string_view bins = "tensorflow", WallTime wall_time = {},
                     std::optional<std::int64_t> max_bins = {});
  void add_histogram(const std::string& tag, const Variable& values, Step step, std::int64_t bins,
                     WallTime wall_time = {}, std::optional<std::int64_t> max_bins = {});
  /// Records an image: Byte in [0, 255] or floating in [0, 1]. `dataformats` names the dimensions: "CHW",
  /// "HWC", "HW" or "WH"; 1, 3 or 4 channels.
  void add_image(const std::string& tag, const Variable& image, Step step = {}, WallTime wall_time = {},
                 std::string_view dataformats = "CHW");
  /// Records several images as one grid of at most 8 columns.
  void add_images(const std::string& tag, const Variable& images, Step step = {}, WallTime wall_time = {},
                  std::string_view dataformats = "NCHW");
  /// Records a chart as an image.
  void add_figure(const std::string& tag, const Figure& figure, Step step = {}, WallTime wall_time = {});
  void add_text(const std::string& tag, const std::string& text, Step step = {}, WallTime wall_time = {});
  /// Records a module's structure, with the shapes of a call with `input`.
  void add_graph(nn::Module& module, const Variable& input);
  /// Records hyper-parameters and the metrics that they led to.
  void add_hparams(const std::map<std::string, Hyperparameter>& hparams,
                   const std::map<std::string, double>& metrics, const std::string& run_name = "",
                   Step step = {});
  /// Records a precision-recall curve: labels 0 or 1, predictions in [0, 1].
  void add_pr_curve(const std::string& tag, const Variable& labels, const Variable& predictions,
                    Step step = {}, std::int64_t num_thresholds = 127, const Variable& weights = {},
                    WallTime wall_time = {});

 protected:
  Recorder() = default;
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  /// Writes one record. Called by one thread at a time.
  virtual void write(Record&& record) = 0;

 private:
  void record(Record&& record);
  struct Lock;
  std::shared_ptr<Lock> lock_;
};

}  // namespace ebb::watch
