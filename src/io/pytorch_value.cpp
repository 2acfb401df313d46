// pytorch::Value, and state_dict: the named tensors in a value.
#include <ebb/core/error.h>
#include <ebb/io/pytorch.h>

#include "core/messages.h"
#include "io/pytorch_values.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace ebb::pytorch {

const List* items_of(const Value& value) {
  if (const auto* list = std::get_if<List>(&value.content())) return list;
  if (const auto* tuple = std::get_if<Tuple>(&value.content())) return &tuple->items;
  return nullptr;
}

namespace {

const char* what_is(const Value& value) {
  constexpr const char* kWhat[] = {"None",
                                   "a bool",
                                   "an integer",
                                   "a floating number",
                                   "text",
                                   "a tensor",
                                   "a list",
                                   "a tuple",
                                   "a dict",
                                   "an object",
                                   "a tensor of a dtype that ebb does not have"};
  return kWhat[value.content().index()];
}

template <class T>
const T& as(const Value& value, const char* wanted) {
  if (const T* found = std::get_if<T>(&value.content())) return *found;
  ebb::detail::fail("pytorch: the value is ", what_is(value), ", not ", wanted, ".");
}

const Dict* entries_of(const Value& value) {
  if (const auto* dict = std::get_if<Dict>(&value.content())) return dict;
  if (const auto* object = std::get_if<Object>(&value.content())) return &object->attributes;
  return nullptr;
}

bool is_called(const Value& key, std::string_view name) {
  if (const auto* text = std::get_if<std::string>(&key.content())) return *text == name;
  return text_of(key) == name;
}

// Finds an entry by its key, or a nested entry by keys that are joined with dots.
const Value* find(const Value& value, std::string_view name) {
  const Dict* const entries = entries_of(value);
  if (!entries) return nullptr;
  for (const auto& [key, entry] : *entries)
    if (is_called(key, name)) return &entry;
  for (std::size_t dot = name.find('.'); dot != name.npos; dot = name.find('.', dot + 1))
    for (const auto& [key, entry] : *entries)
      if (is_called(key, name.substr(0, dot)))
        if (const Value* const found = find(entry, name.substr(dot + 1))) return found;
  return nullptr;
}

// Collects the tensors of a value by name. A value may occur at several positions. Whether it contains a
// tensor is computed once. Only values with tensors are visited at each position.
class Collector {
 public:
  Collector(const Value& all, std::map<std::string, std::string>* unsupported)
      : expansion_(all), unsupported_(unsupported) {}

  // Returns the part of a checkpoint that contains the model.
  const Value& model_in(const Value& value) {
    if (!value.is_dict()) return value;
    for (const auto& [key, entry] : value.as_dict())
      if (entry.is_tensor()) return value;
    for (const char* const name : {"state_dict", "model_state_dict", "model", "net", "module"})
      if (value.contains(name) && value.at(name).is_dict() && holds_tensor(value.at(name)))
        return model_in(value.at(name));
    return value;
  }

  void take(const std::string& name, const Value& value) {
    if (!holds_tensor(value)) return;
    expansion_.add(name.size());
    const auto below = [&](const std::string& key) { return name.empty() ? key : name + "." + key; };
    if (value.is_tensor()) {
      expansion_.add(sizeof tensors.front());
      tensors.emplace_back(name, value.as_tensor());
    } else if (const auto* other = std::get_if<Unsupported>(&value.content())) {
      expansion_.add(other->dtype.size() + sizeof tensors.front());
      if (unsupported_) unsupported_->emplace(name, other->dtype);
    } else if (const Dict* entries = entries_of(value)) {
      for (const auto& [key, entry] : *entries) take(below(text_of(key)), entry);
    } else if (const List* items = items_of(value)) {
      for (std::size_t i = 0; i < items->size(); ++i) take(below(std::to_string(i)), (*items)[i]);
    }
  }

  NamedTensors tensors;

