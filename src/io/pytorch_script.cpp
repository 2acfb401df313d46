// The classes of libtorch's archives, and their instances.
#include "io/pytorch_pickler.h"

#include <ebb/core/error.h>

#include <algorithm>
#include <set>
#include <unordered_map>

namespace ebb::pytorch {
namespace {

// A list's type, by its first item, and the function that gives it.
struct ListType {
  const char* name;
  const char* builder;
};

ListType type_of(const List& items) {
  const auto all = [&]<class T>(T*) {
    return std::all_of(items.begin(), items.end(),
                       [](const Value& item) { return std::holds_alternative<T>(item.content()); });
  };
  if (all(static_cast<Variable*>(nullptr))) return {"List[Tensor]", "build_tensorlist"};
  if (all(static_cast<std::int64_t*>(nullptr))) return {"List[int]", "build_intlist"};
  if (all(static_cast<double*>(nullptr))) return {"List[float]", "build_doublelist"};
  if (all(static_cast<bool*>(nullptr))) return {"List[bool]", "build_boollist"};
  ebb::detail::fail(
      "pytorch: a list in an archive has items of one type: tensors, integers, floating numbers or bools. "
      "Write a tuple, or a dict.");
}

class Script {
 public:
  explicit Script(Pickler& pickler) : pickler_(pickler) {}

  // Children first: their classes stand before that which names them.
  std::string declare(const Dict& module) {
    std::string parameters, buffers, annotations;
    std::set<std::string> names;
    for (const auto& [key, value] : module) {
      const std::string& name = checked(key);
      EBB_CHECK(names.insert(name).second, "pytorch: an archive has two entries \"", name, "\".");
      if (value.is_tensor())
        (value.as_tensor().requires_grad() ? parameters : buffers) += "\"" + name + "\", ";
      annotations += "  __annotations__[\"" + name + "\"] = " + type_of(value) + "\n";
    }
    const std::string body = "(Module):\n  __parameters__ = [" + parameters + "]\n  __buffers__ = [" +
                             buffers + "]\n  __annotations__ = []\n" + annotations;
    // Modules of the same attributes share a class.
    const auto [known, fresh] = classes_.emplace(body, "Module" + std::to_string(classes_.size()));
    if (fresh) code_ += "class " + known->second + body;
    return names_[&module] = known->second;
  }

  void put(const Dict& module) {
    pickler_.begin_object("__torch__", names_.at(&module));
    for (const auto& [key, value] : module) {
      pickler_.put_text(key.as_string());
      put(value);
    }
    pickler_.end_object();
  }

  const std::string& code() const { return code_; }

 private:
  static const std::string& checked(const Value& key) {
    const std::string& name = key.as_string();
    EBB_CHECK(!name.empty() && std::none_of(name.begin(), name.end(),
                                            [](unsigned char c) {
                                              return c < ' ' || c == '"' || c == '\'' || c == '\\' ||
                                                     c == 127;
                                            }),
              "pytorch: \"", name,
              "\" can be no name in an archive: it is empty, or has quotes, backslashes or "
              "control characters.");
    return name;
  }

  std::string type_of(const Value& value) {
    const auto name = [&]<class T>(const T& content) -> std::string {
      if constexpr (std::is_same_v<T, std::monostate>) {
        return "NoneType";
      } else if constexpr (std::is_same_v<T, bool>) {
        return "bool";
      } else if constexpr (std::is_same_v<T, std::int64_t>) {
        return "int";
      } else if constexpr (std::is_same_v<T, double>) {
        return "float";
      } else if constexpr (std::is_same_v<T, std::string>) {
        return "str";
      } else if constexpr (std::is_same_v<T, List>) {
        return pytorch::type_of(content).name;
      } else if constexpr (std::is_same_v<T, Tuple>) {
        std::string types;
        for (const Value& item : content.items) {
          EBB_CHECK(!item.is_dict() && !std::holds_alternative<List>(item.content()),
                    "pytorch: a tuple in an archive holds tensors, numbers, texts and tuples of such.");
          types += (types.empty() ? "" : ", ") + type_of(item);
        }
        return "Tuple[" + (types.empty() ? "()" : types) + "]";
      } else if constexpr (std::is_same_v<T, Dict>) {
        return "__torch__." + declare(content);
      } else {
        return "Tensor";  // or what the pickler refuses
      }
    };
    return std::visit(name, value.content());
  }

  void put(const Value& value) {
    if (const auto* module = std::get_if<Dict>(&value.content()))
      put(*module);
    else if (const auto* list = std::get_if<List>(&value.content()))
      pickler_.put_typed_list(*list, pytorch::type_of(*list).builder);
    else if (value.is_tensor())
      pickler_.put_parameter(value.as_tensor());
    else
      pickler_.put(value);
  }

  Pickler& pickler_;
  std::string code_;
  std::unordered_map<std::string, std::string> classes_;
  std::unordered_map<const Dict*, std::string> names_;
};

}  // namespace

std::string put_script(Pickler& pickler, const Value& value) {
  EBB_CHECK(value.is_dict(), "pytorch: an archive is a dict of what it holds, by name.");
  Script script(pickler);
  script.declare(value.as_dict());
  script.put(value.as_dict());
  return script.code();
}

}  // namespace ebb::pytorch
