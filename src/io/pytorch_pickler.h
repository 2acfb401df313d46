// Values as pickles: those of torch.save, and the modules of libtorch's archives.
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

/// A pickle of protocol 2, and the arrays whose elements stand beside it. Dicts are OrderedDicts.
class Pickler {
 public:
  void put(const Value& value);
  /// The same with the tensor's own requires_grad, which put() writes as false.
  void put_parameter(const Variable& tensor) { put_tensor(tensor, tensor.requires_grad()); }
  void put_text(std::string_view value);
  void put_global(std::string_view module, std::string_view name);
  /// A list that libtorch gives a type: by torch.jit._pickle.<builder>.
  void put_typed_list(const List& items, std::string_view builder);
  /// An instance of a class: its attributes, names and values in turn, come between.
  void begin_object(std::string_view module, std::string_view name);
  void end_object();

  /// The whole pickle; nothing can be put any more.
  std::string finish();
  /// Writes the elements as entries "<prefix>data/0", ...
  void write_storages(io::ZipWriter& zip, const std::string& prefix) const;

 private:
  // Of an array's memory as elements of a dtype.
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

/// Puts a dict as an instance of a module, dicts in it as its submodules; returns the declarations of their
/// classes, which the archive must hold as code/__torch__.py.
std::string put_script(Pickler& pickler, const Value& value);

}  // namespace ebb::pytorch
