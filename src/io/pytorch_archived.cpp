// pytorch::archived: converts values of PyTorch's files to the named tensors of ebb's archives.
#include <ebb/core/error.h>
#include <ebb/ops/creation.h>

#include "io/pytorch_values.h"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

namespace ebb::pytorch {
namespace {

std::string joined(const std::string& name, const std::string& key) {
  return name.empty() ? key : name + "." + key;
}

bool has_entries(const Value& value) {
  return value.is_dict() || std::holds_alternative<Object>(value.content());
}

// Returns whether all items are numbers or None. Optimizers write such tuples. They become lists of numbers,
// with NaN in place of None.
bool all_numbers(const List& items) {
  return !items.empty() && std::all_of(items.begin(), items.end(), [](const Value& item) {
    return item.is_none() || std::holds_alternative<std::int64_t>(item.content()) ||
           std::holds_alternative<double>(item.content());
  });
}

Variable vector_of(const List& numbers) {
  std::vector<double> values;
  for (const Value& item : numbers)
    values.push_back(item.is_none() ? std::numeric_limits<double>::quiet_NaN() : item.as_double());
  return tensor(values, kDouble);
}

// An index of entries by name, because a linear search for each entry would take quadratic time. If a name
// occurs several times, its first entry is used, as in Value::at.
using Named = std::unordered_map<std::string, const Value*>;

const Value& at(const Named& named, const std::string& name) {
  const auto found = named.find(name);
  if (found == named.end()) unsound("an optimizer's \"", name, "\" is missing");
  return *found->second;
}

class Flattener {
 public:
  Flattener(const Value& all, NamedTensors& tensors, std::map<std::string, std::string>& unsupported)
      : expansion_(all), tensors_(tensors), unsupported_(unsupported) {}

  void take(const std::string& name, const Value& value) {
    expansion_.add(sizeof value + name.size());
    if (is_optimizer(value)) {
      optimizer(name, value);
    } else if (has_entries(value)) {
      for (const auto& [key, entry] : value.as_dict()) take(joined(name, text_of(key)), entry);
    } else if (const List* items = items_of(value)) {
      if (all_numbers(*items)) return add_made(name, vector_of(*items));
      for (std::size_t i = 0; i < items->size(); ++i) take(joined(name, std::to_string(i)), (*items)[i]);
    } else {
      leaf(name, value);
    }
  }

 private:
  void add(const std::string& name, Variable tensor) {
    expansion_.add(name.size() + sizeof tensors_.front());
    tensors_.emplace_back(name.empty() ? "tensor" : name, std::move(tensor));
  }
  // Adds a tensor for a value that is not a tensor in the file.
  void add_made(const std::string& name, Variable tensor) {
    expansion_.add(kTensorBytes + tensor.nbytes());
    add(name, std::move(tensor));
  }

  void leaf(const std::string& name, const Value& value) {
    if (value.is_tensor()) {
      add(name, value.as_tensor());
    } else if (const auto* other = std::get_if<Unsupported>(&value.content())) {
      expansion_.add(name.size() + other->dtype.size() + kTensorBytes);
      unsupported_.emplace(name.empty() ? "tensor" : name, other->dtype);
    } else if (const auto* text = std::get_if<std::string>(&value.content())) {
      add_made(name, tensor(std::vector<std::uint8_t>(text->begin(), text->end())));
    } else if (const auto* truth = std::get_if<bool>(&value.content())) {
      add_made(name, scalar_tensor(*truth, kBool));
    } else if (const auto* integer = std::get_if<std::int64_t>(&value.content())) {
      add_made(name, scalar_tensor(*integer, kLong));
    } else if (const auto* number = std::get_if<double>(&value.content())) {
      add_made(name, scalar_tensor(*number, kDouble));
    }
  }

  static bool is_optimizer(const Value& value) {
    if (!has_entries(value) || !value.contains("state") || !value.contains("param_groups")) return false;
    return has_entries(value.at("state")) &&
           (items_of(value.at("param_groups")) || value.at("param_groups").contains("param_groups/size"));
  }

