// The vision transformer under torchvision's names.
#pragma once

#include <ebb/nn.h>
#include <ebb/serialize.h>

namespace ebb::models {

/// Options of VisionTransformer; the defaults are those of vit_b_16.
class EBB_API VisionTransformerOptions {
  EBB_ARG(std::int64_t, image_size) = 224;    ///< height and width of the images
  EBB_ARG(std::int64_t, patch_size) = 16;     ///< of the squares that they are cut into; divides image_size
  EBB_ARG(std::int64_t, num_layers) = 12;     ///< number of encoder blocks
  EBB_ARG(std::int64_t, num_heads) = 12;      ///< heads of a block, whose number divides hidden_dim
  EBB_ARG(std::int64_t, hidden_dim) = 768;    ///< width
  EBB_ARG(std::int64_t, mlp_dim) = 3072;      ///< width within the MLPs
  EBB_ARG(std::int64_t, num_classes) = 1000;  ///< logits
  EBB_ARG(double, dropout) = 0;               ///< of the embeddings and of what a block's parts add
  EBB_ARG(double, attention_dropout) = 0;     ///< of attention's weights
};

/// x + self_attention(ln_1(x)), and that y + mlp(ln_2(y)): [B, T, hidden_dim] to the same.
struct EBB_API ViTEncoderBlockImpl : nn::Cloneable<ViTEncoderBlockImpl> {
  explicit ViTEncoderBlockImpl(const VisionTransformerOptions& options);
  void reset() override;
  Variable forward(const Variable& x);

  VisionTransformerOptions options;
  nn::LayerNorm ln_1 = nullptr, ln_2 = nullptr;
  nn::MultiheadAttention self_attention = nullptr;
  nn::Dropout dropout = nullptr;
  nn::Sequential mlp = nullptr;
};
EBB_MODULE(ViTEncoderBlock);

/// Positions added, the blocks, and a normalisation: [B, T, hidden_dim] to the same.
struct EBB_API ViTEncoderImpl : nn::Cloneable<ViTEncoderImpl> {
  explicit ViTEncoderImpl(const VisionTransformerOptions& options);
  void reset() override;
  Variable forward(const Variable& x);

  VisionTransformerOptions options;
  Variable pos_embedding;  // [1, 1 + patches, hidden_dim]
  nn::Dropout dropout = nullptr;
  nn::Sequential layers = nullptr;  // of ViTEncoderBlock
  nn::LayerNorm ln = nullptr;
};
EBB_MODULE(ViTEncoder);

/// An image as a sentence of patches (Dosovitskiy et al. 2021; torchvision.models.VisionTransformer, with the
/// names and initial values of its weights): images [B, 3, image_size, image_size] to logits [B,
/// num_classes]. The layer of the logits starts from 0. Throws for images of another shape, patches that do
/// not divide the image, or heads that do not divide the width.
///
///     VisionTransformer net = vit_b_16();
///     load(net, "vit_b_16-c867db91.pth", net->load_options());
struct EBB_API VisionTransformerImpl : nn::Cloneable<VisionTransformerImpl> {
  explicit VisionTransformerImpl(const VisionTransformerOptions& options = {});
  void reset() override;
  Variable forward(const Variable& images);
  /// How load() reads published files: older ones say mlp.linear_1 and mlp.linear_2 for mlp.0 and mlp.3.
  LoadOptions load_options() const;

  VisionTransformerOptions options;
  Variable class_token;  // [1, 1, hidden_dim]
  nn::Conv2d conv_proj = nullptr;
  ViTEncoder encoder = nullptr;
  nn::Sequential heads = nullptr;  // of one layer, "head"
};
EBB_MODULE(VisionTransformer);

/// The vision transformers of the paper, as torchvision's: base (86 million parameters) or large (304
/// million), with patches of 16x16 or 32x32 pixels.
EBB_API VisionTransformer vit_b_16(std::int64_t num_classes = 1000, std::int64_t image_size = 224);
EBB_API VisionTransformer vit_b_32(std::int64_t num_classes = 1000, std::int64_t image_size = 224);
EBB_API VisionTransformer vit_l_16(std::int64_t num_classes = 1000, std::int64_t image_size = 224);

}  // namespace ebb::models
