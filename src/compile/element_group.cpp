// Which calls join a group.
#include "compile/element_group.h"

#include <algorithm>
#include <utility>

#include "compile/device_chain.h"
#include "compile/work.h"

namespace ebb::compiling {

void ElementGroup::use(const ElementCall& row) {
  for (const ElementOperand* each : row.in_memory()) {
    std::vector<ElementOperand>& uses = used[each->place];
    const auto same = [&](const ElementOperand& other) { return other.same_elements(*each); };
    // The first use tells most of a place; of the others only the last is likely to be of the same elements.
    if (uses.empty() || !(same(uses.front()) || same(uses.back()))) uses.push_back(*each);
  }
  written.insert(row.out.place);
}

void ElementGroup::add(int at, ElementCall row) {
  if (!is_open()) first = at;
  last = at;
  use(row);
  rows.push_back(std::move(row));
}

void ElementGroup::add(int at, ElementReductionCall reduction) {
  last = at;
  reductions.push_back({std::move(reduction), rows.size()});
}

void ElementGroup::begin(int at, Source with) {
  first = last = at;
  source = std::move(with);
  used[source.out.place].push_back(source.out);
  written.insert(source.out.place);
}

void ElementGroup::drop_source() {
  ++first;
  source = {};
  used.clear();
  written.clear();
  for (const ElementCall& row : rows) use(row);
}

// Of different elements.
std::size_t ElementGroup::arrays_used() const {
  std::size_t count = 0;
  for (const auto& entry : used) {
    const std::vector<ElementOperand>& uses = entry.second;
    for (auto each = uses.begin(); each != uses.end(); ++each)
      count += std::none_of(uses.begin(), each,
                            [&](const ElementOperand& other) { return other.same_elements(*each); });
  }
  return count;
}

// Whether the kernel of a device would become too large with one more call, or a group of the CPU too long to
// be compared with every call that might join.
bool ElementGroup::is_full() const {
  constexpr std::size_t most = DeviceChain::kMostArrays - 1 - detail::ElementRow::kMostOperands;
  if (device().is_cpu()) return rows.size() >= kMostRows;
  return rows.size() >= DeviceChain::kMostCalls || arrays_used() > most;
}

bool ElementGroup::joins(const ElementCall& row) const {
  if (row.device != device() || is_full()) return false;
  if ((source.call ? source.count : rows.front().count) != row.count) return false;
  if (source.reads.contains(row.out.place)) return false;
  if (!reductions.empty() && device().is_cpu()) return false;
  for (const ElementOperand* each : row.in_memory()) {
    for (const Reduction& reduction : reductions)  // which are there once all elements are
      if (reduction.call.to.place == each->place) return false;
    const auto found = used.find(each->place);
    if (found == used.end()) continue;
    count_comparisons(found->second.size());
    const bool write = each == &row.out || written.contains(each->place);
    for (const ElementOperand& other : found->second)
      if (write && !other.same_elements(*each)) return false;
  }
  return true;
}

bool ElementGroup::joins(const ElementReductionCall& reduction) const {
  if (rows.empty() || reduction.count != rows.front().count || reduction.device != device()) return false;
  const auto uses = used.find(reduction.of.place);
  if (uses == used.end() || !uses->second.front().same_elements(reduction.of) ||
      used.contains(reduction.to.place))
    return false;
  if (device().is_cpu()) return true;
  if (reductions.size() == DeviceChain::kMostReductions) return false;
  if (!reductions.empty() && reductions.front().call.shape != reduction.shape) return false;
  const std::int64_t across = reduction.count / reduction.shape.rows;
  if (reduction.shape.by_columns) return across >= DeviceChain::kFewestColumns;
  return reduction.shape.rows == 1 || across >= DeviceChain::kLeastRow;
}

}  // namespace ebb::compiling
