// Recorder: checks the arguments of the adders and passes on one record at a time.
#include <ebb/ebb.h>

#include "watch/encoding.h"
#include "watch/record.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <mutex>

namespace ebb::watch {
namespace {

// Runs are folders below the recorder's own, so their names must not lead elsewhere.
bool is_run_name(const std::string& name) {
  return ("/" + name + "/").find("/../") == name.npos && !name.starts_with('/') &&
         name.find('\0') == name.npos;
}

}  // namespace

double unix_time() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

struct Recorder::Lock {
  bool on;
  pid_t process = ::getpid();
  std::mutex mutex{};
};

Recorder::Recorder(bool on, std::int64_t default_bins) : default_bins_(default_bins), lock_(new Lock{on}) {}
Recorder::~Recorder() = default;

bool Recorder::writes() const { return lock_->on && lock_->process == ::getpid(); }

void Recorder::exclusively(const std::function<void()>& body) {
  const std::lock_guard guard(lock_->mutex);
  body();
}

void Recorder::record(const char* function, Record&& record) {
  if (!lock_->on) return;
  EBB_CHECK(!record.tag.empty(), function,
            ": the tag is empty. Give each curve or picture a name, as \"loss/train\".");
  EBB_CHECK(is_run_name(record.run), function, ": \"", record.run,
            "\" cannot name a run. Use a relative path without \"..\" and NUL.");
  // Another thread may have held the mutex when the process was forked, so it is not locked in a child.
  EBB_CHECK(writes(), function, ": process ", ::getpid(), " is a forked child of process ", lock_->process,
            ", which made the recorder. Make another recorder, with its own path, in the child.");
  record.run = utf8(record.run);
  record.tag = utf8(record.tag);
  if (!record.wall_time) record.wall_time = unix_time();
  exclusively([&] { write(std::move(record)); });
}

void Recorder::add_scalar(const std::string& tag, double value, Step step, WallTime wall_time) {
  record("add_scalar", {"scalar", tag, step, wall_time, value});
}

void Recorder::add_scalar(const std::string& tag, const Variable& value, Step step, WallTime wall_time) {
  EBB_CHECK(value.defined() && value.numel() == 1, "add_scalar: expected a tensor of one element for \"", tag,
            "\", got ", value, ". Reduce it first, for example by mean().");
  if (lock_->on) add_scalar(tag, value.item<double>(), step, wall_time);
}

void Recorder::add_scalars(const std::string& main_tag, const std::map<std::string, double>& values,
                           Step step, WallTime wall_time) {
  if (!wall_time) wall_time = unix_time();
  std::string run = main_tag;
  std::replace(run.begin(), run.end(), '/', '_');
  for (const auto& [key, value] : values)
    record("add_scalars", {"scalar", main_tag, step, wall_time, value, run + "_" + key});
}

void Recorder::add_text(const std::string& tag, const std::string& text, Step step, WallTime wall_time) {
  record("add_text", {"text", tag, step, wall_time, {{"text", utf8(text)}}});
}

void Recorder::add_hparams(const std::map<std::string, Hyperparameter>& hparams,
                           const std::map<std::string, double>& metrics, const std::string& run_name,
                           Step step) {
  const double time = unix_time();
  const std::string run = run_name.empty() ? fmt::format("{:.6f}", time) : run_name;
  nlohmann::json parameters = nlohmann::json::object(), results = nlohmann::json::object();
  for (const auto& [name, value] : hparams) {
    nlohmann::json& to = parameters[utf8(name)];
    if (const auto* const text = std::get_if<std::string>(&value))
      to = utf8(*text);
    else if (const auto* const number = std::get_if<double>(&value))
      to = *number;
    else
      to = std::get<bool>(value);
  }
  for (const auto& [name, value] : metrics) results[utf8(name)] = value;
  record("add_hparams",
         {"hparams", "hparams", step, time, {{"hparams", parameters}, {"metrics", results}}, run});
  for (const auto& [name, value] : metrics) record("add_hparams", {"scalar", name, step, time, value, run});
}

}  // namespace ebb::watch
