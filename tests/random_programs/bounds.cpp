// Error bounds from the condition of a program, and programs that are checked against them on a device.
#include "random_programs/bounds.h"

#include <ebb/nn.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/optim.h>

#include "optable/table.h"
#include "random_programs/generate.h"
#include "random_programs/kinds.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

// Changes the results of statements by about a rounding error.

namespace programs {
namespace {

thread_local std::optional<Draw> chance;
thread_local bool slight = false;  // whether perturbations are slight

template <class T>
void perturb_elements(T* x, std::int64_t count, double by) {
  for (std::int64_t i = 0; i < count; ++i)
    x[i] = static_cast<T>(static_cast<double>(x[i]) * (chance->once_in(2) ? 1 + by : 1 - by));
}

// All elements in the memory of a tensor, regardless of its strides.
void perturb_memory(const Variable& x) {
  const double epsilon = epsilon_of(x.dtype());
  void* const at = x.array().storage()->data();
  const auto count = static_cast<std::int64_t>(x.array().storage()->bytes()) / x.element_size();
  if (x.dtype() == ebb::kDouble)
    perturb_elements(static_cast<double*>(at), count, slight ? 2 * epsilon : 32 * epsilon);
  else if (x.dtype() == ebb::kFloat)
    perturb_elements(static_cast<float*>(at), count, slight ? 2 * epsilon : 32 * epsilon);
  else if (slight)
    return;
  else if (x.dtype() == ebb::kHalf)
    perturb_elements(static_cast<ebb::Half*>(at), count, epsilon);
  else
    perturb_elements(static_cast<ebb::BFloat16*>(at), count, epsilon);
}

void perturb_slot(const Slot& slot) {
  programs::perturb(slot.tensor);
  if (!slot.module) return;
  for (const Variable& p : slot.module->parameters()) programs::perturb(p);
}

}  // namespace

double epsilon_of(ebb::DType dtype) {
  switch (dtype) {
    case ebb::kDouble:
      return 0x1p-52;
    case ebb::kFloat:
      return 0x1p-23;
    case ebb::kHalf:
      return 0x1p-10;
    default:
      return 0x1p-7;
  }
}

Perturbation::Perturbation(std::uint64_t seed, bool slightly) {
  slight = slightly;
  chance.reset();
  if (seed != 0) chance.emplace(seed);
}
Perturbation::~Perturbation() { chance.reset(); }

void perturb(const Variable& x) {
  if (!chance || !x.defined() || !x.is_floating_point() || x.is_view()) return;
  perturb_memory(x);
  if (!x.requires_grad() || x.is_leaf()) return;
  x.register_hook([](const Variable& gradient) {
    const Variable factors = ebb::ones_like(gradient.detach());
    if (chance) perturb_memory(factors);
    return gradient * factors;
  });
}

void perturb(const State& state, const Statement& statement) {
  if (!chance) return;
  for (const int i : statement.out) perturb_slot(state[i]);
  if (!is_write(statement)) return;
  const Slot& written = state[statement.in[0]];
  if (written.is_tensor() && written.tensor.is_floating_point()) perturb_memory(written.tensor);
  if (!written.optimizer) return;
  for (const auto& group : written.optimizer->param_groups())
    for (const Variable& p : group.params()) perturb(p);
}

// Error bounds from the condition of a program.

namespace {

using ebb::Variable;

// With fewer runs, all runs choose the same side of a tie too often.
constexpr std::uint64_t kPerturbed = 6, kSlightly = 2;

Variable doubles(const Variable& x) { return x.to(ebb::kDouble).contiguous(); }

// Error messages contain shapes and devices.
bool is_error(const TraceEntry& seen) { return seen.label.ends_with(", error"); }

}  // namespace

Bounds::Bounds(const Program& program) : expected_(run(program, ways().front())) {
  for (std::uint64_t seed = 1; seed <= kPerturbed; ++seed) {
    perturbed_.push_back(run(program, {.name = "perturbed", .perturbed = seed}));
    const std::vector<TraceEntry>& seen = perturbed_.back().entries;
    decided_ = decided_ && seen.size() == expected_.entries.size();
    for (std::size_t i = 0; decided_ && i < seen.size(); ++i)
      decided_ = seen[i].label == expected_.entries[i].label;
  }
  for (std::uint64_t seed = 1; decided_ && seed <= kSlightly; ++seed) {
    Trace slightly = run(program, {.name = "slightly perturbed", .perturbed = seed, .slightly = true});
    if (slightly.entries.size() == expected_.entries.size())
      slightly_perturbed_.push_back(std::move(slightly));
  }
}

bool Bounds::same_text_always(std::size_t i) const {
  return std::all_of(perturbed_.begin(), perturbed_.end(),
                     [&](const Trace& each) { return each.entries[i].text == expected_.entries[i].text; });
}

bool Bounds::within(std::size_t i, const Variable& got) const {
  const Variable& expected = expected_.entries[i].value;
  const auto like_expected = [&](const Variable& x) {
    return x.defined() == expected.defined() &&
           (!x.defined() || (x.sizes() == expected.sizes() && x.dtype() == expected.dtype()));
  };
  std::vector<Variable> others;
  for (const Trace& each : perturbed_) {
    if (!like_expected(each.entries[i].value)) return true;
    if (expected.defined()) others.push_back(doubles(each.entries[i].value));
  }
  if (!like_expected(got)) return false;
  if (!expected.defined()) return true;

  const Variable e = doubles(expected), g = doubles(got);
  const auto at = [](const Variable& x, std::int64_t k) { return x.data_ptr<double>()[k]; };
  const auto distance = [&](const Variable& other) {
    double most = 0;
    for (std::int64_t k = 0; k < e.numel(); ++k)
      if (std::isfinite(at(e, k)) && std::isfinite(at(other, k)))
        most = std::max(most, std::abs(at(other, k) - at(e, k)));
    return most;
  };
  double spread = 0, largest = 0, slight_spread = 0;
  for (std::int64_t k = 0; k < e.numel(); ++k)
    if (std::isfinite(at(e, k))) largest = std::max(largest, std::abs(at(e, k)));
  for (const Variable& other : others) spread = std::max(spread, distance(other));
  for (const Trace& each : slightly_perturbed_)
    if (const Variable& x = each.entries[i].value; like_expected(x))
      slight_spread = std::max(slight_spread, distance(doubles(x)));
  // Such runs are chaotic: a few of them do not bound the deviation of others. Chaos within narrow limits is
  // known by perturbations that are sixteen times smaller, but whose results deviate as much.
  constexpr double kChaos = 0.25, kNoticeable = 1e-3;
  if (spread > kChaos * largest) return true;
  if (spread > kNoticeable * largest && slight_spread > spread / 4) return true;
  const bool floating = expected.is_floating_point();
  const double bound = floating ? spread + 2 * epsilon_of(expected.dtype()) * largest : 0;
  const auto is_exact = [&](double x) { return !floating || !std::isfinite(x); };
  const auto same = [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); };
  // The order of equal elements is random, so agreement with any run is enough.
  for (const Variable& other : others)
    for (std::int64_t k = 0; k < e.numel(); ++k)
      if ((is_exact(at(e, k)) || is_exact(at(other, k))) && !same(at(e, k), at(other, k))) return true;
  for (std::int64_t k = 0; k < e.numel(); ++k) {
    const double a = at(e, k), b = at(g, k);
    // A mean that is updated element by element (Welford) becomes NaN where a sum becomes infinite.
    if (std::isinf(a) && std::isnan(b)) continue;
    if (is_exact(a) ? !same(a, b) : !(std::abs(a - b) <= bound)) return false;
  }
  return true;
}

std::string Bounds::violation(const Trace& got) const {
  if (!decided_) return "";
  for (std::size_t i = 0; i < std::min(expected_.entries.size(), got.entries.size()); ++i) {
    const TraceEntry &a = expected_.entries[i], &b = got.entries[i];
    if (a.label != b.label) return both(a, b);
    if (is_error(a)) continue;
    if (a.text != b.text && same_text_always(i)) return both(a, b);
    if (!within(i, b.value)) return both(a, b);
  }
  return expected_.entries.size() == got.entries.size() ? "" : "one trace has more entries";
}

// Programs that also run on a device.

namespace {

// Whether the statement computes the same on a device: devices draw other random numbers, autocast other ops,
// and do not check immediately that values are in the range of binary_cross_entropy.
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
