// Statements that are rows of the op table: functions and their in-place forms.
#include "optable/samples.h"
#include "random_programs/export.h"
#include "random_programs/kinds.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace programs {
namespace {

using optable::Row;

// Rows that are excluded.
const std::set<std::string> left_out = {"from_blob",    // memory that is not ebb's
                                        "svd_lowrank",  // a generator of its own
                                        "pca_lowrank", "pca_lowrank.mean"};

const std::vector<const Row*>& usable_rows() {
  static const std::vector<const Row*> rows = [] {
    std::vector<const Row*> all;
    for (const Row* row : optable::rows())
      if (!left_out.contains(row->name) && row->shape_sets.size() > 0) all.push_back(row);
    return all;
  }();
  return rows;
}

const Row& row_named(const std::string& name) {
  static const std::map<std::string, const Row*> by_name = [] {
    std::map<std::string, const Row*> all;
    for (const Row* row : usable_rows()) all[row->name] = row;
    return all;
  }();
  return *by_name.at(name);
}

// The values of an input from the row's own sample; cached, because some samples are expensive.
const Variable& own_input(const Row& row, std::size_t sample, std::size_t input) {
  static thread_local std::map<std::tuple<const Row*, std::size_t, bool>, ebb::variable_list> made;
  auto& inputs = made[{&row, sample, home().is_cuda()}];
  if (inputs.empty())
    for (const Variable& x : optable::make_inputs(row, sample)) inputs.push_back(x.to(home()));
  return inputs[input];
}

bool is_integer(const Row& row, std::size_t input) {
  return std::any_of(row.integer_inputs.begin(), row.integer_inputs.end(),
                     [&](const optable::IntegerInput& each) { return each.input == input; });
}

/// The source of an input of a row: its own values, a slot, or a slot that is mapped to the right shape and
/// range.
enum Source : std::int64_t { kOwn, kPlain, kFitted };

// numbers: the sample, then for each input its source and, if it is fitted, the number of sizes and the
// sizes.
struct Call {
  const Row& row;
  std::size_t sample;
  struct Input {
    Source source;
    int slot;
    Sizes sizes;
  };
  std::vector<Input> inputs;

  explicit Call(const Statement& s) : row(row_named(s.name)), sample(static_cast<std::size_t>(s.numbers[0])) {
    std::size_t slot = 0;
    for (std::size_t i = 1; i < s.numbers.size(); ++i) {
      Input input{static_cast<Source>(s.numbers[i]), -1, {}};
      if (input.source != kOwn) input.slot = s.in[slot++];
      if (input.source == kFitted) {
        const auto first = s.numbers.begin() + static_cast<std::ptrdiff_t>(i) + 2;
        input.sizes.assign(first, first + s.numbers[i + 1]);
        i += 1 + input.sizes.size();
      }
      inputs.push_back(input);
    }
  }
  std::pair<double, double> range(std::size_t input) const {
    if (row.ranges.empty()) return {-2, 2};
    return row.ranges[std::min(input, row.ranges.size() - 1)];
  }
  ebb::DType dtype(const Variable& x) const {
    return row.dtype_reason.empty() && x.is_floating_point() ? x.dtype() : ebb::kDouble;
  }
  ebb::variable_list values(const State& state) const {
    ebb::variable_list all;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const Input& input = inputs[i];
      if (input.source == kOwn) {
        all.push_back(own_input(row, sample, i).clone());
        continue;
      }
      const Variable& x = state.tensor(input.slot);
      const auto [low, high] = range(i);
      all.push_back(input.source == kPlain ? x : fit(x, input.sizes, low, high, dtype(x)));
    }
    return all;
  }
};

