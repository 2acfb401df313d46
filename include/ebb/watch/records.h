// Recorder: the methods that SummaryWriter and Report share.
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

struct Record;

/// The value of a hyper-parameter: true or false, a number of any type, or a text.
struct Hyperparameter : std::variant<bool, double, std::string> {
  Hyperparameter(bool value) : variant(value) {}
  template <class T>
    requires(std::integral<T> || std::floating_point<T>)
  Hyperparameter(T value) : variant(static_cast<double>(value)) {}
  Hyperparameter(const char* value) : variant(std::string(value)) {}
  Hyperparameter(std::string value) : variant(std::move(value)) {}
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
  /// Records the distribution of a tensor's elements. `bins` is "tensorflow" (buckets that grow by 10 %; a
  /// Report has 64 equal ones) or a number of equal buckets; `max_bins` joins neighbours until there are at
  /// most so many. An empty tensor gives an empty histogram.
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
    if constexpr (nn::detail::Holder<M>) {
      add_graph(*module, inputs...);
    } else {
      std::tuple<Inputs...> copies(inputs...);
      std::vector<Variable*> places;
      nn::detail::gather(copies, places);
      record_graph(module, places, [&] {
        auto results =
            std::apply([&](auto&... each) { return nn::detail::call_module(module, each...); }, copies);
        std::vector<Variable*> outputs;
        nn::detail::gather(results, outputs);
        variable_list tensors;
        for (const Variable* output : outputs) tensors.push_back(*output);
        return tensors;
      });
    }
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
  /// Histograms have so many equal buckets by default, or those of TensorFlow.
  explicit Recorder(bool on = true, std::int64_t default_bins = 0);
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  /// Returns whether records are written: the recorder is on, and this process has made it.
  bool writes() const;
  /// Checks and completes a record, and writes it unless the recorder is off. Errors name the function.
  void record(const char* function, Record&& record);
  /// Writes one record. Called by one thread at a time, and never if the recorder is off.
  virtual void write(Record&& record) = 0;
  /// Calls `body` while no thread is in write().
  void exclusively(const std::function<void()>& body);

 private:
  void record_graph(nn::Module& module, const std::vector<Variable*>& inputs,
                    const std::function<variable_list()>& call);
  const std::int64_t default_bins_;
  struct Lock;
  std::unique_ptr<Lock> lock_;
};

}  // namespace ebb::watch
