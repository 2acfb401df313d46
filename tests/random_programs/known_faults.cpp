// The list of known faults, each with a predicate.
#include "random_programs/kinds.h"

#include <algorithm>

namespace programs {
namespace {

/// A statement, its place, and the program around it.
struct Case {
  const Statement& s;
  Place place;
  const Program& program;

  bool has_argument(std::size_t i) const {
    return i < s.in.size() &&
           std::find(program.arguments.begin(), program.arguments.end(), s.in[i]) != program.arguments.end();
  }
  /// Whether the function captures that input slot of the statement.
  bool has_captured(std::size_t i) const {
    return i < s.in.size() && s.in[i] < program.kept && !has_argument(i);
  }
  /// Whether other objects may refer to a captured tensor: graphs, views, optimizers, tensors that the body
  /// keeps.
  bool others_hold() const {
    const auto computes = [](const Statement& each) { return each.kind != "make" && each.kind != "module"; };
    const auto keeps = [&](const Statement& each) {
      return std::any_of(each.out.begin(), each.out.end(), [&](auto slot) { return slot < program.kept; });
    };
    return std::any_of(program.setup.begin(), program.setup.end(), computes) ||
           std::any_of(program.body.begin(), program.body.end(), keeps);
  }
  /// Whether the body reads the shape of a tensor whose values it may not read.
  bool asks_for_shapes() const {
    return std::any_of(program.body.begin(), program.body.end(), [](const Statement& each) {
      return each.name.ends_with("_like") || each.name.ends_with("_as");
    });
  }
  /// Whether two handles may start to share a tensor between calls.
  bool has_aliases() const {
    const auto is_alias = [](const Statement& each) { return each.kind == "act" && each.name == "alias"; };
    return std::any_of(program.between.begin(), program.between.end(),
                       [&](const Statements& all) { return std::any_of(all.begin(), all.end(), is_alias); });
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
    {"compile: a captured handle that is given another tensor is not noticed while somebody holds the old "
     "one",
     [](const Case& c) {
       if (c.place != kBetween || c.s.kind != "act") return false;
       const bool moves = c.s.name == "overlap"
                              ? c.has_captured(0) || c.has_captured(1)
                              : c.has_captured(0) && c.is_one_of({"fresh", "alias", "view", "within"});
       return moves && (c.others_hold() || c.has_aliases() || c.asks_for_shapes());
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
