// Programs that run on a device too.
#pragma once

#include "random_programs/draw.h"
#include "random_programs/program.h"

namespace programs {

/// A program of statements that compute the same on a CUDA device as on the CPU.
Program generate_for_device(Draw& draw);

/// The first place where the program, eager or compiled, gives there what is outside the bounds of its plain
/// run on the CPU; empty where there is none. `decided` is increased where the bounds say anything.
std::string wrong_on_device(const Program& program, std::int64_t* decided = nullptr);

}  // namespace programs
