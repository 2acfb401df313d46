// The list of mutants (*.mutants), and how they are written into a source: chosen at run time, line by line
// where the original stood.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace mutate {

/// One small fault: `before` of `file` becomes `after`.
struct Mutant {
  std::string file;    // from the top of the tree
  std::string before;  // stands in the file exactly once; may have several lines
  std::string after;   // "" leaves it out
  std::vector<std::string>
      programs;       // tests to ask first: "optim", or "optable:op sum*" for some cases of one
  std::string place;  // where the list has it, "autograd.mutants:12"

  /// A number that stays the same while the mutant does, as eight hexadecimal digits.
  std::string id() const;
};

/// The mutants of a list. Throws std::runtime_error, naming list and line, for one that is not well formed.
///
///     src/optim/sgd.cpp: optim fidelity       file, and the tests to ask first
///     - g = g + decay * p;                    what stands there, a line or more
///     + g = g - decay * p;                    what stands there instead; a lone + leaves it out
std::vector<Mutant> parse(const std::string& text, const std::string& name);

/// All lists of a folder.
std::vector<Mutant> read_lists(const std::filesystem::path& folder);

/// The source with all of its mutants, each asleep until chosen; `lines` receives the line of each.
/// Throws std::runtime_error, naming the list's line and the file, for a mutant that does not fit.
std::string rewrite(const std::string& source, const std::vector<const Mutant*>& mutants,
                    std::vector<int>& lines);

/// The text of a file. Throws std::runtime_error when it cannot be read.
std::string read_file(const std::filesystem::path& path);

}  // namespace mutate
