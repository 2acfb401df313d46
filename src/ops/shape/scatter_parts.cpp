// select_scatter, slice_scatter, diagonal_scatter, as_strided_scatter: copies with one part replaced.

#include <ebb/ops/creation.h>
#include <ebb/ops/shape.h>

namespace ebb {

namespace {

// Writes to a contiguous clone through its view `part`. copy_ records both gradients.
template <class Part>
Variable replaced(const char* op, const Variable& x, const Variable& src, Part&& part) {
  Variable out = clone(x, MemoryFormat::Contiguous);
  const Variable place = part(out);
  EBB_CHECK(place.sizes() == src.sizes(), op,
            ": expected src to have a size equal to the part it replaces: part ", place.sizes(), ", src ",
            src.sizes(), ".");
  copy_(place, src);
  return out;
}

}  // namespace

Variable select_scatter(const Variable& x, const Variable& src, std::int64_t dim, std::int64_t index) {
  return replaced("select_scatter", x, src, [&](const Variable& out) { return select(out, dim, index); });
}

Variable slice_scatter(const Variable& x, const Variable& src, std::int64_t dim, optional<std::int64_t> start,
                       optional<std::int64_t> end, std::int64_t step) {
  return replaced("slice_scatter", x, src,
                  [&](const Variable& out) { return slice(out, dim, start, end, step); });
}

Variable diagonal_scatter(const Variable& x, const Variable& src, std::int64_t offset, std::int64_t dim1,
                          std::int64_t dim2) {
  return replaced("diagonal_scatter", x, src,
                  [&](const Variable& out) { return diagonal(out, offset, dim1, dim2); });
}

Variable as_strided_scatter(const Variable& x, const Variable& src, IntArrayRef size, IntArrayRef stride,
                            optional<std::int64_t> storage_offset) {
  return replaced("as_strided_scatter", x, src,
                  [&](const Variable& out) { return as_strided(out, size, stride, storage_offset); });
}

}  // namespace ebb
