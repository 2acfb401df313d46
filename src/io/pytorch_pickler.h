// Pickler: writes values as pickles of torch.save, or as modules of libtorch's archives.
#pragma once

#include <ebb/core/ndarray.h>
#include <ebb/io/pytorch.h>

#include "io/pytorch_format.h"
#include "io/zip.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ebb::pytorch {

/// Writes a pickle of protocol 2 and collects the arrays whose elements are separate entries. Dicts become
/// OrderedDicts.
class Pickler {
 public:
  void put(const Value& value);
  /// Puts a tensor with its requires_grad, which put() always writes as false.
  void put_parameter(const Variable& tensor) { put_tensor(tensor, tensor.requires_grad()); }
  void put_text(std::string_view value);
  void put_global(std::string_view module, std::string_view name);
  /// Puts a list to which libtorch gives a type with torch.jit._pickle.<builder>.
  void put_typed_list(const List& items, std::string_view builder);
  /// Begin and end an instance of a class. Between them the caller puts its attributes: name, value, name,
  /// value.
  void begin_object(std::string_view module, std::string_view name);
  void end_object();

  /// Ends the pickle and returns it. Nothing can be put after that.
  std::string finish();
  /// Writes the elements as entries "<prefix>data/0" and so on.
  void write_storages(io::ZipWriter& zip, const std::string& prefix) const;

 private:
  // The position of an array in its storage, in elements of a dtype.
  struct Place {
    std::size_t key;
    std::int64_t offset, count;
  };
  void little(std::uint64_t value, unsigned bytes);
  void put_integer(std::int64_t value);
  void put_double(double value);
  void put_dims(IntArrayRef dims);
  void put_items(char open, const List& items, char close);
  void put_dict(const Dict& entries);
  void put_tensor(const Variable& tensor, bool requires_grad);
  Place place(const NdArray& array, const StorageType& type);

  std::string text_ = "\x80\x02";
  std::vector<NdArray> storages_;
  std::map<std::pair<const void*, DType>, std::size_t> keys_;
};

/// Puts a dict as an instance of a module, and dicts in it as its submodules. Returns the declarations of
/// their classes, which the archive must contain as code/__torch__.py.
std::string put_script(Pickler& pickler, const Value& value);

}  // namespace ebb::pytorch