// Draws the source of an input. `first` are the sizes of the first input, which inputs of a pointwise row
// follow. A written input is used unchanged.
bool draw_input(Draw& draw, const State& state, Statement& s, const Row& row, std::size_t input, bool written,
                Sizes& first) {
  const auto sample = static_cast<std::size_t>(s.numbers[0]);
  const bool pointwise = row.pointwise_inputs > 0, follows = pointwise && input > 0;
  if (is_integer(row, input) || (row.special_input && row.special_input(sample, input).defined())) {
    s.numbers.push_back(kOwn);
    return !written && !follows;
  }
  const Sizes wanted = follows ? first : row.shape_sets[sample][input];
  const auto fitting = pick(draw, state, [&](const Slot& slot) {
    return slot.is_tensor() && slot.tensor.is_floating_point() &&
           slot.tensor.numel() <= state.most_elements / 4 &&
           ((pointwise && input == 0) || slot.tensor.sizes() == ebb::IntArrayRef(wanted));
  });
  const bool takes_any_number = row.ranges.empty() && row.kink_values.empty();
  if (fitting && (written || (takes_any_number && !draw.once_in(3)))) {
    s.numbers.push_back(kPlain);
    s.in.push_back(*fitting);
    if (input == 0) first = state.tensor(*fitting).sizes().vec();
    return true;
  }
  if (written) return false;
  const auto mapped = pick(draw, state, [](const Slot& each) {
    return each.is_tensor() && each.tensor.is_floating_point() && each.tensor.numel() > 0;
  });
  if (!follows && (!mapped || (input > 0 && draw.once_in(4)))) {
    s.numbers.push_back(kOwn);
    if (input == 0) first = wanted;
    return true;
  }
  if (!mapped) return false;
  const Sizes taken = pointwise && input == 0 ? state.tensor(*mapped).sizes().vec() : wanted;
  if (input == 0) first = taken;
  s.in.push_back(*mapped);
  s.numbers.push_back(kFitted);
  s.numbers.push_back(static_cast<std::int64_t>(taken.size()));
  s.numbers.insert(s.numbers.end(), taken.begin(), taken.end());
  return true;
}

bool draw_row(Draw& draw, const State& state, Statement& s, bool in_place) {
  const Row& row = *draw.of(usable_rows());
  if (in_place && !row.in_place_function) return false;
  const std::int64_t sample = draw.below(static_cast<std::int64_t>(row.shape_sets.size()));
  s.name = row.name;
  s.numbers = {sample};
  Sizes first;
  for (std::size_t i = 0; i < row.shape_sets[static_cast<std::size_t>(sample)].size(); ++i)
    if (!draw_input(draw, state, s, row, i, in_place && i == 0, first)) return false;
  return true;
}

std::string inputs_text(const Statement& s, Language language) {
  const Call call(s);
  std::string all;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    const Call::Input& input = call.inputs[i];
    if (i > 0) all += ", ";
    if (input.source == kPlain) all += slot_text(input.slot);
    if (input.source == kOwn)
      all += "own(\"" + s.name + "\", " + std::to_string(call.sample) + ", " + std::to_string(i) + ")";
    if (input.source == kFitted) {
      const auto [low, high] = call.range(i);
      all += "fit(" + slot_text(input.slot) + ", " + list_text(input.sizes, language) + ", " +
             std::to_string(low) + ", " + std::to_string(high) + ", " +
             (call.row.dtype_reason.empty()
                  ? slot_text(input.slot) + (language == Language::cpp ? ".dtype()" : ".dtype")
                  : dtype_text(ebb::kDouble, language)) +
             ")";
    }
  }
  return language == Language::cpp ? "{" + all + "}" : "[" + all + "]";
}

std::string said(const Statement& s, Language language, bool in_place) {
  const char* function = in_place ? "row_(\"" : "row(\"";
  if (language == Language::cpp) {
    const std::string call = function + s.name + "\", " + inputs_text(s, language) + ")";
    return in_place ? call + ";" : "auto " + slot_text(s.out[0]) + " = " + call + "[0];";
  }
  const std::string formula = torch_row(s.name, in_place);
  if (formula.empty()) return "";
  const std::string call = "row(lambda x: " + formula + ", " + inputs_text(s, language) + ")";
  if (in_place) return call;
  std::string names;
  for (const int slot : s.out) names += slot_text(slot) + ", ";
  return names + "*_ = " + call;
}

const bool added =
    add_kind({"op", 60, kSetup | kBody,
              [](Draw& draw, const State& state, Statement& s) {
                s.out = {0};
                return draw_row(draw, state, s, false);
              },
              [](State& state, const Statement& s) {
                const Call call(s);
                const ebb::variable_list results = call.row.function(call.values(state));
                for (std::size_t i = 0; i < s.out.size() && i < results.size(); ++i)
                  state[s.out[i]] = Slot{.tensor = results[i]};
              },
              [](const Statement& s, Language l) { return said(s, l, false); }, true}) &&
    add_kind({"op_", 15, kBody | kBetween,
              [](Draw& draw, const State& state, Statement& s) { return draw_row(draw, state, s, true); },
              [](State& state, const Statement& s) {
                const Call call(s);
                call.row.in_place_function(call.values(state));
              },
              [](const Statement& s, Language l) { return said(s, l, true); }});

}  // namespace
}  // namespace programs
