// Which calls become programs of rows.
#include "compile/fuse.h"

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <utility>

namespace ebb::compiling {
namespace {

// Fewer elements than that gain by a program even if it is of one row.
constexpr std::int64_t kShort = 4096;
// Places of fewer bytes are not worth the search for one that could lie there next.
constexpr std::size_t kWorthReuse = 4096;

// A call as a row over contiguous elements.
struct Row {
  struct Operand {
    int place = -1;  // -1: a number
    std::size_t offset = 0, size = 0;
    bool still = false;

    bool same_elements(const Operand& other) const {
      return offset == other.offset && size == other.size && still == other.still;
    }
  };
  detail::ElementRow row;
  std::int64_t count = 0;
  Operand out, in[detail::ElementRow::kMostOperands];
};

// Whether all elements are the same one.
bool is_still(const NdArray& x) {
  for (std::size_t d = 0; d < static_cast<std::size_t>(x.dim()); ++d)
    if (x.sizes()[d] != 1 && x.strides()[d] != 0) return false;
  return true;
}

class Fuser {
 public:
  explicit Fuser(Tape& tape) : tape_(tape), touches_(tape) {}

  void run() {
    const std::vector<TapeSuccession> single = std::exchange(tape_.successions, {});
    accumulate_products(tape_, touches_);
    const auto calls = static_cast<int>(tape_.calls.size());
    for (int at = 0; at < calls; ++at) {
      if (tape_.calls[static_cast<std::size_t>(at)].left_out) continue;
      std::optional<Row> row = row_of(at);
      if (group_first_ >= 0 && !(row && joins(*row))) close();
      if (!row) {
        tape_.steps.push_back({at, at, nullptr});
        continue;
      }
      if (group_first_ < 0) group_first_ = at;
      group_last_ = at;
      for (const Row::Operand* each : operands(*row)) used_[each->place].push_back(*each);
      written_.insert(row->out.place);
      rows_.push_back(std::move(*row));
    }
    if (group_first_ >= 0) close();
    keep_successions(single);
  }

 private:
  // Of calls that are steps of their own.
  void keep_successions(const std::vector<TapeSuccession>& of_calls) {
    for (const TapeSuccession& each : of_calls) {
      const auto after = std::upper_bound(tape_.steps.begin(), tape_.steps.end(), each.at,
                                          [](int call, const TapeStep& step) { return call < step.first; });
      if (after == tape_.steps.begin()) continue;
      const auto step = std::prev(after);
      if (!step->rows && step->first == each.at)
        tape_.successions.push_back({each.from, each.to, static_cast<int>(step - tape_.steps.begin())});
    }
  }

  // Those in memory; the one that is written comes last.
  static std::vector<const Row::Operand*> operands(const Row& row) {
    std::vector<const Row::Operand*> all;
    for (int i = 0; i < row.row.count; ++i)
      if (row.in[i].place >= 0) all.push_back(&row.in[i]);
    all.push_back(&row.out);
    return all;
  }

  Row::Operand operand_of(const NdArray& x) const {
    Row::Operand operand;
    operand.place = touches_.place(x);
    operand.size = static_cast<std::size_t>(element_size(x.dtype()));
    operand.offset = static_cast<std::size_t>(x.offset()) * operand.size;
    return operand;
  }

  std::optional<Row> row_of(int at) const {
    const TapeCall& call = tape_.calls[static_cast<std::size_t>(at)];
    if (!call.call->per_element() || !call.made.empty()) return std::nullopt;
    Row row;
    const NdArray* const out = call.call->element_row(row.row);
    if (!out || !out->device().is_cpu() || !out->is_contiguous() || out->numel() == 0) return std::nullopt;
    row.count = out->numel();
    row.out = operand_of(*out);
    for (int i = 0; i < row.row.count; ++i) {
      const detail::ElementRow::Operand& given = row.row.operands[i];
      const NdArray* const x = given.array ? given.array : given.read_from;
      if (!x) {
        row.in[i].still = row.count != 1;
        continue;
      }
      // A number that is read may be of another dtype, which rows do not convert.
      if (given.read_from && x->dtype() != row.row.dtype) return std::nullopt;
      row.in[i] = operand_of(*x);
      row.in[i].still = row.count != 1 && is_still(*x);
      if (!row.in[i].still && (x->numel() != row.count || !x->is_contiguous())) return std::nullopt;
      // What it writes it must not read at other elements.
      if (row.in[i].place == row.out.place && !row.in[i].same_elements(row.out)) return std::nullopt;
    }
    return row;
  }

