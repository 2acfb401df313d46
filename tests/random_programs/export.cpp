// Exports programs to Python: runs them statement by statement and records the visible state after each.
#include "random_programs/export.h"

#include <ebb/core/random.h>

#include "optable/samples.h"
#include "random_programs/generate.h"
#include "random_programs/kinds.h"
#include "support/compare.h"
#include "support/scopes.h"

#include <algorithm>
#include <map>
#include <ostream>
#include <set>

namespace programs {
namespace {

std::string quoted(const std::string& text) {
  std::string all = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') all += '\\';
    all += c == '\n' ? ' ' : c;
  }
  return all + "'";
}

const char* name_of(ebb::DType dtype) {
  static const std::map<ebb::DType, const char*> names = {
      {ebb::kDouble, "f64"}, {ebb::kFloat, "f32"}, {ebb::kHalf, "f16"},  {ebb::kBFloat16, "bf16"},
      {ebb::kLong, "i64"},   {ebb::kInt, "i32"},   {ebb::kShort, "i16"}, {ebb::kChar, "i8"},
      {ebb::kByte, "u8"},    {ebb::kBool, "bool"}};
  const auto at = names.find(dtype);
  return at == names.end() ? "another dtype" : at->second;
}

// The bytes of the elements as hexadecimal digits.
std::string digits_of(const Variable& x) {
  const std::string bytes = support::bytes_of(x);
  std::string all(2 * bytes.size(), '0');
  char* digit = all.data();
  for (const char byte : bytes) {
    *digit++ = "0123456789abcdef"[static_cast<unsigned char>(byte) >> 4];
    *digit++ = "0123456789abcdef"[byte & 15];
  }
  return all;
}

/// A snapshot of a tensor: dtype | flags | sizes | strides of dimensions with several elements, and its
/// elements.
struct Snapshot {
  std::string outside;
  Variable numbers;
  bool operator==(const Snapshot& other) const {
    return outside == other.outside && numbers.defined() == other.numbers.defined() &&
           (!numbers.defined() || support::bytes_of(numbers) == support::bytes_of(other.numbers));
  }
};

Snapshot snapshot_of(const Variable& x) {
  if (!x.defined()) return {"undefined", {}};
  std::string all = name_of(x.dtype());
  try {
    all += std::string("|") + (x.requires_grad() ? "g" : "") + (x.is_leaf() ? "l" : "") + "|";
    std::string strides;
    for (std::int64_t d = 0; d < x.dim(); ++d) {
      if (d > 0) all += ',';
      all += std::to_string(x.size(d));
      if (x.size(d) < 2 || x.numel() == 0) continue;
      if (!strides.empty()) strides += ',';
      strides += std::to_string(x.stride(d));
    }
    return {all + "|" + strides + "|", x.detach().contiguous()};
  } catch (const std::exception&) {
    return {"throws", {}};
  }
}

std::string described(const Snapshot& snapshot) {
  return snapshot.numbers.defined() ? snapshot.outside + digits_of(snapshot.numbers) : snapshot.outside;
}

std::string described(const Variable& x) { return described(snapshot_of(x)); }

const optable::Row& row_named(const std::string& name) {
  for (const optable::Row* row : optable::rows())
    if (row->name == name) return *row;
  EBB_CHECK(false, "there is no row named ", name, ".");
}

// Writes the elements for each own("ROW", SAMPLE, INPUT) in the text that were not written before.
void write_own_inputs(std::ostream& file, const std::string& text, std::set<std::string>& written) {
  const std::string opening = "own(\"";
  for (std::size_t at = text.find(opening); at != std::string::npos; at = text.find(opening, at + 1)) {
    const std::size_t first = at + opening.size(), quote = text.find('"', first);
    const std::string call = text.substr(first - 1, text.find(')', quote) - first + 1);
    if (!written.insert(call).second) continue;
    const std::size_t comma = text.find(',', quote + 2);
    const auto sample = static_cast<std::size_t>(std::stoul(text.substr(quote + 2)));
    const auto input = static_cast<std::size_t>(std::stoul(text.substr(comma + 1)));
    const optable::Row& row = row_named(text.substr(first, quote - first));
    file << "own_input(" << call << ", " << quoted(described(optable::make_inputs(row, sample)[input]))
         << ")\n";
  }
}

/// Runs a program plainly and records after each statement what changed.
class Recorder {
 public:
  Recorder(const Program& program, std::ostream& file)
      : program_(program), state_(program.slots), file_(file) {}

  void write(std::uint64_t seed, std::set<std::string>& own_inputs) {
    collect(program_.setup);
    collect(program_.body);
    for (const Statements& each : program_.between) collect(each);
    const char* fault = known_fault(program_);
    if (fault && std::string(fault).starts_with("compile")) fault = nullptr;
    for (const std::string& text : texts_) write_own_inputs(file_, text, own_inputs);
    file_ << "program(" << seed << ", " << quoted(fault ? fault : "") << ", [";
    for (const std::string& text : texts_) file_ << quoted(text) << ",\n";
    file_ << "], [\n";
    const support::Warnings dropped;
    ebb::manual_seed(0);
    run_all(program_.setup);
    for (std::size_t call = 0; call <= program_.between.size(); ++call) {
      if (call > 0) run_all(program_.between[call - 1]);
      run_all(program_.body);
      end_call();
    }
    file_ << "])\n";
  }

