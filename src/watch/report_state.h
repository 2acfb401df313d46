// Report::State: the records of a report in bounded numbers, and the page that contains them.
#pragma once

#include <ebb/watch/report.h>

#include "watch/record.h"

#include <chrono>
#include <exception>

namespace ebb::watch {

/// A series {width, count, items} of at most `limit` items. The first item stays alone, and each other one
/// stands for `width` consecutive records. If there are too many, neighbours are joined. A record is an
/// object with a step, and replaces its neighbours, or a point of a curve: [step, milliseconds, value].
/// Joined points are [step, milliseconds, value, last step, finite, others, mean, low, high]: the first step
/// and time, the last value and step, the numbers of finite and other values, and figures of the finite ones.
void append_item(nlohmann::json& series, nlohmann::json&& item, std::int64_t limit);
/// Removes the items from a step on. Throws if the series has another form.
void purge(nlohmann::json& series, std::int64_t step);
/// Returns the step that follows the last one, or 0.
std::int64_t next_step(const nlohmann::json& series);
/// Rounds numbers to 7 digits, except whole ones, and replaces those that JSON lacks by "nan", "inf", "-inf".
void round_numbers(nlohmann::json& value);

/// The texts before and after the data of a page (src/watch/page).
extern const std::string_view kHead, kTail;

struct Report::State {
  const std::string path;
  const ReportOptions options;
  /// The page's data: "runs" in the order of their appearance, "series" by kind, tag and run.
  nlohmann::json data{};
  std::map<std::string, std::unique_ptr<Recorder>> runs{};
  const int exceptions = std::uncaught_exceptions();
  std::chrono::steady_clock::time_point next{};  // no rewrite before
  bool is_closed = false, has_warned = false;

  void add(Record&& record);
  /// Returns the page. `state` is "running", "finished" or "stopped".
  std::string page(const char* state);
  /// Takes over the records of an earlier page, with steps below purge_step. Throws if it is another file's.
  void load(std::string_view page, std::int64_t purge_step);
  void write_file(bool closing);
};

/// Returns milliseconds, or 0 for a time that JavaScript cannot represent.
std::int64_t milliseconds(double seconds);

}  // namespace ebb::watch
