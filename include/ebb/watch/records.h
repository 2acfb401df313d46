// Recorder: the methods that SummaryWriter and Report share, and the records that they write.
#pragma once

#include <ebb/nn/module.h>

#include <concepts>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

namespace ebb::watch {

class Figure;

struct ScalarRecord {
  double value;
};

/// A histogram: counts[i] values lie in [limits[i - 1], limits[i]). The first bucket is empty and the last
/// one includes its limit, as in torch's files. Without finite values there are no buckets. min, max, sum and
/// the buckets count finite values only; the numbers of NaN and infinities are separate.
struct HistogramRecord {
  double min = 0, max = 0, count = 0, sum = 0, sum_squares = 0;
  std::int64_t nans = 0, infinities = 0;
  std::vector<double> limits, counts;
};

/// An image as the bytes of a PNG file.
struct ImageRecord {
  std::int64_t height = 0, width = 0, channels = 0;
  std::string png;
};

struct TextRecord {
  std::string text;
};

/// A precision-recall curve over thresholds from 0 to 1: the rows of torch's pr_curve_raw.
struct CurveRecord {
  std::vector<double> true_positives, false_positives, true_negatives, false_negatives, precision, recall;
};

/// The ops of a network: nodes with the names of their inputs, in the order of the call. A name has the
/// modules before it, as in torch's files: "Net/Linear[fc1]/Addmm". The input "name:1" is the second result
/// of a node.
struct GraphRecord {
  struct Node {
    std::string name, op;  // op is "Input", "Parameter", "Output", or the name of an op
    std::vector<std::string> inputs;
    std::vector<std::vector<std::int64_t>> shapes;  // of each result
  };
  std::vector<Node> nodes;
};

/// The value of a hyper-parameter: true or false, a number of any type, or a text.
struct Hyperparameter : std::variant<bool, double, std::string> {
  Hyperparameter(bool value) : variant(value) {}
  template <class T>
    requires(std::integral<T> || std::floating_point<T>)
  Hyperparameter(T value) : variant(static_cast<double>(value)) {}
  Hyperparameter(const char* value) : variant(std::string(value)) {}
  Hyperparameter(std::string value) : variant(std::move(value)) {}
};

struct HparamsRecord {
  std::map<std::string, Hyperparameter> hparams;
  std::map<std::string, double> metrics;
};

struct Record {
  using Content = std::variant<ScalarRecord, HistogramRecord, ImageRecord, TextRecord, CurveRecord,
                               GraphRecord, HparamsRecord>;
  std::string run;  // "" is the recorder's own run; add_scalars and add_hparams write to further runs
  std::string tag;
  std::optional<std::int64_t> step;
  double wall_time;  // seconds since 1970
  Content content;
};

/// Base class of SummaryWriter and Report. The methods have the names and arguments of
/// torch.utils.tensorboard.SummaryWriter. They check their arguments and copy what they record, so that the
/// tensors may change afterwards. They may be called from many threads, but not in a forked child. The
/// default of wall_time is the current time, in seconds since 1970. Bytes in tags and texts that are not
/// UTF-8 are replaced by U+FFFD. If the recorder is off, the methods return without reading a tensor.
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
  /// a number of equal buckets; `max_bins` joins neighbours until there are at most so many. An empty tensor
  /// gives an empty histogram.
  void add_histogram(const std::string& tag, const Variable& values, Step step = {},
                     std::variant<std::string_view, std::int64_t> bins = "tensorflow",
                     WallTime wall_time = {}, std::optional<std::int64_t> max_bins = {});
  /// Records an image: Byte in [0, 255] or floating in [0, 1]; other values are clamped, and NaN is black.
  /// `dataformats` names the dimensions: "CHW", "HWC", "HW" or "WH"; 1, 3 or 4 channels.
  void add_image(const std::string& tag, const Variable& image, Step step = {}, WallTime wall_time = {},
                 std::string_view dataformats = "CHW");
  /// Records several images as one grid of at most 8 columns: "NCHW", "NHWC", "NHW".
  void add_images(const std::string& tag, const Variable& images, Step step = {}, WallTime wall_time = {},
                  std::string_view dataformats = "NCHW") {
    add_image(tag, images, step, wall_time, dataformats);
  }
  /// Records a chart as an image.
  void add_figure(const std::string& tag, const Figure& figure, Step step = {}, WallTime wall_time = {});
  void add_text(const std::string& tag, const std::string& text, Step step = {}, WallTime wall_time = {});
  /// Records the ops of module(inputs...), grouped by module, with the shapes of their results. These are the
  /// ops that have derivatives; a part without gradients is left out. The call changes neither the module's
  /// tensors and mode nor the generators. `module` is a handle or has a public forward().
  template <class M, class... Inputs>
  void add_graph(M& module, const Inputs&... inputs) {
    std::tuple<Inputs...> copies(inputs...);
    std::vector<Variable*> places;
    nn::detail::gather(copies, places);
    const auto call = [&] {
      auto results = std::apply(
          [&](auto&... each) { return nn::detail::call_module(*handle(module), each...); }, copies);
      std::vector<Variable*> outputs;
      nn::detail::gather(results, outputs);
      variable_list tensors;
      for (const Variable* output : outputs) tensors.push_back(*output);
      return tensors;
    };
    record_graph(*handle(module), places, call);
  }
  /// Records hyper-parameters and the metrics that they led to, as a run of its own. Its default name is the
  /// time.
  void add_hparams(const std::map<std::string, Hyperparameter>& hparams,
                   const std::map<std::string, double>& metrics, const std::string& run_name = "",
                   Step step = {});
  /// Records a precision-recall curve: labels 0 or 1, predictions in [0, 1].
  void add_pr_curve(const std::string& tag, const Variable& labels, const Variable& predictions,
                    Step step = {}, std::int64_t num_thresholds = 127, const Variable& weights = {},
                    WallTime wall_time = {});

 protected:
  /// Makes a recorder that records nothing if `on` is false, for processes that must not write.
  explicit Recorder(bool on = true);
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  /// Returns whether records are written: the recorder is on, and this process has made it.
  bool writes() const;
  /// Writes one record. Called by one thread at a time, and never if the recorder is off.
  virtual void write(Record&& record) = 0;
  /// Calls `body` while no thread is in write().
  void exclusively(const std::function<void()>& body);

 private:
  template <class M>
  static auto* handle(M& module) {
    if constexpr (nn::detail::Holder<M>)
      return module.get();
    else
      return &module;
  }
  void record(const char* function, std::string run, const std::string& tag, Step step, WallTime wall_time,
              Record::Content content);
  void record_graph(nn::Module& module, const std::vector<Variable*>& inputs,
                    const std::function<variable_list()>& call);
  struct Lock;
  std::unique_ptr<Lock> lock_;
};

}  // namespace ebb::watch
