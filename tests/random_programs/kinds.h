// Statement kinds: how to draw, run and print a statement, and which faults are known; the random choices of
// a generator, from a seed or from the bytes of a fuzzer.
#pragma once

#include "random_programs/program.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace programs {

/// The random choices of a generator.
class Draw {
 public:
  /// Consecutive seeds give independent choices.
  explicit Draw(std::uint64_t seed) : state_(seed) { state_ = mixed(state_ + 0x2545F4914F6CDD1Dull); }
  /// Consumes the bytes one by one; after the last one, every choice is the first option.
  Draw(const std::uint8_t* bytes, std::size_t count) : bytes_(bytes), left_(count) {}

  /// Returns 0, 1, ..., or n - 1; n is positive.
  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>(word(n) % static_cast<std::uint64_t>(n));
  }
  /// Returns low, low + 1, ..., or high.
  std::int64_t between(std::int64_t low, std::int64_t high) { return low + below(high - low + 1); }
  /// Returns true with probability 1 / n.
  bool once_in(std::int64_t n) { return below(n) == n - 1; }
  template <class List>
  const auto& of(const List& list) {
    return list[static_cast<std::size_t>(below(static_cast<std::int64_t>(list.size())))];
  }
  bool is_used_up() const { return bytes_ && left_ == 0; }

 private:
  std::uint64_t word(std::int64_t n) {
    if (bytes_) {
      std::uint64_t value = 0;
      for (std::int64_t reach = 1; reach < n && left_ > 0; reach <<= 8, --left_)
        value = value << 8 | *bytes_++;
      return value;
    }
    return mixed(state_ += 0x9E3779B97F4A7C15ull);
  }
  // SplitMix64 (Steele, Lea and Flood 2014).
  static std::uint64_t mixed(std::uint64_t z) {
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ z >> 27) * 0x94D049BB133111EBull;
    return z ^ z >> 31;
  }

  std::uint64_t state_ = 0;
  const std::uint8_t* bytes_ = nullptr;
  std::size_t left_ = 0;
};

/// The places in a program at which statements of a kind may occur.
enum Place : unsigned { kSetup = 1, kBody = 2, kBetween = 4 };
enum class Language { cpp, python };

struct Kind {
  std::string name;
  int weight;       ///< relative frequency of being drawn
  unsigned places;  ///< a combination of Place values
  /// Fills name, in and numbers for the current slots; `out` gets one element of any value for each result.
  /// Returns false if no slot fits.
  std::function<bool(Draw&, const State&, Statement&)> draw;
  std::function<void(State&, const Statement&)> run;
  /// The source of the statement in that language, without modes; empty if it cannot be expressed.
  std::function<std::string(const Statement&, Language)> text;
  /// Whether the statement only creates its results, so that it can run inside a checkpoint.
  bool has_only_results = false;
};

/// All kinds, sorted by name.
const std::vector<Kind>& kinds();
/// Throws ebb::Error if there is no kind of that name.
const Kind& kind_named(const std::string& name);
/// Registers a kind; called during static initialization.
bool add_kind(Kind kind);

/// Runs a statement in its modes.
void run(State& state, const Statement& statement);
/// The state after the setup of a program, which draws its random numbers from seed 0.
State set_up(const Program& program);
/// The stream to which statements are written before they run, or null. After a crash the last line names the
/// cause.
extern std::ostream* run_log;
/// The source of the statement with its modes.
std::string text(const Statement& statement, Language language);

/// Whether the statement creates a view with overlapping elements. A write to such a view has no defined
/// order with several threads.
bool makes_overlapping_view(const Statement& statement);

/// Whether the statement writes to its first slot.
bool is_write(const Statement& statement);

/// Returns a random slot for which `fits` is true, or nothing if there is none. With probability 1/4 it
/// prefers the focus of the state, or a slot that shares memory with the last written slot.
std::optional<int> pick(Draw& draw, const State& state, const std::function<bool(const Slot&)>& fits);
/// Returns a random slot with a floating tensor.
std::optional<int> pick_floating(Draw& draw, const State& state);

// Parts of source text.
std::string slot_text(int slot);
std::string list_text(const std::vector<std::int64_t>& list, Language language);
std::string slots_text(const std::vector<int>& slots, Language language);
std::string dtype_text(ebb::DType dtype, Language language);
std::string bool_text(bool value, Language language);
/// "ebb::" or "torch."
std::string prefix(Language language);

// Known faults that are not repaired yet.

/// The known fault of a statement at that place of the program after the statements before it; nullptr if
/// none is known.
const char* known_fault(const Statement& statement, Place place, const Program& before);
/// The known fault of any statement of the program, or nullptr.
const char* known_fault(const Program& program);

}  // namespace programs
