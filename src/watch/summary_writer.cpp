// SummaryWriter: turns records into TensorBoard's events.
#include <ebb/watch/summary_writer.h>

#include "watch/event_file.h"
#include "watch/rank.h"

#include <fmt/format.h>

#include <ctime>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace ebb::watch {
namespace {

// The numbers of TensorBoard's enumerations.
constexpr std::int64_t kFloatTensor = 1, kStringTensor = 7;
constexpr std::size_t kMostFiles = 100;  // open files

// Returns SummaryMetadata, which names the part of TensorBoard that shows the value.
Message metadata(std::string_view plugin, std::string_view content) {
  return Message().add(1, Message().add(1, plugin).add(2, content));
}

Message shape_of(const std::vector<std::int64_t>& sizes) {
  Message shape;
  for (const std::int64_t size : sizes) shape.add(2, Message().add(1, size));
  return shape;
}

// Adds the fields of a Summary.Value.
void add_content(Message& value, const ScalarRecord& scalar) {
  value.add(2, static_cast<float>(scalar.value));
}

void add_content(Message& value, const HistogramRecord& histogram) {
  value.add(5, Message()
                   .add(1, histogram.min)
                   .add(2, histogram.max)
                   .add(3, histogram.count)
                   .add(4, histogram.sum)
                   .add(5, histogram.sum_squares)
                   .add_packed(6, histogram.limits)
                   .add_packed(7, histogram.counts));
}

void add_content(Message& value, const ImageRecord& image) {
  value.add(4, Message().add(1, image.height).add(2, image.width).add(3, image.channels).add(4, image.png));
}

void add_content(Message& value, const TextRecord& text) {
  value.add(9, metadata("text", ""))
      .add(8, Message().add(1, kStringTensor).add(2, shape_of({1})).add(8, text.text));
}

void add_content(Message& value, const CurveRecord& curve) {
  std::vector<float> rows;
  for (const auto* row : {&curve.true_positives, &curve.false_positives, &curve.true_negatives,
                          &curve.false_negatives, &curve.precision, &curve.recall})
    for (const double number : *row) rows.push_back(static_cast<float>(number));
  const auto thresholds = static_cast<std::int64_t>(curve.recall.size());
  value.add(9, metadata("pr_curves", Message().add(2, thresholds).bytes()))
      .add(8, Message().add(1, kFloatTensor).add(2, shape_of({6, thresholds})).add_packed(5, rows));
}

Message graph_of(const GraphRecord& record) {
  Message graph;
  for (const GraphRecord::Node& node : record.nodes) {
    Message made, shapes;
    made.add(1, node.name).add(2, node.op);
    for (const std::string& input : node.inputs) made.add(3, input);
    for (const auto& sizes : node.shapes) shapes.add(7, shape_of(sizes));
    made.add(5, Message().add(1, "_output_shapes").add(2, Message().add(1, shapes)));
    graph.add(1, made);
  }
  return graph.add(4, Message().add(1, std::int64_t{22}));  // a version of TensorFlow that has these fields
}

// Returns the values of the three tags by which TensorBoard's table of hyper-parameters knows a run.
std::vector<Message> summaries_of(const HparamsRecord& record) {
  constexpr std::int64_t kTypes[] = {2, 3, 1};  // DATA_TYPE_BOOL, FLOAT64 and STRING
  Message experiment, start;
  for (const auto& [name, value] : record.hparams) {
    Message set;
    std::visit(
        [&]<class T>(const T& held) {
          if constexpr (std::is_same_v<T, bool>)
            set.add(4, std::int64_t{held});
          else
            set.add(std::is_same_v<T, double> ? 2 : 3, held);
        },
        value);
    experiment.add(4, Message().add(1, name).add(4, kTypes[value.index()]));
    start.add(1, Message().add(1, name).add(2, set));
  }
  for (const auto& [name, value] : record.metrics)
    experiment.add(5, Message().add(1, Message().add(2, name)));
  const Message end = Message().add(1, std::int64_t{1});  // success
  std::vector<Message> values;
  const auto add = [&](const char* tag, unsigned field, const Message& data) {
    values.push_back(Message().add(1, tag).add(9, metadata("hparams", Message().add(field, data).bytes())));
  };
  add("_hparams_/experiment", 2, experiment);
  add("_hparams_/session_start_info", 3, start);
  add("_hparams_/session_end_info", 4, end);
  return values;
}

std::string default_folder(const std::string& comment) {
  std::tm time{};
  const std::time_t now = std::time(nullptr);
  ::localtime_r(&now, &time);
  char text[32] = "";
  std::strftime(text, sizeof text, "%b%d_%H-%M-%S", &time);
  return fmt::format("runs/{}_{}{}", text, host_name(), comment);
}

}  // namespace

struct SummaryWriter::State {
  SummaryWriterOptions options;
  std::string folder;
  std::map<std::string, EventFile> files{};  // by run

  EventFile& file(const std::string& run, double wall_time) {
    if (const auto open = files.find(run); open != files.end()) return open->second;
    if (files.size() >= kMostFiles) files.clear();
    EventFile& file =
        files.try_emplace(run, run.empty() ? folder : folder + "/" + run, options.filename_suffix())
            .first->second;
    file.append(Message().add(1, wall_time).add(3, "brain.Event:2"));
    if (options.purge_step())  // the start of a session
      file.append(Message()
                      .add(1, wall_time)
                      .add(2, *options.purge_step())
                      .add(7, Message().add(1, std::int64_t{1})));
    return file;
  }
};

SummaryWriter::SummaryWriter(const std::string& log_dir, SummaryWriterOptions options)
    : Recorder(options.all_ranks() || writes_output()),
      state_(new State{options, log_dir.empty() ? default_folder(options.comment()) : log_dir}) {
  if (writes()) state_->file("", static_cast<double>(std::time(nullptr)));
}
SummaryWriter::~SummaryWriter() = default;

const std::string& SummaryWriter::get_logdir() const { return state_->folder; }

void SummaryWriter::flush() {
  if (!writes()) return;
  exclusively([this] {
    for (auto& [run, file] : state_->files) file.flush();
  });
}

void SummaryWriter::close() {
  if (writes()) exclusively([this] { state_->files.clear(); });
}

void SummaryWriter::write(Record&& record) {
  EventFile& file = state_->file(record.run, record.wall_time);
  const auto append = [&](unsigned field, const Message& content) {
    Message event;
    event.add(1, record.wall_time);
    if (record.step) event.add(2, *record.step);
    file.append(event.add(field, content));
  };
  const auto append_value = [&](const std::string& tag, const auto& content) {
    Message value;
    add_content(value.add(1, tag), content);
    append(5, Message().add(1, value));
  };
  std::visit(
      [&]<class T>(const T& content) {
        if constexpr (std::is_same_v<T, GraphRecord>) {
          append(4, graph_of(content));
        } else if constexpr (std::is_same_v<T, HparamsRecord>) {
          for (const Message& value : summaries_of(content)) append(5, Message().add(1, value));
        } else {
          append_value(record.tag + (std::is_same_v<T, TextRecord> ? "/text_summary" : ""), content);
        }
        if constexpr (std::is_same_v<T, HistogramRecord>)
          if (const std::int64_t others = content.nans + content.infinities; others > 0)
            append_value(record.tag + "/not_finite", ScalarRecord{static_cast<double>(others)});
      },
      record.content);
}

}  // namespace ebb::watch
