// Report: collects records, and writes the page from time to time.
#include <ebb/ebb.h>
#include <ebb/watch/report.h>

#include "io/atomic_file.h"
#include "watch/encoding.h"
#include "watch/rank.h"
#include "watch/report_state.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace ebb::watch {
namespace {

using Clock = std::chrono::steady_clock;
using nlohmann::json;

constexpr std::int64_t kBuckets = 64;  // of a histogram on the page

// Checks the options and sets those that depend on the path.
ReportOptions completed(const std::filesystem::path& path, ReportOptions options) {
  EBB_CHECK(path.has_filename() && !std::filesystem::is_directory(path), "Report: \"", path.string(),
            "\" is not the name of a file. Give one, for example run.html.");
  EBB_CHECK(options.interval() >= 0 && options.points() >= 2 && options.samples() >= 2,
            "Report: expected an interval of at least 0 and at least 2 points and samples, got ",
            options.interval(), ", ", options.points(), " and ", options.samples(), ".");
  EBB_CHECK(!options.purge_step() || options.resume(),
            "Report: purge_step drops records of a resumed report. Add resume(true), or do not set it.");
  if (options.run().empty()) options.run(path.stem().string());
  if (options.title().empty()) options.title(path.filename().string());
  return options;
}

}  // namespace

std::int64_t milliseconds(double seconds) {
  return std::abs(seconds) <= 8.64e12 ? std::llround(seconds * 1000) : 0;
}

/// The recorder of a further run.
class Report::Run final : public Recorder {
 public:
  Run(Report& report, std::string name)
      : Recorder(report.writes(), kBuckets), report_(report), name_(std::move(name)) {}

 private:
  void write(Record&& record) override {
    record.run = record.run.empty() ? name_ : name_ + '/' + record.run;
    report_.exclusively([&] { report_.write(std::move(record)); });
  }
  Report& report_;
  const std::string name_;
};

void Report::State::add(Record&& record) {
  json& names = data["runs"];
  if (std::find(names.begin(), names.end(), record.run) == names.end()) names.push_back(record.run);
  json &series = data["series"][record.kind][record.tag][record.run], &item = record.content;
  const std::int64_t step = record.step.value_or(next_step(series)), time = milliseconds(*record.wall_time);
  if (record.kind == "image") item["png"] = base64(item["png"].get_ref<const std::string&>());
  if (record.kind == "pr_curve") item = {{"precision", item["rows"][4]}, {"recall", item["rows"][5]}};
  if (record.kind == "scalar") {
    item = {step, time, item};
  } else {
    item["step"] = step;
    item["time"] = time;
  }
  round_numbers(item);
  append_item(series, std::move(item), record.kind == "scalar" ? options.points() : options.samples());
  is_closed = false;
  if (Clock::now() < next) return;
  try {
    write_file(false);
  } catch (const Error& e) {
    next = Clock::now() + std::chrono::seconds(5);
    if (!std::exchange(has_warned, true)) warn("Report: ", e.what(), " The report tries again later.");
  }
}

void Report::State::write_file(bool closing) {
  const Clock::time_point begin = Clock::now();
  const bool is_stopped = std::uncaught_exceptions() > exceptions;
  const std::string html = page(!closing ? "running" : is_stopped ? "stopped" : "finished");
  io::AtomicFile file(path);
  file.write(html.data(), html.size());
  file.commit();
  is_closed = closing;
  const std::chrono::duration<double> took = Clock::now() - begin;
  const std::chrono::duration<double> pause(std::min(std::max(options.interval(), 20 * took.count()), 1e6));
  next = Clock::now() + std::chrono::duration_cast<Clock::duration>(pause);
}

Report::Report(const std::string& path, ReportOptions options)
    : Recorder(options.all_ranks() || writes_output(), kBuckets),
      state_(new State{path, completed(path, options)}) {
  if (!writes()) return;
  state_->data = {
      {"started", milliseconds(unix_time())}, {"runs", json::array()}, {"series", json::object()}};
  if (options.resume() && std::filesystem::exists(path)) {
    const std::string page = data::read_text(path);
    try {
      state_->load(page, options.purge_step().value_or(INT64_MAX));
    } catch (const Error& e) {
      ebb::detail::fail("Report: \"", path, "\" cannot be resumed: ", e.what(),
                        ". Give another path, or do not set resume.");
    }
  }
  state_->write_file(false);
}

Report::~Report() {
  try {
    close();
  } catch (const std::exception& e) {
    warn("Report: ", e.what());
  }
}

Recorder& Report::run(const std::string& name) {
  EBB_CHECK(!name.empty(), "Report::run: the name is empty. Record with the report itself, or give a name.");
  Recorder* result = nullptr;
  exclusively([&] {
    std::unique_ptr<Recorder>& run = state_->runs[name];
    if (!run) run = std::make_unique<Run>(*this, name);
    result = run.get();
  });
  return *result;
}

void Report::write(Record&& record) {
  if (record.run.empty()) record.run = state_->options.run();
  state_->add(std::move(record));
}

void Report::add_summary(const std::string& summary, const std::string& name) {
  record("Report::add_summary", {"summary", name, {}, {}, {{"text", summary}}});
}

void Report::add_confusion_table(const std::string& tag, const Variable& counts,
                                 const std::vector<std::string>& labels, Step step, WallTime wall_time) {
  const std::int64_t n = counts.defined() && counts.dim() == 2 ? counts.size(0) : 0;
  const auto names = static_cast<std::int64_t>(labels.size());
  EBB_CHECK(n > 0 && counts.size(1) == n && (names == 0 || names == n),
            "Report::add_confusion_table: expected counts [n, n] with n labels or none, got ", counts,
            " with ", names, " labels.");
  if (!writes()) return record("Report::add_confusion_table", {"confusion", tag, step, wall_time, {}});
  const Variable copy = counts.detach().to(Device::CPU).to(kDouble).contiguous();
  json cells = json::array();  // row, column and count of those that are not 0
  for (std::int64_t cell = 0; cell < n * n; ++cell) {
    const double count = copy.data_ptr<double>()[cell];
    EBB_CHECK(count >= 0 && count <= 1e15, "Report::add_confusion_table: ", count, " is not a count.");
    if (count > 0) cells.push_back({cell / n, cell % n, count});
  }
  record("Report::add_confusion_table",
         {"confusion", tag, step, wall_time, {{"classes", n}, {"labels", labels}, {"cells", cells}}});
}

void Report::flush() {
  if (writes()) exclusively([this] { state_->write_file(state_->is_closed); });
}

void Report::close() {
  if (!writes()) return;
  exclusively([this] {
    if (!state_->is_closed) state_->write_file(true);
  });
}

}  // namespace ebb::watch
