// Recorder: checks the arguments of the adders and passes on one record at a time.
#include <ebb/ebb.h>
#include <ebb/watch/records.h>

#include "watch/encoding.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <string>
#include <string_view>

namespace ebb::watch {
namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// Runs are folders below the recorder's own, so their names must not lead elsewhere.
bool is_run_name(const std::string& name) {
  return ("/" + name + "/").find("/../") == name.npos && !name.starts_with('/') &&
         name.find('\0') == name.npos;
}

}  // namespace

struct Recorder::Lock {
  bool on;
  pid_t process = ::getpid();
  std::mutex mutex{};
};

Recorder::Recorder(bool on) : lock_(new Lock{on}) {}
Recorder::~Recorder() = default;

bool Recorder::writes() const { return lock_->on && lock_->process == ::getpid(); }

void Recorder::exclusively(const std::function<void()>& body) {
  const std::lock_guard guard(lock_->mutex);
  body();
}

void Recorder::record(const char* function, std::string run, const std::string& tag, Step step,
                      WallTime wall_time, Record::Content content) {
  if (!lock_->on) return;
  EBB_CHECK(!tag.empty(), function,
            ": the tag is empty. Give each curve or picture a name, as \"loss/train\".");
  EBB_CHECK(is_run_name(run), function, ": \"", run,
            "\" cannot name a run. Use a relative path without \"..\" and NUL.");
  // Another thread may have held the mutex when the process was forked, so it is not locked in a child.
  EBB_CHECK(writes(), function, ": process ", ::getpid(), " is a forked child of process ", lock_->process,
            ", which made the recorder. Make another recorder, with its own path, in the child.");
  Record made{utf8(run), utf8(tag), step, wall_time.value_or(now()), std::move(content)};
  exclusively([&] { write(std::move(made)); });
}

void Recorder::add_scalar(const std::string& tag, double value, Step step, WallTime wall_time) {
  record("add_scalar", "", tag, step, wall_time, ScalarRecord{value});
}

void Recorder::add_scalar(const std::string& tag, const Variable& value, Step step, WallTime wall_time) {
  EBB_CHECK(value.defined() && value.numel() == 1, "add_scalar: expected a tensor of one element for \"", tag,
            "\", got ", value, ". Reduce it first, for example by mean().");
  if (lock_->on) add_scalar(tag, value.item<double>(), step, wall_time);
}

void Recorder::add_scalars(const std::string& main_tag, const std::map<std::string, double>& values,
                           Step step, WallTime wall_time) {
  const WallTime time = wall_time.value_or(now());
  std::string run = main_tag;
  std::replace(run.begin(), run.end(), '/', '_');
  for (const auto& [key, value] : values)
    record("add_scalars", run + "_" + key, main_tag, step, time, ScalarRecord{value});
}

void Recorder::add_text(const std::string& tag, const std::string& text, Step step, WallTime wall_time) {
  record("add_text", "", tag, step, wall_time, TextRecord{utf8(text)});
}

void Recorder::add_hparams(const std::map<std::string, Hyperparameter>& hparams,
                           const std::map<std::string, double>& metrics, const std::string& run_name,
                           Step step) {
  const double time = now();
  const std::string run = run_name.empty() ? fmt::format("{:.6f}", time) : run_name;
  HparamsRecord content;
  for (const auto& [name, value] : hparams) {
    const auto* text = std::get_if<std::string>(&value);
    content.hparams.emplace(utf8(name), text ? utf8(*text) : value);
  }
  for (const auto& [name, value] : metrics) content.metrics.emplace(utf8(name), value);
  record("add_hparams", run, "hparams", step, time, std::move(content));
  for (const auto& [name, value] : metrics) record("add_hparams", run, name, step, time, ScalarRecord{value});
}

}  // namespace ebb::watch
