// Parses a PTX program: entries, functions and variables. Bodies stay text until an entry is decoded.
#include "program.h"
#include "syntax.h"

#include <cstring>
#include <stdexcept>

namespace ebb::ptx {
namespace {

// A number, or the address of a variable: "name", "name+8", "generic(name)", "generic(name)+8".
u64 initial_value(const Module& module, std::string_view text, const Declaration& d) {
  if (const auto number = literal(text, d.type)) return *number;
  const std::size_t plus = std::min(text.find('+'), text.size());
  std::string_view name = trimmed(text.substr(0, plus));
  if (name.starts_with("generic(")) name = inside(name);
  const auto other = module.variables.find(name);
  const auto offset = literal(plus < text.size() ? trimmed(text.substr(plus + 1)) : "0", Type::s64);
  if (other == module.variables.end() || !offset)
    throw std::runtime_error("PTX: the value " + std::string(text) + " of " + d.name + " is unknown");
  return other->second.address + *offset;
}

void add_variable(Module& module, std::string_view statement) {
  const std::size_t equals = statement.find('=');
  Declaration d = read_declaration(statement.substr(0, equals));
  std::string values(equals == statement.npos ? "" : statement.substr(equals + 1));
  for (char& c : values)
    if (c == '{' || c == '}') c = ' ';
  const auto initial = split(values, ',');
  if (d.elements == 0) d.elements = initial.size();  // "name[]" has as many elements as initial values
  const std::size_t each = size_of(d.type), bytes = std::max<std::size_t>(d.bytes(), each);
  Variable v;
  v.storage = std::make_unique<unsigned char[]>(bytes + d.align);
  v.address = aligned(reinterpret_cast<std::uintptr_t>(v.storage.get()), d.align);
  v.bytes = bytes;
  std::size_t at = 0;
  for (const std::string_view text : initial) {
    const u64 value = initial_value(module, text, d);
    if (at + each > bytes) throw std::runtime_error("PTX: too many values of " + d.name);
    std::memcpy(reinterpret_cast<void*>(v.address + at), &value, each);
    at += each;
  }
  module.variables[d.name] = std::move(v);
}

void add_entry(Module& module, std::string_view head, std::string_view body) {
  auto entry = std::make_unique<Entry>();
  const std::size_t start = head.find(".entry") + 6, open = head.find('(', start);
  entry->name = trimmed(head.substr(start, open - start));
  entry->module = &module;
  entry->body = body;
  std::string_view rest = head.substr(start);
  if (open != head.npos) {
    const std::size_t close = closing(head, open);
    unsigned offset = 0;
    for (const Declaration& d : read_declarations(head.substr(open + 1, close - open - 1))) {
      offset = static_cast<unsigned>(aligned(offset, d.align));
      entry->parameters.push_back({offset, static_cast<unsigned>(d.bytes())});
      entry->parameter_names.push_back(d.name);
      offset += static_cast<unsigned>(d.bytes());
    }
    rest = head.substr(close + 1);
  }
  for (const std::string_view limit : {".maxntid", ".reqntid"})
    if (const std::size_t at = rest.find(limit); at != rest.npos) {
      unsigned threads = 1;
      const std::string_view sizes = rest.substr(at + limit.size());
      for (const auto size : split(sizes.substr(0, sizes.find('.')), ','))
        threads *= static_cast<unsigned>(literal(size, Type::u32).value_or(1));
      entry->most_threads = threads;
    }
  const std::string name = entry->name;
  module.entries[name] = std::move(entry);
}

void add_function(Module& module, std::string_view head, std::string_view body) {
  Function function;
  std::string_view rest = trimmed(head.substr(head.find(".func") + 5));
  if (rest.starts_with('(')) {
    function.returns = read_declarations(inside(rest));
    rest = trimmed(rest.substr(closing(rest, 0) + 1));
  }
  const std::size_t open = rest.find('(');
  const std::string name(trimmed(rest.substr(0, open)));
  if (open != rest.npos) function.parameters = read_declarations(inside(rest.substr(open)));
  function.body = body;
  Function& known = module.functions[name];
  if (known.body.empty()) known = std::move(function);
}

bool is_directive_of_a_line(std::string_view text) {
  for (const std::string_view word : {".version", ".target", ".address_size", ".file"})
    if (text.starts_with(word)) return true;
  return false;
}

}  // namespace

std::shared_ptr<Module> load(std::string source) {
  auto module = std::make_shared<Module>();
  const std::string clean = without_comments(std::move(source));
  std::string_view rest = trimmed(clean.c_str());  // fat binaries are padded with zeros
  if (!rest.starts_with(".version")) throw std::runtime_error("PTX: a program begins with .version");
  while (!(rest = trimmed(rest)).empty()) {
    if (is_directive_of_a_line(rest)) {
      rest.remove_prefix(std::min(rest.find('\n'), rest.size()));
      continue;
    }
    std::size_t end = rest.find_first_of(";{=");
    if (end == rest.npos)
      throw std::runtime_error("PTX: not a statement: " + std::string(rest.substr(0, 60)));
    if (rest[end] == '=') end = rest.find(';', end);
    const std::string_view head = trimmed(rest.substr(0, end));
    const bool is_entry = head.find(".entry") != head.npos, is_function = head.find(".func") != head.npos;
    if (rest[end] == '{') {
      const std::size_t close = closing(rest, end);
      const std::string_view body = rest.substr(end + 1, close - end - 1);
      if (is_entry) add_entry(*module, head, body);
      if (is_function) add_function(*module, head, body);
      rest.remove_prefix(close + 1);
      continue;
    }
    if (is_function) {
      add_function(*module, head, {});
    } else if (head.find(".shared") != head.npos) {
      const Declaration d = read_declaration(head);
      module->shared[d.name] = d;
    } else if (head.find(".global") != head.npos || head.find(".const") != head.npos) {
      add_variable(*module, head);
    }
    rest.remove_prefix(end + 1);
  }
  return module;
}

Entry* find_entry(Module& module, std::string_view name) {
  const auto found = module.entries.find(name);
  return found == module.entries.end() ? nullptr : found->second.get();
}

std::vector<std::string> entry_names(const Module& module) {
  std::vector<std::string> names;
  for (const auto& [name, entry] : module.entries) names.push_back(name);
  return names;
}

const std::vector<Parameter>& parameters(const Entry& entry) { return entry.parameters; }
unsigned most_threads(const Entry& entry) { return entry.most_threads; }

std::size_t static_shared_bytes(Entry& entry) {
  decode(entry);
  return entry.shared_bytes;
}

std::map<std::string, long> unknown_instructions(Entry& entry) {
  decode(entry);
  return entry.unknown;
}

const std::string& Entry::text_of(const Instruction& instruction) const {
  return texts.at(static_cast<std::size_t>(instruction.text));
}

}  // namespace ebb::ptx
