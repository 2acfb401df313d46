// Padding, folding and pixel shuffling with options (torch::nn::functional).
#pragma once

#include <ebb/nn/options/padding.h>

namespace ebb::nn::functional {

EBB_API Variable pad(const Variable& input, const PadFuncOptions& options);
/// Sums columns of patches back into images.
EBB_API Variable fold(const Variable& input, const FoldFuncOptions& options);
/// Patches of images as columns.
EBB_API Variable unfold(const Variable& input, const UnfoldFuncOptions& options);
/// (*, C r^2, H, W) to (*, C, H r, W r).
EBB_API Variable pixel_shuffle(const Variable& input, const PixelShuffleFuncOptions& options);
/// The inverse.
EBB_API Variable pixel_unshuffle(const Variable& input, const PixelUnshuffleFuncOptions& options);
/// Resizes the spatial dimensions by nearest neighbours, linearly (in 1 to 3 dimensions), or by area
/// averages.
EBB_API Variable interpolate(const Variable& input, const InterpolateFuncOptions& options = {});

}  // namespace ebb::nn::functional
