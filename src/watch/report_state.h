// Report::State: the records of a report in bounded numbers, and the page that contains them.
#pragma once

#include <ebb/watch/report.h>

#include <nlohmann/json.hpp>

#include <chrono>
#include <exception>

namespace ebb::watch {

/// A sequence of numbers. Each point stands for `width` consecutive values. If there are too many points,
/// neighbours are joined.
struct Curve {
  struct Point {
    std::int64_t step, time, last_step;        // of the first value; in milliseconds; of the last value
    std::int64_t finite, nonfinite;            // numbers of values
    double mean = 0, low = 0, high = 0, last;  // of the finite values; and the last value of all
    void join(const Point& next);
  };
  std::int64_t width = 1;
  std::vector<Point> points;

  /// Adds a value. There are at most `limit` points afterwards; limit >= 2.
  void add(std::int64_t step, std::int64_t time, double value, std::int64_t limit);
};
/// Convert to and from {"width": 1, "points": [[step, time, last], ...]}. A width above 1 adds the other
/// members of a point, in their order. Numbers that are not finite are "nan", "inf" and "-inf".
void to_json(nlohmann::json& json, const Curve& curve);
void from_json(const nlohmann::json& json, Curve& curve);

/// The texts before and after the data of a page (src/watch/page).
extern const std::string_view kHead, kTail;

struct Report::State {
  State(const std::string& path_of_file, ReportOptions given)
      : path(path_of_file), options(std::move(given)) {}

  const std::string path;
  const ReportOptions options;
  const int exceptions = std::uncaught_exceptions();
  std::map<std::string, std::map<std::string, Curve>> scalars;  // by tag and run
  /// The rest of the page's data: "runs" in the order of their appearance, "series" of records by kind, tag
  /// and run, "graphs" and "hparams" by run, "summaries" by name.
  nlohmann::json data;
  std::map<std::string, std::unique_ptr<Recorder>> runs;
  std::chrono::steady_clock::time_point next;  // no rewrite before
  bool is_closed = false, has_warned = false;

  void add(Record&& record);
  /// Adds an item to a series. Keeps the items whose index is a multiple of the stride, and the newest one.
  void add_item(const char* kind, const Record& record, nlohmann::json&& item);
  /// Returns the page. `state` is "running", "finished" or "stopped".
  std::string page(const char* state);
  /// Takes over the records of an earlier page, with steps below purge_step. Throws if it is another file's.
  void load(std::string_view page, std::int64_t purge_step);
  void write_file(bool closing);
  /// Notes a change of a run, and writes the file if it is time to.
  void changed(const std::string& run);
};

/// Returns the time in milliseconds since 1970.
std::int64_t milliseconds_now();

}  // namespace ebb::watch
