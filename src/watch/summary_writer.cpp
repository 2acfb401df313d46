// SummaryWriter: turns records into TensorBoard's events.
#include <ebb/watch/summary_writer.h>

#include "watch/event_file.h"
#include "watch/rank.h"
#include "watch/record.h"

#include <fmt/format.h>

#include <ctime>
#include <set>

namespace ebb::watch {
namespace {

using nlohmann::json;

constexpr std::size_t kMostFiles = 100;  // open files

// Returns the field of SummaryMetadata, which names the part of TensorBoard that shows the value.
Message metadata(std::string_view plugin, const Message& content) {
  return Message().add(9, Message().add(1, Message().add(1, plugin).add(2, content)));
}

Message shape_of(const json& sizes) {
  Message shape;
  for (const std::int64_t size : sizes) shape.add(2, Message().add(1, size));
  return shape;
}

// Returns a tensor. The dtype is a number of TensorFlow's enumeration.
template <class Values>
Message tensor_of(std::int64_t dtype, const json& sizes, unsigned field, const Values& values) {
  return Message().add(8, Message().add(1, dtype).add(2, shape_of(sizes)).add(field, values));
}

// Returns the fields of a Summary.Value apart from the tag.
Message value_of(const std::string& kind, const json& content) {
  if (kind == "scalar") return Message().add(2, content.get<float>());
  if (kind == "image")
    return Message().add(4, Message()
                                .add(1, content["height"].get<std::int64_t>())
                                .add(2, content["width"].get<std::int64_t>())
                                .add(3, content["channels"].get<std::int64_t>())
                                .add(4, content["png"].get_ref<const std::string&>()));
  if (kind == "text")
    return metadata("text", {})
        .append(tensor_of(7, {1}, 8, content["text"].get_ref<const std::string&>()));  // DT_STRING
  if (kind == "histogram") {
    Message fields;
    unsigned field = 0;
    for (const char* name : {"min", "max", "count", "sum", "sum_squares"})
      fields.add(++field, content[name].get<double>());
    for (const char* name : {"limits", "counts"})
      fields.add(++field, content[name].get<std::vector<double>>());
    return Message().add(5, fields);
  }
  std::vector<float> numbers;  // of a precision-recall curve
  for (const json& row : content["rows"])
    for (const json& number : row) numbers.push_back(number.get<float>());
  const auto thresholds = static_cast<std::int64_t>(numbers.size() / 6);
  return metadata("pr_curves", Message().add(2, thresholds))
      .append(tensor_of(1, {6, thresholds}, 5, numbers));  // DT_FLOAT
}

Message graph_of(const json& nodes) {
  Message graph;
  for (const json& node : nodes) {
    Message made, shapes;
    made.add(1, node["name"].get_ref<const std::string&>()).add(2, node["op"].get_ref<const std::string&>());
    for (const std::string input : node["inputs"]) made.add(3, input);
    for (const json& sizes : node["shapes"]) shapes.add(7, shape_of(sizes));
    made.add(5, Message().add(1, "_output_shapes").add(2, Message().add(1, shapes)));
    graph.add(1, made);
  }
  return graph.add(4, Message().add(1, std::int64_t{22}));  // a version of TensorFlow that has these fields
}

// Returns a field of google.protobuf.Value, and the number of DATA_TYPE_BOOL, FLOAT64 or STRING.
std::pair<Message, std::int64_t> hyperparameter(const json& value) {
  if (value.is_boolean()) return {Message().add(4, std::int64_t{value.get<bool>()}), 2};
  if (value.is_number()) return {Message().add(2, value.get<double>()), 3};
  return {Message().add(3, value.get_ref<const std::string&>()), 1};
}

// Returns the values of the three tags by which TensorBoard's table of hyper-parameters knows a run.
std::vector<Message> summaries_of(const json& content) {
  Message experiment, start;
  for (const auto& [name, value] : content["hparams"].items()) {
    const auto& [set, type] = hyperparameter(value);
    experiment.add(4, Message().add(1, name).add(4, type));
    start.add(1, Message().add(1, name).add(2, set));
  }
  for (const auto& [name, value] : content["metrics"].items())
    experiment.add(5, Message().add(1, Message().add(2, name)));
  const auto summary = [](const char* tag, unsigned field, const Message& data) {
    return Message().add(1, tag).append(metadata("hparams", Message().add(field, data)));
  };
  return {summary("_hparams_/experiment", 2, experiment), summary("_hparams_/session_start_info", 3, start),
          summary("_hparams_/session_end_info", 4, Message().add(1, std::int64_t{1}))};  // success
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
  std::set<std::string> runs{};              // whose first file has the start of a session

  EventFile& file(const std::string& run, double wall_time) {
    if (const auto open = files.find(run); open != files.end()) return open->second;
    if (files.size() >= kMostFiles) files.clear();
    EventFile& file =
        files.try_emplace(run, run.empty() ? folder : folder + "/" + run, options.filename_suffix())
            .first->second;
    file.append(Message().add(1, wall_time).add(3, "brain.Event:2"));
    // A further file must not hide the records of the run's first one.
    if (options.purge_step() && runs.insert(run).second) {
      const Message start = Message().add(1, std::int64_t{1});
      file.append(Message().add(1, wall_time).add(2, *options.purge_step()).add(7, start));
    }
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
  EventFile& file = state_->file(record.run, *record.wall_time);
  const auto append = [&](unsigned field, const Message& content) {
    Message event;
    event.add(1, *record.wall_time);
    if (record.step) event.add(2, *record.step);
    file.append(event.add(field, content));
  };
  const auto append_value = [&](const std::string& tag, const Message& value) {
    append(5, Message().add(1, Message().add(1, tag).append(value)));
  };
  const json& content = record.content;
  if (record.kind == "graph") {
    append(4, graph_of(content["nodes"]));
  } else if (record.kind == "hparams") {
    for (const Message& value : summaries_of(content)) append(5, Message().add(1, value));
  } else {
    append_value(record.tag + (record.kind == "text" ? "/text_summary" : ""), value_of(record.kind, content));
  }
  if (record.kind == "histogram")
    if (const std::int64_t others =
            content["nans"].get<std::int64_t>() + content["infinities"].get<std::int64_t>();
        others > 0)
      append_value(record.tag + "/not_finite", value_of("scalar", others));
}

}  // namespace ebb::watch
