// AccessIndex, and the analysis of calls: elementwise calls, reductions, in-place reuse, groups.

#include "compile/fuse.h"
#include "compile/programs.h"
#include "kernel/reduce_plan.h"

#include <algorithm>
#include <utility>

namespace ebb::detail::compile {

AccessIndex::AccessIndex(const Tape& tape) : calls_(tape.buffers.size()), writers_(tape.buffers.size()) {
  for (std::size_t i = 0; i < tape.buffers.size(); ++i)
    buffers_[tape.buffers[i].placeholder.get()] = static_cast<int>(i);

  struct Visitor final : detail::ArgumentVisitor {
    AccessIndex* accesses;
    int call;
    void note_access(int buffer, bool writes) const {
      const auto add = [&](std::vector<int>& calls) {
        if (calls.empty() || calls.back() != call) calls.push_back(call);
      };
      add(accesses->calls_[static_cast<std::size_t>(buffer)]);
      if (writes) add(accesses->writers_[static_cast<std::size_t>(buffer)]);
    }
    void array(NdArray& array) override {
      if (array.defined()) note_access(accesses->buffer(array), written);
    }
    void address(void*&) override {}
    void words(Philox&) override {}
    void plain(const void*, std::size_t) override {}
  } visitor;
  visitor.accesses = this;
  for (std::size_t i = 0; i < tape.calls.size(); ++i) {
    visitor.call = static_cast<int>(i);
    tape.calls[i].call->visit(visitor);
    for (const TapeCall::Address& each : tape.calls[i].addresses) visitor.note_access(each.buffer, true);
    for (const TapeCall::Allocated& each : tape.calls[i].allocated) visitor.note_access(each.buffer, true);
  }
}

namespace {

bool any_between(const std::vector<int>& calls, int first, int last) {
  const auto next = std::upper_bound(calls.begin(), calls.end(), first);
  return next != calls.end() && *next < last;
}

}  // namespace

bool AccessIndex::between(int buffer, int first, int last) const {
  return any_between(calls(buffer), first, last);
}
int AccessIndex::last_before(int buffer, int before) const {
  const auto next = std::lower_bound(calls(buffer).begin(), calls(buffer).end(), before);
  return next == calls(buffer).begin() ? -1 : *std::prev(next);
}
bool AccessIndex::written_between(int buffer, int first, int last) const {
  return any_between(writers(buffer), first, last);
}

void AccessIndex::redirect(int call, int from, int to) {
  for (auto* const accesses : {&calls_, &writers_}) {
    std::erase((*accesses)[static_cast<std::size_t>(from)], call);
    std::vector<int>& calls = (*accesses)[static_cast<std::size_t>(to)];
    const auto next = std::lower_bound(calls.begin(), calls.end(), call);
    if (next == calls.end() || *next != call) calls.insert(next, call);
  }
}

void AccessIndex::renumber(const std::vector<int>& number) {
  for (auto* const accesses : {&calls_, &writers_})
    for (std::vector<int>& calls : *accesses) {
      for (int& call : calls) call = number[static_cast<std::size_t>(call)];
      std::erase(calls, -1);
      std::sort(calls.begin(), calls.end());
    }
}

void reorder(Tape& tape, AccessIndex& accesses, const std::vector<std::size_t>& order) {
  std::vector<TapeCall> ordered;
  ordered.reserve(order.size());
  std::vector<int> number(tape.calls.size(), -1);
  for (const std::size_t call : order) {
    number[call] = static_cast<int>(ordered.size());
    ordered.push_back(std::move(tape.calls[call]));
  }
  tape.calls = std::move(ordered);
  accesses.renumber(number);
}

namespace {

// Returns whether all elements are the same element in memory.
bool is_broadcast(const NdArray& x) {
  for (std::size_t d = 0; d < static_cast<std::size_t>(x.dim()); ++d)
    if (x.sizes()[d] != 1 && x.strides()[d] != 0) return false;
  return true;
}

}  // namespace

std::vector<const ElementOperand*> ElementCall::in_memory() const {
  std::vector<const ElementOperand*> all;
  for (int i = 0; i < row.count; ++i)
    if (in[i].buffer >= 0) all.push_back(&in[i]);
  all.push_back(&out);
  return all;
}

ElementOperand operand_of(const NdArray& x, const AccessIndex& accesses) {
  ElementOperand operand;
  operand.buffer = accesses.buffer(x);
  operand.dtype = x.dtype();
  operand.offset = static_cast<std::size_t>(x.offset() * element_size(x.dtype()));
  return operand;
}

std::optional<ElementCall> element_call(const TapeCall& call, const AccessIndex& accesses) {
  if (!call.call->per_element() || !call.allocated.empty()) return std::nullopt;
  ElementCall found;
  const NdArray* const out = call.call->element_row(found.row);
  if (!out || !out->is_contiguous() || out->numel() == 0) return std::nullopt;
  if (!found.row.function && !found.row.type) return std::nullopt;
  found.count = out->numel();
  found.device = out->device();
  found.out = operand_of(*out, accesses);
  for (int i = 0; i < found.row.count; ++i) {
    const detail::Operand& given = found.row.operands[i];
    ElementOperand& operand = found.in[i];
    operand.dtype = found.row.operand_dtype(i);
    const NdArray* const x = given.array ? given.array : given.read_from;
    if (x) {
      // A row cannot convert a scalar, so an array from which it reads a scalar must have the row's dtype.
      if (given.read_from && x->dtype() != found.row.dtype) return std::nullopt;
      if (x->device() != found.device) return std::nullopt;
      operand = operand_of(*x, accesses);
    }
    operand.broadcast = found.count != 1 && (!x || is_broadcast(*x));
    if (x && !operand.broadcast && (x->numel() != found.count || !x->is_contiguous())) return std::nullopt;
    // If an operand is in the output's buffer, each element of the output may depend only on the same element
    // of the operand.
    if (operand.buffer == found.out.buffer && !operand.same_elements(found.out)) return std::nullopt;
  }
  return found;
}

namespace {

// Returns x as a matrix whose rows or columns are reduced, if `dims` are the last or the first dimensions of
// x.
std::optional<ReducedMatrix> matrix_of(const NdArray& x, DimMask dims) {
  std::int64_t reduced = 1, kept = 1;
  bool last = true, first = true;
  for (std::size_t d = x.sizes().size(); d-- > 0;) {
    if (x.sizes()[d] == 1) continue;
    if ((dims >> d) & 1) {
      last = last && kept == 1;
      reduced *= x.sizes()[d];
    } else {
      first = first && reduced == 1;
      kept *= x.sizes()[d];
    }
  }
  if (last) return ReducedMatrix{kept, false};
  if (first) return ReducedMatrix{reduced, true};
  return std::nullopt;
}

}  // namespace

std::optional<ElementReductionCall> element_reduction_call(const TapeCall& call,
                                                           const AccessIndex& accesses) {
  const detail::KernelTraits traits = call.call->traits();
  if (!traits.reduction) return std::nullopt;
  ElementReductionCall found;
  const NdArray* const out = traits.reduction(*call.call, found.steps);
  if (!out) return std::nullopt;
  const NdArray& x = *found.steps.from;
  const std::optional<ReducedMatrix> matrix = matrix_of(x, found.steps.dims);
  if (!matrix || !x.is_contiguous() || x.numel() == 0) return std::nullopt;
  found.shape = *matrix;
  found.count = x.numel();
  found.device = x.device();
  found.input = operand_of(x, accesses);
  found.output = operand_of(*out, accesses);
  return found;
}

namespace {

struct Arrays final : detail::ArgumentVisitor {
  std::vector<NdArray> all;
  void array(NdArray& array) override {
    if (all.empty() || array.defined()) all.push_back(array);
  }
  void address(void*&) override {}
  void words(Philox&) override {}
  void plain(const void*, std::size_t) override {}
};

}  // namespace

std::vector<std::pair<int, int>> in_place(const TapeCall& call, int at, const AccessIndex& accesses) {
  const bool on_cpu = call.call->traits().in_place_on_cpu;
  if (!call.call->per_element() && !on_cpu) return {};
  Arrays arrays;
  call.call->visit(arrays);
  const NdArray& out = arrays.all.front();  // the first array is the output
  if (!out.defined() || (!call.call->per_element() && !out.device().is_cpu())) return {};
  const auto fits = [&](const NdArray& x) {
    return x.offset() == out.offset() && x.sizes() == out.sizes() && x.strides() == out.strides() &&
           element_size(x.dtype()) == element_size(out.dtype());
  };
  std::vector<std::pair<int, int>> pairs;
  const int to = accesses.buffer(out);
  for (const NdArray& x : arrays.all) {
    const int from = accesses.buffer(x);
    if (from == to || accesses.calls(to).front() != at || accesses.calls(from).back() != at) continue;
    bool all = true;
    for (const NdArray& other : arrays.all) all = all && (other.storage() != x.storage() || fits(other));
    if (all) pairs.emplace_back(from, to);
  }
  return pairs;
}

void ElementGroup::use(const ElementCall& row) {
  for (const ElementOperand* each : row.in_memory()) {
    std::vector<ElementOperand>& uses = used[each->buffer];
    const auto same = [&](const ElementOperand& other) { return other.same_elements(*each); };
    // Compares only with the first and the last use. This finds most repetitions at a constant cost.
    if (uses.empty() || !(same(uses.front()) || same(uses.back()))) uses.push_back(*each);
  }
  written.insert(row.out.buffer);
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

void ElementGroup::begin(int at, GroupProducer with) {
  first = last = at;
  producer = std::move(with);
  used[producer.out.buffer].push_back(producer.out);
  written.insert(producer.out.buffer);
}

void ElementGroup::drop_producer() {
  ++first;
  producer = {};
  used.clear();
  written.clear();
  for (const ElementCall& row : rows) use(row);
}

// Returns the number of arrays that the group uses. Different elements of the same buffer count as different
// arrays.
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

// Returns whether one more call would make a device kernel too large, or a CPU group too long to compare with
// each candidate.
bool ElementGroup::is_full() const {
  constexpr std::size_t most = DeviceChain::kMostArrays - 1 - detail::ElementRow::kMostOperands;
  if (device().is_cpu()) return rows.size() >= kMostRows;
  return rows.size() >= DeviceChain::kMostCalls || arrays_used() > most;
}

bool ElementGroup::joins(const ElementCall& row) const {
  if (row.device != device() || is_full()) return false;
  if ((producer.call ? producer.count : rows.front().count) != row.count) return false;
  if (producer.reads.contains(row.out.buffer)) return false;
  for (const Reduction& reduction : reductions)  // on the CPU, a block is summed after all rows
    if (device().is_cpu() && reduction.call.input.buffer == row.out.buffer) return false;
  for (const ElementOperand* each : row.in_memory()) {
    for (const Reduction& reduction : reductions)  // no call may access an incomplete result
      if (reduction.call.output.buffer == each->buffer) return false;
    const auto found = used.find(each->buffer);
    if (found == used.end()) continue;
    count_comparisons(found->second.size());
    const bool write = each == &row.out || written.contains(each->buffer);
    for (const ElementOperand& other : found->second)
      if (write && !other.same_elements(*each)) return false;
  }
  return true;
}

bool ElementGroup::joins(const ElementReductionCall& reduction) const {
  if (rows.empty() || reduction.count != rows.front().count || reduction.device != device()) return false;
  const auto uses = used.find(reduction.input.buffer);
  if (uses == used.end() || !uses->second.front().same_elements(reduction.input) ||
      used.contains(reduction.output.buffer))
    return false;
  if (device().is_cpu()) return true;
  if (reductions.size() == DeviceChain::kMostReductions) return false;
  if (!reductions.empty() && reductions.front().call.shape != reduction.shape) return false;
  const std::int64_t across = reduction.count / reduction.shape.rows;
  if (reduction.shape.by_columns) return across >= DeviceChain::kFewestColumns;
  return reduction.shape.rows == 1 || across >= DeviceChain::kLeastRow;
}

}  // namespace ebb::detail::compile
