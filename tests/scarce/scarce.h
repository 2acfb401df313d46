// Allocations that fail, in all of a program.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace scarce {

/// The next allocations by operator new, of all threads: those before the one numbered `first`, from 0 on,
/// succeed; it fails, and so do all after it if `all`.
void refuse(int first, bool all);
/// From now on blocks of malloc take no more than so many bytes beside those that are given back.
void give(std::ptrdiff_t bytes);
/// From now on all succeed. Whether one failed.
bool relent();

/// For each allocation that task() makes, and for all from each on unless told otherwise: runs prepare(), and
/// task() with them refused, then check(whether task() threw). Returns what went wrong: exceptions other than
/// std::bad_alloc and ebb::Error, and checks that are false. A program that ends is the caller's to notice
/// (in a child).
std::string trouble(const std::function<void()>& prepare, const std::function<void()>& task,
                    const std::function<bool(bool threw)>& check, bool all_as_well = true);

}  // namespace scarce
