// Children that are killed in the middle of what they write.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace support {

/// Runs body() in a forked child and kills it as it enters the system call number `call`, from 0 on, of those
/// that change files (open, write, rename and the like). False where it ends before, with all done. Throws
/// std::runtime_error where the child cannot be traced, or ends with an exception.
bool is_killed_at(int call, const std::function<void()>& body);

/// The names of the system calls on files and folders that body() makes in a forked child.
std::vector<std::string> file_calls(const std::function<void()>& body);

/// Lets body() run over and over in a forked child, and kills that at a moment drawn by `seed`.
void kill_at_random(unsigned seed, const std::function<void()>& body);

/// How often tests kill at random: EBB_TEST_KILLS, else a few times.
int kills();

}  // namespace support