  // Whether the call can run with those of the group: what one of them writes the others see only at the same
  // elements.
  bool joins(const Row& row) const {
    if (rows_.front().count != row.count) return false;
    for (const Row::Operand* each : operands(row)) {
      const auto found = used_.find(each->place);
      if (found == used_.end()) continue;
      const bool write = each == &row.out || written_.contains(each->place);
      for (const Row::Operand& other : found->second)
        if (write && !other.same_elements(*each)) return false;
    }
    return true;
  }

  void close() {
    if (rows_.size() > 1 || rows_.front().count <= kShort) {
      tape_.steps.push_back({group_first_, group_last_, program()});
      note_successions();
      note_apart();
    } else {
      tape_.steps.push_back({group_first_, group_first_, nullptr});
    }
    group_first_ = -1;
    rows_.clear();
    used_.clear();
    written_.clear();
  }

  // Nothing else needs the place's elements.
  bool passing(int at) const {
    const Place& place = tape_.places[static_cast<std::size_t>(at)];
    const std::vector<Row::Operand>& uses = used_.at(at);
    return place.kind == Place::Kind::inner && touches_.calls(at).front() >= group_first_ &&
           touches_.calls(at).back() <= group_last_ && !uses.front().still && uses.front().offset == 0;
  }

  std::unique_ptr<RowProgram> program() {
    auto program = std::make_unique<RowProgram>(rows_.front().count);
    std::unordered_map<int, std::vector<std::pair<Row::Operand, int>>> streams;
    const auto stream_of = [&](const Row::Operand& x) {
      auto& known = streams[x.place];
      for (const auto& [operand, stream] : known)
        if (operand.same_elements(x)) return stream;
      Place& place = tape_.places[static_cast<std::size_t>(x.place)];
      const bool passes = passing(x.place);
      if (passes) place.kind = Place::Kind::passing;
      const int stream = passes ? program->add_buffer(x.size)
                                : program->add_memory(*place.stand_in, x.offset, x.size, x.still);
      known.emplace_back(x, stream);
      return stream;
    };
    for (const Row& row : rows_) {
      RowProgram::Line line{row.row.function, row.row.formula};
      for (int i = 0; i < row.row.count; ++i) {
        const Row::Operand& x = row.in[i];
        const auto k = static_cast<std::size_t>(i);
        const auto size = x.place >= 0 ? x.size : static_cast<std::size_t>(element_size(row.row.dtype));
        line.in[k] = x.place >= 0 ? stream_of(x) : program->add_number(row.row.operands[i].number, size);
        if (x.still && row.row.takes_constants)
          line.constant |= 1u << i;
        else if (x.still)
          line.in[k] = program->add_filled(line.in[k]);
      }
      line.out = stream_of(row.out);
      program->add_line(line, row.row.grain);
    }
    program->finish();
    return program;
  }

  // A place that is read for the last time may lie where another is written for the first.
  void note_successions() {
    const auto candidate = [&](int at, bool ends) {
      const Place& place = tape_.places[static_cast<std::size_t>(at)];
      const std::vector<int>& calls = touches_.calls(at);
      return place.kind == Place::Kind::inner && place.bytes >= kWorthReuse && !used_.at(at).front().still &&
             used_.at(at).front().offset == 0 &&
             (ends ? calls.back() <= group_last_ : calls.front() >= group_first_);
    };
    const int step = static_cast<int>(tape_.steps.size()) - 1;
    for (const auto& [from, uses] : used_) {
      if (!candidate(from, true)) continue;
      const bool one = std::all_of(uses.begin(), uses.end(),
                                   [&](const Row::Operand& each) { return each.same_elements(uses.front()); });
      if (!one) continue;
      for (const int to : written_)
        if (to != from && candidate(to, false) && used_.at(to).front().size == uses.front().size &&
            touches_.calls(from).back() <= touches_.calls(to).front())
          tape_.successions.push_back({from, to, step});
    }
  }

  // Memory of the program's callers that must not overlap, or a block would see what a later one writes.
  void note_apart() {
    const auto is_callers = [&](int at) {
      const Place::Kind kind = tape_.places[static_cast<std::size_t>(at)].kind;
      return kind == Place::Kind::input || kind == Place::Kind::outside;
    };
    for (const int a : written_)
      for (const auto& [b, uses] : used_)
        if (a != b && is_callers(a) && is_callers(b)) tape_.apart.emplace_back(a, b);
  }

  Tape& tape_;
  const Touches touches_;
  int group_first_ = -1, group_last_ = -1;
  std::vector<Row> rows_;                                   // of the group
  std::unordered_map<int, std::vector<Row::Operand>> used_;  // by place
  std::unordered_set<int> written_;
};

}  // namespace

void fuse(Tape& tape) { Fuser(tape).run(); }

}  // namespace ebb::compiling
