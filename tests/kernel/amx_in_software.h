// AMX in software: where a processor lacks its instructions, each ends up in a handler that computes it.
#pragma once

#include <cstdint>

/// What the multiplying instruction computes: what Intel's manual says, or something near it.
enum class Formula { intels, swaps_pairs, loses_last_pair, forgets_sum, mixes_rows };

/// For as long as it lives, AMX is taken for granted by the library, which is yet to find out whether it
/// works. Nothing is computed here on a processor that runs AMX's instructions itself.
class AmxInSoftware {
 public:
  explicit AmxInSoftware(Formula formula = Formula::intels);
  ~AmxInSoftware();
  AmxInSoftware(const AmxInSoftware&) = delete;
  AmxInSoftware& operator=(const AmxInSoftware&) = delete;

  /// Whether this build, on this processor, goes by tiles where it trusts them.
  static bool is_used();
  /// Instructions that were computed here so far, since the program began.
  static std::int64_t computed();
  /// Those among them that a processor refuses: of tiles without a shape, or of shapes that do not fit.
  static std::int64_t refused();
  /// Threads whose tiles are shaped, and were not released.
  static std::int64_t shaped();
};