 private:
  bool holds_tensor(const Value& value) {
    if (value.is_tensor() || std::holds_alternative<Unsupported>(value.content())) return true;
    const Dict* const entries = entries_of(value);
    const List* const items = items_of(value);
    if (!entries && !items) return false;
    if (const auto known = holds_.find(&value.content()); known != holds_.end()) return known->second;
    const bool holds = entries ? std::any_of(entries->begin(), entries->end(),
                                             [&](const auto& entry) { return holds_tensor(entry.second); })
                               : std::any_of(items->begin(), items->end(),
                                             [&](const Value& item) { return holds_tensor(item); });
    return holds_[&value.content()] = holds;
  }

  Expansion expansion_;
  std::map<std::string, std::string>* unsupported_;
  std::unordered_map<const Value::Content*, bool> holds_;
};

}  // namespace

std::string text_of(const Value& key) {
  if (const auto* text = std::get_if<std::string>(&key.content())) return *text;
  if (const auto* integer = std::get_if<std::int64_t>(&key.content())) return std::to_string(*integer);
  return {};
}

bool Value::as_bool() const { return as<bool>(*this, "a bool"); }
std::int64_t Value::as_int() const { return as<std::int64_t>(*this, "an integer"); }
double Value::as_double() const {
  if (const auto* integer = std::get_if<std::int64_t>(&content())) return static_cast<double>(*integer);
  return as<double>(*this, "a number");
}
const std::string& Value::as_string() const { return as<std::string>(*this, "text"); }
const Variable& Value::as_tensor() const {
  if (const auto* other = std::get_if<Unsupported>(&content()))
    ebb::detail::fail("pytorch: the tensor is of dtype ", other->dtype,
                      ", which ebb does not have. Convert it in Python, and save it again.");
  return as<Variable>(*this, "a tensor");
}
const List& Value::as_list() const {
  if (const List* items = items_of(*this)) return *items;
  return as<List>(*this, "a list");
}
const Dict& Value::as_dict() const {
  if (const Dict* entries = entries_of(*this)) return *entries;
  return as<Dict>(*this, "a dict");
}

const Value& Value::at(const std::string& key) const {
  if (const Value* const found = find(*this, key)) return *found;
  std::vector<std::string> names;
  for (const auto& entry : as_dict())  // skips long keys: copies of a shared key would need much memory
    if (std::string name = text_of(entry.first); name.size() <= 2 * key.size() + 3)
      names.push_back(std::move(name));
  ebb::detail::fail("pytorch: there is no \"", key, "\"", ebb::detail::near_names(key, names), ".");
}
bool Value::contains(const std::string& key) const { return find(*this, key); }
const Value& Value::at(std::size_t index) const {
  const List& items = as_list();
  EBB_CHECK_INDEX(index < items.size(), "pytorch: index ", std::uint64_t{index}, " is out of range for ",
                  std::uint64_t{items.size()}, " items.");
  return items[index];
}

const Value::Content Value::kNothing;

Expansion::Expansion(const Value& value) : left_(std::size_t{32} << 20) {
  std::unordered_set<const Value::Content*> seen;
  const auto weigh = [&](const auto& self, const Value& each) -> void {
    left_ += kTimes * sizeof(Value);
    if (each.is_none() || !seen.insert(&each.content()).second) return;
    left_ += kTimes * sizeof(Value::Content);
    if (const auto* text = std::get_if<std::string>(&each.content())) left_ += kTimes * text->size();
    if (const Dict* const entries = entries_of(each))
      for (const auto& [key, entry] : *entries) self(self, key), self(self, entry);
    if (const List* const items = items_of(each))
      for (const Value& item : *items) self(self, item);
  };
  weigh(weigh, value);
}

void Expansion::add(std::size_t bytes) {
  if (bytes > left_)
    unsound("its shared values occur so often that copies would take more than ", kTimes,
            " times the memory");
  left_ -= bytes;
}

NamedTensors state_dict(const Value& value, std::map<std::string, std::string>* unsupported) {
  Collector collector(value, unsupported);
  const Value& model = collector.model_in(value);
  collector.take(model.is_tensor() ? "tensor" : "", model);
  EBB_CHECK(!collector.tensors.empty() || (unsupported && !unsupported->empty()),
            "pytorch: the file holds no tensor, but ", what_is(model), ".");
  return std::move(collector.tensors);
}

}  // namespace ebb::pytorch
