// Kinds of statements: how one is drawn, run and printed, and which faults of them are known.
#pragma once

#include "random_programs/draw.h"
#include "random_programs/program.h"

#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace programs {

/// The places in a program at which statements of a kind may stand.
enum Place : unsigned { kSetup = 1, kBody = 2, kBetween = 4 };
enum class Language { cpp, python };

struct Kind {
  std::string name;
  int weight;       ///< of how often it is drawn
  unsigned places;  ///< of Place
  /// Fills name, in and numbers, for slots as they are; `out` gets an element (of any value) a result.
  /// Returns false where no slot fits.
  std::function<bool(Draw&, const State&, Statement&)> draw;
  std::function<void(State&, const Statement&)> run;
  /// The statement in that language, without modes; empty where it cannot be said.
  std::function<std::string(const Statement&, Language)> text;
  /// Whether all it does is to make its results, so that it can run within a checkpoint.
  bool has_only_results = false;
};

/// All kinds, sorted by name.
const std::vector<Kind>& kinds();
/// Throws ebb::Error where there is none of that name.
const Kind& kind_named(const std::string& name);
/// Adds a kind; called while the program starts.
bool add_kind(Kind kind);

/// Runs a statement in its modes.
void run(State& state, const Statement& statement);
/// The state after a program's setup, which draws its random numbers from seed 0.
State set_up(const Program& program);
/// The stream to which statements are written before they run, if any: the last line names the one that
/// crashes.
extern std::ostream* run_log;
/// The statement in its modes.
std::string text(const Statement& statement, Language language);

/// Whether the statement makes a view whose elements may lie in one place. A write to one has no order where
/// threads share it.
bool makes_overlapping_view(const Statement& statement);

/// Whether the statement writes to its first slot.
bool is_write(const Statement& statement);

/// A slot for which `fits` is true; nothing where there is none. Once in four it is one of the state's focus,
/// or one that shares memory with the slot that was written to last, if any fits.
std::optional<int> pick(Draw& draw, const State& state, const std::function<bool(const Slot&)>& fits);
/// A slot with a tensor of a floating dtype.
std::optional<int> pick_floating(Draw& draw, const State& state);

// Parts of texts.
std::string slot_text(int slot);
std::string list_text(const std::vector<std::int64_t>& list, Language language);
std::string slots_text(const std::vector<int>& slots, Language language);
std::string dtype_text(ebb::DType dtype, Language language);
std::string bool_text(bool value, Language language);
/// "ebb::" or "torch."
std::string prefix(Language language);

// Faults that are known and not repaired yet.

/// The known fault of a statement at that place of the program, the statements before it being there already;
/// nullptr where nothing is known.
const char* known_fault(const Statement& statement, Place place, const Program& before);
/// The known fault of any of the program's statements.
const char* known_fault(const Program& program);

}  // namespace programs
