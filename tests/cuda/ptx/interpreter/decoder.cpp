// Decodes the body of an entry: scopes, labels, statements, and inlined calls.
#include "decoder.h"

#include "machine.h"
#include "syntax.h"

#include <algorithm>

namespace ebb::ptx {
namespace {

using Family = bool (*)(Decoder&, Statement&, Instruction&);
constexpr Family kFamilies[] = {decode_integer, decode_memory, decode_float,   decode_compare,
                                decode_convert, decode_bits,   decode_control, decode_half,
                                decode_atomic,  decode_warp,   decode_matrix};

void refuse(Warp& warp, const Instruction&, Lanes lanes) {
  warp.block->fail(Status::launch_failure, "The interpreter does not know this instruction, or it is a trap.",
                   static_cast<unsigned>(std::countr_zero(lanes)));
}

}  // namespace

void Decoder::run() {
  body(entry_.body);
  Instruction end;
  end.flow = Flow::exit;
  emit(end, "(end of the entry)");
  link();
  entry_.local_bytes = aligned(entry_.local_bytes, 16);
}

void Decoder::body(std::string_view text) {
  scopes_.emplace_back().labels = "#" + std::to_string(unique_++);
  const std::size_t depth = scopes_.size();
  std::size_t start = 0;
  for (std::size_t n = text.find_first_of("{}[(;:"); n < text.size();
       n = text.find_first_of("{}[(;:", n + 1)) {
    const std::string_view before = trimmed(text.substr(start, n - start));
    switch (text[n]) {
      case '{':
        if (!before.empty()) {  // a list of operands
          n = closing(text, n);
          continue;
        }
        scopes_.push_back({{}, {}, scopes_.back().labels + "#" + std::to_string(unique_++)});
        break;
      case '[':
      case '(':
        n = closing(text, n);
        continue;
      case '}':
        if (scopes_.size() > depth) scopes_.pop_back();
        break;
      case ':':
        if (text.substr(n, 2) == "::") {  // .shared::cta
          ++n;
          continue;
        }
        n = label(text, n, before);
        break;
      default:
        statement(before);
    }
    start = n + 1;
  }
  scopes_.resize(depth - 1);
}

// Returns the end of the text of a label: its colon, or the end of the list that it names.
std::size_t Decoder::label(std::string_view text, std::size_t colon, std::string_view name) {
  const std::string full = std::string(name) + scopes_.back().labels;
  const std::string_view rest = trimmed(text.substr(colon + 1));
  constexpr std::string_view kTargets = ".branchtargets";
  if (rest.starts_with(kTargets)) {
    const std::size_t end = text.find(';', colon);
    const std::string_view list = rest.substr(kTargets.size(), rest.find(';') - kTargets.size());
    for (const auto target : split(list, ','))
      lists_[full].push_back(std::string(target) + scopes_.back().labels);
    return end;
  }
  if (rest.starts_with(".callprototype")) return text.find(';', colon);
  labels_[full] = static_cast<int>(entry_.code.size());
  return colon;
}

void Decoder::statement(std::string_view text) {
  if (text.empty()) return;
  if (text[0] == '.') {
    if (text.starts_with(".reg")) declare_registers(text);
    if (text.starts_with(".local") || text.starts_with(".param")) declare_local(text);
    if (text.starts_with(".shared")) {
      const Declaration d = read_declaration(text);
      entry_.module->shared[d.name] = d;
    }
    return;  // .loc and .pragma have no effect
  }
  const std::string_view whole = text;
  Instruction instruction;
  if (text[0] == '@') {
    const std::size_t end = text.find_first_of(" \t\r\n");
    instruction.guard = predicate(text.substr(1, end - 1), instruction.guard_negated);
    text = trimmed(text.substr(end));
  }
  if (text.starts_with("call")) return call(text, instruction.guard != kNone);
  const Instruction guarded = instruction;
  Statement parts(text);
  try {
    bool known = false;
    for (const Family family : kFamilies)
      if ((known = family(*this, parts, instruction))) break;
    if (!known) throw Unknown("this instruction");
    if (const auto modifier = parts.unasked(); !modifier.empty()) throw Unknown("." + std::string(modifier));
    parts.require(parts.asked_operands() == parts.operands().size(), "the number of operands");
    if (instruction.flow == Flow::next && instruction.execute == nullptr) throw Unknown("these types");
  } catch (const Unknown& why) {
    instruction = guarded;
    instruction.execute = refuse;
    const std::string name(text.substr(0, text.find_first_of(" \t\r\n")));
    ++entry_.unknown[name + " (" + why.what() + ")"];
  }
  emit(instruction, whole);
}

void Decoder::emit(Instruction instruction, std::string_view text) {
  instruction.text = static_cast<int>(entry_.texts.size());
  entry_.texts.emplace_back(text);
  entry_.code.push_back(instruction);
}

// call.uni (result), name, (arguments);
void Decoder::call(std::string_view text, bool guarded) {
  const auto pieces = split(text.substr(text.find_first_of(" \t(")), ',');
  std::vector<std::string_view> returns, arguments;
  std::string name;
  for (const auto piece : pieces) {
    if (piece[0] != '(')
      name = piece;
    else if (name.empty())
      returns = split(inside(piece), ',');
    else
      arguments = split(inside(piece), ',');
  }
  const auto found = entry_.module->functions.find(name);
  const bool recursive = std::find(calls_.begin(), calls_.end(), name) != calls_.end();
  if (found == entry_.module->functions.end() || found->second.body.empty() || guarded || recursive) {
    Instruction instruction;
    instruction.execute = refuse;
    // A failed assertion ends the kernel, and so does a refused instruction.
    if (name != "__assertfail") ++entry_.unknown["call " + name];
    return emit(instruction, text);
  }
  const Function& function = found->second;
  Scope parameters;
  const auto bind = [&](const std::vector<Declaration>& formal, const std::vector<std::string_view>& actual) {
    for (std::size_t n = 0; n < std::min(formal.size(), actual.size()); ++n)
      parameters.locals[formal[n].name] = local_named(actual[n]);
  };
  bind(function.returns, returns);
  bind(function.parameters, arguments);
  std::vector<Scope> callers;
  callers.swap(scopes_);
  scopes_.push_back(std::move(parameters));
  returns_.push_back("(return " + std::to_string(unique_++) + ")");
  calls_.push_back(name);
  body(function.body);
  labels_[returns_.back()] = static_cast<int>(entry_.code.size());
  calls_.pop_back();
  returns_.pop_back();
  scopes_.swap(callers);
}

void Decoder::jump(std::string_view label) {
  jumps_.emplace_back(entry_.code.size(), std::string(label) + scopes_.back().labels);
}

int Decoder::table(std::string_view label) {
  tables_.push_back(std::string(label) + scopes_.back().labels);
  return static_cast<int>(tables_.size()) - 1;
}

void Decoder::leave(Instruction& instruction) {
  if (returns_.empty()) {
    instruction.flow = Flow::exit;
    return;
  }
  instruction.flow = Flow::branch;
  jumps_.emplace_back(entry_.code.size(), returns_.back());
}

// Finds a name with the numbers of its scopes, "name#1#5", in the innermost scope that declares it.
template <class Value>
const Value& Decoder::in_scopes(const std::map<std::string, Value, std::less<>>& known,
                                const std::string& name) const {
  for (std::string_view full = name;; full = full.substr(0, full.rfind('#'))) {
    if (const auto found = known.find(full); found != known.end()) return found->second;
    if (full.find('#') == full.rfind('#'))
      throw std::runtime_error("PTX: no label " + name.substr(0, name.find('#')) + " in " + entry_.name);
  }
}

void Decoder::link() {
  const auto place = [this](const std::string& label) { return in_scopes(labels_, label); };
  for (const auto& [instruction, label] : jumps_) entry_.code[instruction].target = place(label);
  for (const auto& name : tables_) {
    auto& table = entry_.tables.emplace_back();
    for (const auto& label : in_scopes(lists_, name)) table.push_back(place(label));
  }
}

void decode(Entry& entry) {
  const std::lock_guard lock(entry.module->mutex);
  if (entry.decoded) return;
  entry.decoded = true;
  Decoder(entry).run();
}

}  // namespace ebb::ptx