 private:
  void collect(const Statements& statements) {
    for (const Statement& s : statements) {
      const std::string said = text(s, Language::python);
      if (numbers_.emplace(said, texts_.size()).second) texts_.push_back(said);
    }
  }

  void run_all(const Statements& statements) {
    for (const Statement& s : statements) {
      std::string thrown;
      try {
        programs::run(state_, s);
      } catch (const std::exception& error) {
        thrown = std::string("throws: ") + error.what();
      }
      file_ << "(" << numbers_.at(text(s, Language::python)) << ", " << quoted(thrown) << ", (), [";
      for (const int slot : s.out)
        if (!state_[slot].is_tensor() && !state_[slot].module && !state_[slot].optimizer && thrown.empty())
          look(slot_text(slot), Variable());
      for (std::size_t i = 0; i < state_.slots.size(); ++i) look(static_cast<int>(i));
      file_ << "]),\n";
      if (!thrown.empty()) return;
    }
  }

  void look(int slot) {
    const Slot& seen = state_[slot];
    const std::string name = slot_text(slot);
    if (seen.is_tensor()) look_with_grad(name, seen.tensor);
    if (!seen.module) return;
    std::size_t place = 0;
    for (const Variable& p : seen.module->parameters())
      look_with_grad(name + ".p" + std::to_string(place++), p);
    place = 0;
    for (const Variable& b : seen.module->buffers()) look(name + ".b" + std::to_string(place++), b);
  }
  void look_with_grad(const std::string& name, const Variable& x) {
    look(name, x);
    try {
      if (x.is_leaf()) look(name + ".grad", x.grad());
    } catch (const std::exception&) {
    }
  }
  void look(const std::string& label, const Variable& x) {
    Snapshot now = snapshot_of(x);
    Snapshot& before = last_[label];
    if (before.outside.empty() && now.outside == "undefined" && label.ends_with(".grad")) return;
    if (before == now) return;
    file_ << "('" << label << "', '" << described(now) << "'), ";
    if (now.numbers.defined()) now.numbers = now.numbers.clone();
    before = std::move(now);
  }

  void end_call() {
    file_ << "(-1, '', (";
    for (int i = program_.kept; i < program_.slots; ++i) {
      if (last_.contains(slot_text(i))) file_ << quoted(slot_text(i)) << ", ";
      state_[i] = Slot();
    }
    file_ << "), []),\n";
    std::erase_if(last_, [&](const auto& each) { return std::stoi(each.first.substr(1)) >= program_.kept; });
  }

  const Program& program_;
  State state_;
  std::ostream& file_;
  std::vector<std::string> texts_;
  std::map<std::string, std::size_t> numbers_;
  std::map<std::string, Snapshot> last_;
};

bool can_be_said(Statement& s) { return !text(s, Language::python).empty(); }

std::string list_of(const ebb::variable_list& all) {
  std::string text = "[";
  for (const Variable& x : all) text += quoted(described(x)) + ", ";
  return text + "]";
}

template <class F>
std::string list_or_throws(F f) {
  try {
    return list_of(f());
  } catch (const std::exception&) {
    return "'throws'";
  }
}

void write_row(std::ostream& file, const optable::Row& row, std::size_t sample, ebb::DType dtype) {
  const ebb::variable_list inputs = optable::to(optable::make_inputs(row, sample), dtype);
  const ebb::variable_list leaves = optable::with_grad(row, inputs);
  const bool differentiable = row.derivative_order > 0 && !optable::leaves_of(leaves).empty();
  file << "row_check(" << quoted(row.name) << ", " << sample << ", '" << name_of(dtype)
       << "', lambda x: " << torch_row(row.name, false) << ", ";
  file << (row.in_place_function ? "lambda x: " + torch_row(row.name, true) : "None") << ", "
       << list_of(inputs) << ", [";
  for (std::size_t i = 0; i < leaves.size(); ++i)
    if (leaves[i].requires_grad()) file << i << ", ";
  file << "], " << list_or_throws([&] { return row.function(leaves); }) << ", "
       << (differentiable
               ? list_or_throws([&] { return optable::gradients(row, leaves, optable::leaves_of(leaves)); })
               : "None")
       << ", ";
  std::string written = "None";
  if (row.in_place_function) {
    ebb::variable_list copies;
    for (const Variable& x : inputs) copies.push_back(x.clone());
    try {
      row.in_place_function(copies);
      written = quoted(described(copies[0]));
    } catch (const std::exception&) {
      written = "'throws'";
    }
  }
  file << written << ")\n";
}

}  // namespace

void export_programs(std::ostream& file, std::uint64_t seed, std::int64_t count) {
  file << python_prelude;
  std::set<std::string> own_inputs;
  for (std::int64_t i = 0; i < count; ++i, ++seed) {
    Draw draw(seed);
    const Program program = generate(draw, {.adapt = can_be_said});
    Recorder(program, file).write(seed, own_inputs);
  }
  file << "finish()\n";
}

void export_rows(std::ostream& file) {
  const support::Warnings dropped;
  file << python_prelude;
  for (const optable::Row* row : optable::rows()) {
    if (torch_row(row->name, false).empty()) continue;
    for (std::size_t sample = 0; sample < row->shape_sets.size(); ++sample)
      for (const ebb::DType dtype : {ebb::kDouble, ebb::kFloat, ebb::kHalf, ebb::kBFloat16})
        if (dtype == ebb::kDouble || row->dtype_reason.empty()) write_row(file, *row, sample, dtype);
  }
  file << "finish()\n";
}

}  // namespace programs
