// The list of known faults: a predicate each.
#include "random_programs/known_faults.h"

#include <algorithm>

namespace programs {
namespace {

/// A statement, where it stands, and the program around it.
struct Case {
  const Statement& s;
  Place place;
  const Program& program;

  bool has_argument(std::size_t i) const {
    return i < s.in.size() &&
           std::find(program.arguments.begin(), program.arguments.end(), s.in[i]) != program.arguments.end();
  }
  /// Whether the function captures that slot of the statement.
  bool has_captured(std::size_t i) const {
    return i < s.in.size() && s.in[i] < program.kept && !has_argument(i);
  }
  /// Whether the setup computes anything, so that captured tensors have graphs and views.
  bool setup_computes() const {
    return std::any_of(program.setup.begin(), program.setup.end(), [](const Statement& each) {
      return each.kind != "make" && each.kind != "module" && each.kind != "optimizer";
    });
  }
  bool is_one_of(std::initializer_list<const char*> names) const {
    return std::any_of(names.begin(), names.end(), [&](const char* name) { return s.name == name; });
  }
};

struct Fault {
  const char* kind;
  bool (*holds)(const Case&);
};

const std::vector<Fault> faults = {
    {"compile: a hook that is added after the recording, or by each call to a tensor from outside, is not "
     "called",
     [](const Case& c) {
       if (c.s.kind == "module_hook") return c.place == kBetween;
       return c.s.kind == "hook" && (c.place == kBetween || c.s.in[0] < c.program.kept);
     }},
    {"compile: the geometry of a tensor changes in place within the function",
     [](const Case& c) {
       const bool reshapes =
           c.s.kind == "op_" && c.is_one_of({"transpose", "swapaxes", "swapdims", "t", "squeeze",
                                             "squeeze.dim", "unsqueeze", "as_strided"});
       return c.place == kBody && (c.s.kind == "geometry" || reshapes);
     }},
    {"compile: a captured handle that is given another tensor is not noticed",
     [](const Case& c) {
       if (c.place != kBetween || c.s.kind != "act") return false;
       if (c.s.name == "overlap") return c.has_captured(0) || c.has_captured(1);
       return c.has_captured(0) && c.is_one_of({"fresh", "alias", "view", "within"});
     }},
    {"compile: other geometry or memory of a captured tensor is not noticed",
     [](const Case& c) {
       return c.place == kBetween && c.has_captured(0) &&
              (c.s.kind == "geometry" || c.is_one_of({"set_", "set_data", "resize_"}));
     }},
    {"compile: a graph of captured tensors that changes between calls is not noticed",
     [](const Case& c) {
       const bool writes =
           c.s.kind == "write" || c.s.kind == "op_" || c.s.kind == "index_put_" || c.s.kind == "step";
       return c.place == kBetween && writes && !c.has_argument(0) && c.setup_computes();
     }},
    {"compile: requires_grad of a tensor from outside changes",
     [](const Case& c) {
       return c.s.kind == "flag" && (c.has_captured(0) || (c.place == kBody && c.has_argument(0)));
     }},
    {"compile: the gradient of a captured tensor is replaced or cleared",
     [](const Case& c) {
       return c.place == kBetween && c.has_captured(0) && c.is_one_of({"replace_grad", "clear_grad"});
     }},
};

const char* known_fault(const Statements& statements, Place place, const Program& program) {
  for (const Statement& s : statements)
    if (const char* fault = known_fault(s, place, program)) return fault;
  return nullptr;
}

}  // namespace

const char* known_fault(const Statement& statement, Place place, const Program& before) {
  for (const Fault& fault : faults)
    if (fault.holds({statement, place, before})) return fault.kind;
  return nullptr;
}

const char* known_fault(const Program& program) {
  if (const char* fault = known_fault(program.body, kBody, program)) return fault;
  for (const Statements& each : program.between)
    if (const char* fault = known_fault(each, kBetween, program)) return fault;
  return nullptr;
}

}  // namespace programs
