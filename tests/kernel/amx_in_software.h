// AMX in software: on processors without the instructions, a signal handler computes each of them.
#pragma once

#include <cstdint>

/// The formula of the multiplying instruction: the one of Intel's manual, or a wrong one.
enum class Formula { intels, swaps_pairs, loses_last_pair, forgets_sum, mixes_rows };

/// During its lifetime, the library assumes AMX without having checked it. On a processor with AMX, the
/// instructions run in hardware and nothing is computed here.
class AmxInSoftware {
 public:
  explicit AmxInSoftware(Formula formula = Formula::intels);
  ~AmxInSoftware();
  AmxInSoftware(const AmxInSoftware&) = delete;
  AmxInSoftware& operator=(const AmxInSoftware&) = delete;

  /// Returns whether this build uses tiles on this processor if AMX is trusted.
  static bool is_used();
  /// Returns the number of instructions that were computed here since the program started.
  static std::int64_t computed();
  /// Returns the number of those that a processor would reject: tiles without a configuration, or
  /// configurations that do not fit.
  static std::int64_t refused();
  /// Returns the number of threads whose tiles are configured and not released.
  static std::int64_t shaped();
};
