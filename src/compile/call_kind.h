// The calls of a compiled function that have one key, and their tape.
#pragma once

#include <ebb/compile.h>

#include <memory>
#include <string>
#include <vector>

#include "compile/emitted.h"
#include "compile/recording.h"

namespace ebb::compiling {

struct CallKind {
  explicit CallKind(std::string with) : key(std::move(with)) {}

  /// Whether what the tape assumes holds for a call with these tensors.
  bool fits(const std::vector<Variable>& tensors);
  /// The tape does not fit any more.
  void unsettle();
  /// A call has been recorded; `results` are what it returned.
  void recorded(Recording& recording, const std::vector<Variable>& tensors,
                const std::vector<Variable>& results, bool fuse_on_devices);
  /// A call could not be recorded.
  void refused(const std::string& why);

  /// Whether the last recording was refused.
  bool was_refused() const { return refusals_ > 0; }

  const std::string key;
  std::unique_ptr<Tape> settled;
  std::vector<emitted::Argument> arguments;
  std::string reason = "it has not been called twice yet";
  std::int64_t replays = 0;    ///< of the settled tape
  bool ever_replayed = false;  ///< also by an earlier tape
  bool eager = false;          ///< for good

 private:
  /// The memory of an argument of the last recording, held only where it was the same in two calls: captured
  /// tensors may lie there too, which no tape tells from views of the argument.
  struct Input {
    std::shared_ptr<detail::ReadStorage> memory;
    std::int64_t offset = 0;
    bool same_memory = false, same_offset = false;
    detail::ReadState known;
  };
  /// A tensor that has been an argument: no captured one is missing if it is destroyed.
  struct Passed {
    const detail::ReadStorage* memory;
    std::uint64_t which;
  };

  void stay_eager(const std::string& why);
  void settle(std::unique_ptr<Tape> tape, const std::vector<Variable>& tensors, bool fuse_on_devices);
  void note_passed(const detail::ReadStorage* memory, const Variable& x);
  bool only_passed_are_gone(Input& input);

  std::unique_ptr<Tape> last_;  // of the last recording, if it is not settled
  std::vector<Input> inputs_;
  std::vector<Passed> passed_;  // the newest last
  std::uint32_t recorded_ = 0;  // the number of the last recording
  int recordings_ = 0, refusals_ = 0, wasted_ = 0;
};

}  // namespace ebb::compiling
