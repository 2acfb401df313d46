// Allocation failures in the whole program.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace scarce {

/// Makes the following calls of operator new fail, in all threads: calls before number `first` (from 0)
/// succeed, that call fails, and with `all` also each later one.
void fail_allocations(int first, bool all);
/// Limits malloc: from now on, blocks take at most this many bytes beyond those that are freed.
void limit_bytes(std::ptrdiff_t bytes);
/// Lets all allocations succeed again. Returns whether one failed.
bool stop_failing();

/// For each allocation of task() in turn: runs prepare(), runs task() while this allocation fails (and all
/// later ones, unless told otherwise), then runs check(whether task() threw). Returns a description of what
/// went wrong: exceptions other than std::bad_alloc and ebb::Error, and checks that return false. The caller
/// must notice if the program ends (in a child).
std::string errors_of(const std::function<void()>& prepare, const std::function<void()>& task,
                      const std::function<bool(bool threw)>& check, bool all_as_well = true);

}  // namespace scarce
