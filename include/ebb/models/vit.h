// VisionTransformer (ViT): a transformer encoder on image patches, with torchvision's parameter names.
#pragma once

#include <ebb/nn.h>
#include <ebb/serialize.h>

namespace ebb::models {

/// Options of VisionTransformer; the defaults are those of vit_b_16.
class EBB_API VisionTransformerOptions {
  EBB_ARG(std::int64_t, image_size) = 224;    ///< height and width of the images
  EBB_ARG(std::int64_t, patch_size) = 16;     ///< height and width of a patch; divides image_size
  EBB_ARG(std::int64_t, num_layers) = 12;     ///< number of encoder blocks
  EBB_ARG(std::int64_t, num_heads) = 12;      ///< number of heads per block; divides hidden_dim
  EBB_ARG(std::int64_t, hidden_dim) = 768;    ///< model width
  EBB_ARG(std::int64_t, mlp_dim) = 3072;      ///< hidden width of the MLPs
  EBB_ARG(std::int64_t, num_classes) = 1000;  ///< number of outputs
  EBB_ARG(double, dropout) = 0;               ///< dropout of the embeddings and before each residual addition
  EBB_ARG(double, attention_dropout) = 0;     ///< dropout of the attention weights
};

/// Computes y = x + self_attention(ln_1(x)) and returns y + mlp(ln_2(y)): [B, T, hidden_dim] -> [B, T,
/// hidden_dim].
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

/// Adds position embeddings and applies the blocks and a normalization: [B, T, hidden_dim] -> [B, T,
/// hidden_dim].
struct EBB_API ViTEncoderImpl : nn::Cloneable<ViTEncoderImpl> {
  explicit ViTEncoderImpl(const VisionTransformerOptions& options);
  void reset() override;
  Variable forward(const Variable& x);

  VisionTransformerOptions options;
  Variable pos_embedding;  // [1, 1 + patches, hidden_dim]
  nn::Dropout dropout = nullptr;
  nn::Sequential layers = nullptr;  // ViTEncoderBlock modules
  nn::LayerNorm ln = nullptr;
};
EBB_MODULE(ViTEncoder);

/// Classifies images as sequences of patches (Dosovitskiy et al. 2021; torchvision.models.VisionTransformer,
/// with its names and initialization): images [B, 3, image_size, image_size] -> logits [B, num_classes]. The
/// last layer is initially 0. Throws for images of another shape, for a patch_size that does not divide
/// image_size, and for num_heads that does not divide hidden_dim.
///
///     VisionTransformer net = vit_b_16();
///     load(net, "vit_b_16-c867db91.pth", net->load_options());
struct EBB_API VisionTransformerImpl : nn::Cloneable<VisionTransformerImpl> {
  explicit VisionTransformerImpl(const VisionTransformerOptions& options = {});
  void reset() override;
  Variable forward(const Variable& images);
  /// Returns options with which load() reads published files. They also accept older files, in which mlp.0
  /// and mlp.3 have the names mlp.linear_1 and mlp.linear_2.
  LoadOptions load_options() const;

  VisionTransformerOptions options;
  Variable class_token;  // [1, 1, hidden_dim]
  nn::Conv2d conv_proj = nullptr;
  ViTEncoder encoder = nullptr;
  nn::Sequential heads = nullptr;  // one layer, "head"
};
EBB_MODULE(VisionTransformer);

/// The vision transformers of the paper, with torchvision's names: base (86 million parameters) or large (304
/// million), with patches of 16x16 or 32x32 pixels.
EBB_API VisionTransformer vit_b_16(std::int64_t num_classes = 1000, std::int64_t image_size = 224);
EBB_API VisionTransformer vit_b_32(std::int64_t num_classes = 1000, std::int64_t image_size = 224);
EBB_API VisionTransformer vit_l_16(std::int64_t num_classes = 1000, std::int64_t image_size = 224);

}  // namespace ebb::models
