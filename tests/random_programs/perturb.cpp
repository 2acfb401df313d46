// Changes the results of statements as rounding might.
#include "random_programs/perturb.h"

#include <ebb/nn.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/optim.h>

#include <optional>

#include "random_programs/draw.h"
#include "random_programs/kinds.h"

namespace programs {
namespace {

thread_local std::optional<Draw> chance;

template <class T>
void perturb_elements(T* x, std::int64_t count, double by) {
  for (std::int64_t i = 0; i < count; ++i)
    x[i] = static_cast<T>(static_cast<double>(x[i]) * (chance->once_in(2) ? 1 + by : 1 - by));
}

// All elements of a tensor's memory, whatever its strides.
void perturb_memory(const Variable& x) {
  const double epsilon = epsilon_of(x.dtype());
  void* const at = x.array().storage()->data();
  const auto count = static_cast<std::int64_t>(x.array().storage()->bytes()) / x.element_size();
  if (x.dtype() == ebb::kDouble)
    perturb_elements(static_cast<double*>(at), count, 32 * epsilon);
  else if (x.dtype() == ebb::kFloat)
    perturb_elements(static_cast<float*>(at), count, 32 * epsilon);
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

Perturbation::Perturbation(std::uint64_t seed) {
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

}  // namespace programs
