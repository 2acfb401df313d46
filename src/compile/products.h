// Matrix products of a tape.
#pragma once

#include "compile/row_program.h"
#include "compile/tape.h"
#include "ops/linalg/kernels.h"

namespace ebb::compiling {

using KeptProduct =
    detail::KeptSlotCall<NdArray&, const NdArray&, const NdArray&, const NdArray&, const ProductArgs&>;

/// The call, if it is a matrix product; else null.
KeptProduct* product_of(const TapeCall& call);

/// `sum += a b` by the product, where the tape has a product and an addition of nothing else than it:
/// product() adds in one rounding, as the addition does (ops/linalg/kernels.h). What was set to zero before
/// need not be, nor be read.
void accumulate_products(Tape& tape);

/// Products whose results elementwise calls are the first to read go right before those.
void delay_products(Tape& tape);

/// The rows of a product, a few at a time. An element's value does not depend on how many.
class ProductSource final : public RowSource {
 public:
  static constexpr std::int64_t kRows = 128;  // of a block: fewer make the kernel pack too often

  explicit ProductSource(KeptProduct& product) : product_(product) {}
  /// Whether the product can be had by rows, and has so many that it is worth while.
  static bool fits(KeptProduct& product);

  void bring(std::int64_t first, std::int64_t last, std::byte* to) const override;
  std::int64_t grain() const override;

 private:
  KeptProduct& product_;
};

}  // namespace ebb::compiling
