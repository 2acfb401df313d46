// What sources have in common, and where they stand in a tape.
#include "compile/row_source.h"

#include "compile/touches.h"

#include <utility>

namespace ebb::compiling {

std::unique_ptr<RowSource> row_source(const TapeCall& call) {
  if (std::unique_ptr<RowSource> product = product_source(call)) return product;
  return pooling_source(call);
}

void delay_sources(Tape& tape) {
  const Touches touches(tape);
  std::vector<std::vector<int>> before(tape.calls.size());
  std::vector<bool> moved(tape.calls.size());
  for (std::size_t i = 0; i < tape.calls.size(); ++i) {
    const std::unique_ptr<RowSource> source = row_source(tape.calls[i]);
    if (!source) continue;
    const int place = touches.place(source->out()), from = static_cast<int>(i);
    const std::vector<int>& users = touches.calls(place);
    if (tape.places[static_cast<std::size_t>(place)].kind != Place::Kind::inner) continue;
    if (users.front() != from || users.size() < 2 || users[1] == from + 1) continue;
    const int to = users[1];
    if (!tape.calls[static_cast<std::size_t>(to)].call->per_element()) continue;
    bool written_between = false;
    for (const NdArray* x : source->reads())
      written_between =
          written_between || (x->defined() && touches.written_between(touches.place(*x), from, to));
    if (written_between) continue;
    before[static_cast<std::size_t>(to)].push_back(from);
    moved[i] = true;
  }
  std::vector<TapeCall> ordered;
  ordered.reserve(tape.calls.size());
  for (std::size_t i = 0; i < tape.calls.size(); ++i) {
    for (const int each : before[i]) ordered.push_back(std::move(tape.calls[static_cast<std::size_t>(each)]));
    if (!moved[i]) ordered.push_back(std::move(tape.calls[i]));
  }
  tape.calls = std::move(ordered);
}

NdArray array_at(std::byte* data, const DimVector& sizes, DType dtype) {
  const auto bytes = static_cast<std::size_t>(checked_numel(sizes) * element_size(dtype));
  return NdArray(Storage::adopt(data, bytes, kCPU, nullptr, nullptr), sizes, contiguous_strides(sizes), 0,
                 dtype);
}

}  // namespace ebb::compiling
