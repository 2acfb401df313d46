// Pickler and put_script: write values as pickles, and as libtorch's archives, which are trees of TorchScript
// modules that only have attributes.
#include "io/pytorch_pickler.h"

#include <ebb/autograd/grad_mode.h>
#include <ebb/core/error.h>
#include <ebb/ops/creation.h>

#include <algorithm>
#include <bit>
#include <set>
#include <unordered_map>

namespace ebb::pytorch {

void Pickler::put(const Value& value) {
  const auto emit = [&]<class T>(const T& content) {
    if constexpr (std::is_same_v<T, std::monostate>)
      text_ += 'N';
    else if constexpr (std::is_same_v<T, bool>)
      text_ += content ? '\x88' : '\x89';
    else if constexpr (std::is_same_v<T, std::int64_t>)
      put_integer(content);
    else if constexpr (std::is_same_v<T, double>)
      put_double(content);
    else if constexpr (std::is_same_v<T, std::string>)
      put_text(content);
    else if constexpr (std::is_same_v<T, Variable>)
      put_tensor(content, false);
    else if constexpr (std::is_same_v<T, List>)
      text_ += ']', put_items('(', content, 'e');
    else if constexpr (std::is_same_v<T, Tuple>)
      put_items('(', content.items, 't');
    else if constexpr (std::is_same_v<T, Dict>)
      put_dict(content);
    else if constexpr (std::is_same_v<T, Object>)
      ebb::detail::fail("pytorch: an object of ", content.type,
                        " cannot be written. Write its attributes as a dict.");
    else
      ebb::detail::fail("pytorch: a tensor of dtype ", content.dtype, " cannot be written.");
  };
  std::visit(emit, value.content());
}

void Pickler::put_text(std::string_view value) {
  EBB_CHECK(value.size() <= UINT32_MAX, "pytorch: a text of ", std::uint64_t{value.size()},
            " bytes is too long.");
  text_ += 'X';
  little(value.size(), 4);
  text_ += value;
}

void Pickler::put_global(std::string_view module, std::string_view name) {
  text_ += 'c';
  text_ += module;
  text_ += '\n';
  text_ += name;
  text_ += '\n';
}

void Pickler::put_typed_list(const List& items, std::string_view builder) {
  put_global("torch.jit._pickle", builder);
  text_ += "(]";
  put_items('(', items, 'e');
  text_ += "tR";
}

void Pickler::begin_object(std::string_view module, std::string_view name) {
  put_global(module, name);
  text_ += ")\x81}(";
}
void Pickler::end_object() { text_ += "ub"; }

std::string Pickler::finish() {
  text_ += '.';
  return std::move(text_);
}

void Pickler::write_storages(io::ZipWriter& zip, const std::string& prefix) const {
  for (std::size_t i = 0; i < storages_.size(); ++i) {
    const NdArray& array = storages_[i];
    const std::uint64_t element = storage_of(array.dtype()).bytes;
    zip.add(prefix + "data/" + std::to_string(i), {{static_cast<const char*>(array.storage()->data()),
                                                    array.storage()->bytes() / element * element}});
  }
}

void Pickler::little(std::uint64_t value, unsigned bytes) {
  for (unsigned i = 0; i < bytes; ++i) text_ += static_cast<char>(value >> (8 * i));
}

void Pickler::put_integer(std::int64_t value) {
  const bool small = value >= INT32_MIN && value <= INT32_MAX;
  text_ += small ? "J" : "\x8a\x08";
  little(static_cast<std::uint64_t>(value), small ? 4 : 8);
}

void Pickler::put_double(double value) {
  text_ += 'G';
  const auto bits = std::bit_cast<std::uint64_t>(value);
  for (unsigned i = 8; i-- > 0;) text_ += static_cast<char>(bits >> (8 * i));
}

void Pickler::put_dims(IntArrayRef dims) {
  text_ += '(';
  for (const std::int64_t d : dims) put_integer(d);
  text_ += 't';
}

void Pickler::put_items(char open, const List& items, char close) {
  text_ += open;
  for (const Value& item : items) put(item);
  text_ += close;
}

void Pickler::put_dict(const Dict& entries) {
  put_global("collections", "OrderedDict");
  text_ += ")R(";
  for (const auto& [key, value] : entries) {
    put(key);
    put(value);
  }
  text_ += 'u';
}

void Pickler::put_tensor(const Variable& tensor, bool requires_grad) {
  EBB_CHECK(tensor.defined(), "pytorch: a tensor is undefined and cannot be written.");
  NoGradGuard no_grad;
  const NdArray array = tensor.detach().to(Device::CPU).array();
  const StorageType& type = storage_of(array.dtype());
  const auto [key, offset, count] = place(array, type);
  put_global("torch._utils", "_rebuild_tensor_v2");
  text_ += "((";
  put_text("storage");
  put_global("torch", type.storage);
  put_text(std::to_string(key));
  put_text("cpu");
  put_integer(count);
  text_ += "tQ";
  put_integer(offset);
  put_dims(array.sizes());
  put_dims(array.strides());
  text_ += requires_grad ? '\x88' : '\x89';
  put_global("collections", "OrderedDict");
  text_ += ")RtR";
}

// Returns the position of an array in its storage. In PyTorch's format a storage has a dtype, so a storage is
// written once for each dtype of its tensors.
Pickler::Place Pickler::place(const NdArray& array, const StorageType& type) {
  const auto [known, fresh] =
      keys_.emplace(std::pair(static_cast<const void*>(array.storage().get()), type.type), storages_.size());
  if (fresh) storages_.push_back(array);
  const auto count = static_cast<std::int64_t>(array.storage()->bytes() / type.bytes);
  return {known->second, array.offset(), count};
}

namespace {

// The type of a list and the function that builds it.
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
      "pytorch: the items of a list in an archive must have one type: tensors, integers, floating numbers or "
      "bools. Write a tuple, or a dict.");
}

class Script {
 public:
  explicit Script(Pickler& pickler) : pickler_(pickler) {}

  // Declares the classes of child modules first, because a class must be declared before its name is used.
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
    // Modules with the same attributes share a class.
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
              "\" cannot be a name in an archive: it is empty, or has quotes, backslashes or "
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
                    "pytorch: a tuple in an archive may contain only tensors, numbers, strings and tuples of "
                    "these.");
          types += (types.empty() ? "" : ", ") + type_of(item);
        }
        return "Tuple[" + (types.empty() ? "()" : types) + "]";
      } else if constexpr (std::is_same_v<T, Dict>) {
        return "__torch__." + declare(content);
      } else {
        return "Tensor";  // the pickler refuses other values
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
  EBB_CHECK(value.is_dict(), "pytorch: the value of an archive must be a dict of named values.");
  Script script(pickler);
  script.declare(value.as_dict());
  script.put(value.as_dict());
  return script.code();
}

}  // namespace ebb::pytorch
