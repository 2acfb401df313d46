// Programs that run on a device too.
#include "random_programs/on_device.h"

#include <map>

#include "optable/table.h"
#include "random_programs/bounds.h"
#include "random_programs/generate.h"
#include "random_programs/kinds.h"

namespace programs {
namespace {

// Whether the statement computes the same there: devices draw other random numbers, cast other ops
// automatically, and do not wait to see whether values are in the range of binary_cross_entropy.
bool is_the_same_there(Statement& s) {
  static const std::map<std::string, bool> rows = [] {
    std::map<std::string, bool> all;
    for (const optable::Row* row : optable::rows())
      all[row->name] =
          row->cuda_reason.empty() && row->family != "random" && row->name != "binary_cross_entropy";
    return all;
  }();
  s.modes &= ~kAutocast;
  if (makes_overlapping_view(s)) return false;
  if (s.kind == "random") return false;
  if (s.kind == "module") return text(s, Language::cpp).find("Dropout") == std::string::npos;
  return (s.kind != "op" && s.kind != "op_") || rows.at(s.name);
}
}  // namespace

Program generate_for_device(Draw& draw) { return generate(draw, {.adapt = is_the_same_there}); }

std::string wrong_on_device(const Program& program, std::int64_t* decided) {
  const Bounds bounds(program);
  if (decided) *decided += bounds.decided();
  for (const Way& way : {Way{.name = "on the device", .device = ebb::kCUDA},
                         Way{.name = "on the device, compiled", .compiled = true, .device = ebb::kCUDA}}) {
    const std::string found = bounds.violation(run(program, way));
    if (!found.empty()) return std::string(way.name) + ": " + found;
  }
  return "";
}

}  // namespace programs