  void optimizer(const std::string& name, const Value& value) {
    const Value& groups = value.at("param_groups");
    const bool of_libtorch = !items_of(groups);
    const Named states = by_name(value.at("state")), named = of_libtorch ? by_name(groups) : Named();
    const std::int64_t count = of_libtorch ? count_of(at(named, "param_groups/size"))
                                           : static_cast<std::int64_t>(groups.as_list().size());
    std::int64_t position = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      const Value& group = of_libtorch ? at(named, "param_groups/" + std::to_string(i))
                                       : groups.at(static_cast<std::size_t>(i));
      for (const std::string& id : of_libtorch ? ids_of_libtorch(group) : ids(group)) {
        if (const auto found = states.find(id); found != states.end())
          state(joined(name, std::to_string(position)), *found->second);
        ++position;
      }
      options(joined(name, "param_groups." + std::to_string(i)), of_libtorch ? group.at("options") : group);
    }
  }

  Named by_name(const Value& value) {
    Named named;
    for (const auto& [key, entry] : value.as_dict()) named.emplace(counted(text_of(key)), &entry);
    return named;
  }

  // Returns the names under which the states of a group's parameters are stored.
  std::vector<std::string> ids(const Value& group) {
    std::vector<std::string> ids;
    for (const Value& id : group.at("params").as_list()) ids.push_back(counted(text_of(id)));
    return ids;
  }
  std::vector<std::string> ids_of_libtorch(const Value& group) {
    std::vector<std::string> ids;
    const Named named = by_name(group);
    const std::int64_t count = count_of(at(named, "params/size"));
    for (std::int64_t i = 0; i < count; ++i)
      ids.push_back(counted(at(named, "params/" + std::to_string(i)).as_string()));
    return ids;
  }
  std::string counted(std::string text) {
    expansion_.add(sizeof text + text.size());
    return text;
  }
  static std::int64_t count_of(const Value& size) {
    const auto count = size.as_tensor().numel() == 1 ? size.as_tensor().item<std::int64_t>() : -1;
    if (count < 0) unsound("a list of an optimizer has no length");
    return count;
  }

  void state(const std::string& name, const Value& state) {
    for (const auto& [key, entry] : state.as_dict()) {
      const std::string quantity = text_of(key);
      if (quantity == "ro" || quantity == "al") continue;  // LBFGS recomputes them
      // PyTorch stores scalars as Float tensors. A later conversion to a 16-bit dtype would make counts
      // inexact.
      if (entry.is_tensor() && entry.as_tensor().dim() == 0) {
        const Variable& number = entry.as_tensor();
        add_made(joined(name, quantity), number.to(quantity == "step" ? kLong : kDouble));
      } else {
        take(joined(name, quantity), entry);
      }
    }
  }

  // Converts an option that is a list or tuple to a list of numbers. Tensors without dimensions become
  // numbers.
  static Value plain(const Value& option) {
    const List* const items = items_of(option);
    if (!items) return option;
    List numbers;
    for (const Value& item : *items) {
      const bool number = item.is_tensor() && item.as_tensor().dim() == 0;
      numbers.push_back(number ? Value(item.as_tensor().item<double>()) : item);
    }
    return numbers;
  }

  void options(const std::string& name, const Value& group) {
    for (const auto& [key, entry] : group.as_dict()) {
      const std::string option = text_of(key);
      // Skips the names of parameters, and the settings of PyTorch's implementation. ebb uses neither.
      const char* const how[] = {"params", "param_names", "foreach", "fused", "capturable", "differentiable"};
      if (std::find(std::begin(how), std::end(how), option) != std::end(how)) continue;
      take(joined(name, option), plain(entry));
    }
  }

  static constexpr std::size_t kTensorBytes = 512;  // an upper bound of the size of an empty tensor

  Expansion expansion_;
  NamedTensors& tensors_;
  std::map<std::string, std::string>& unsupported_;
};

}  // namespace

NamedTensors archived(const Value& value, std::map<std::string, std::string>& unsupported) {
  NamedTensors tensors;
  Flattener(value, tensors, unsupported).take("", value);
  return tensors;
}

}  // namespace ebb::pytorch
