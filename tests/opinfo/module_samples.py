"""Samples of the modules that are missing in the table of PyTorch."""
import argparse

import torch
from torch import nn
from torch.testing._internal.common_modules import FunctionInput, ModuleInput

# Options that are unset by default, with values to try.
UNSET = {"padding_idx": [0, -1, 20, -20], "max_norm": [0.0, -1.0, 1.0], "divisor_override": [0, -1, 3],
         "stride": [0, -1, 1], "kdim": [0, -1, 3], "vdim": [0, -1, 3], "align_corners": [True], "num_classes": [0]}


def sizes(*shape):
    """A floating tensor of that shape."""
    return shape


def integers(high, *shape):
    return ("integers", high, shape)


def options(*args, **kwargs):
    return FunctionInput(*args, **kwargs)


TABLE = [
    (nn.Dropout, options(0.3), [(4, 5)]), (nn.Dropout1d, options(0.3), [(4, 5, 3)]), (nn.Dropout2d, options(0.3), [(4, 5, 3, 2)]),
    (nn.Dropout3d, options(0.3), [(4, 5, 3, 2, 2)]), (nn.AlphaDropout, options(0.3), [(4, 5)]),
    (nn.FeatureAlphaDropout, options(0.3), [(4, 5, 3)]), (nn.RReLU, options(0.1, 0.4), [(4, 5)]),
    (nn.Hardsigmoid, options(), [(4, 5)]), (nn.Identity, options(), [(4, 5)]), (nn.Flatten, options(), [(4, 5, 3)]),
    (nn.Flatten, options(0, 1), [(4, 5, 3)]), (nn.Unflatten, options(1, (2, 3)), [(4, 6, 2)]),
    (nn.Fold, options((4, 5), (2, 3)), [(2, 12, 9)]), (nn.Fold, options((4, 5), (2, 2), 1, 1, 2), [(2, 8, 9)]),
    (nn.Unfold, options((2, 3)), [(2, 3, 4, 5)]), (nn.Unfold, options(2, 2, 1, 2), [(2, 3, 4, 5)]),
    (nn.PixelShuffle, options(2), [(2, 8, 3, 4)]), (nn.PixelUnshuffle, options(2), [(2, 2, 4, 6)]),
    (nn.ChannelShuffle, options(2), [(2, 6, 3, 4)]), (nn.Upsample, options((5, 6)), [(2, 3, 3, 4)]),
    (nn.Upsample, options(scale_factor=(1.5, 2.0), mode="bilinear"), [(2, 3, 3, 4)]),
    (nn.Upsample, options(scale_factor=(1.5, 2.0), mode="bicubic", align_corners=True), [(2, 3, 3, 4)]),
    (nn.Upsample, options(scale_factor=(2.0,), mode="linear"), [(2, 3, 4)]),
    (nn.Upsample, options(size=(4, 4, 5), mode="trilinear"), [(2, 3, 3, 4, 2)]),
    (nn.UpsamplingNearest2d, options(size=(5, 6)), [(2, 3, 3, 4)]),
    (nn.UpsamplingBilinear2d, options(scale_factor=(2.0, 2.0)), [(2, 3, 3, 4)]),
    (nn.CosineSimilarity, options(1, 1e-6), [(4, 5), (4, 5)]), (nn.PairwiseDistance, options(3.0), [(4, 5), (4, 5)]),
    (nn.CrossMapLRN2d, options(3), [(2, 5, 3, 4)]), (nn.TripletMarginLoss, options(), [(4, 5), (4, 5), (4, 5)]),
    (nn.TripletMarginWithDistanceLoss, options(), [(4, 5), (4, 5), (4, 5)]),
    (nn.MaxUnpool1d, options(2), [(2, 3, 4), ("places", 2, (2, 3, 4))]),
    (nn.MaxUnpool2d, options(2), [(2, 3, 2, 4), ("places", 4, (2, 3, 2, 4))]),
    (nn.MaxUnpool3d, options(2), [(2, 3, 2, 4, 2), ("places", 8, (2, 3, 2, 4, 2))]),
    (nn.EmbeddingBag, options(6, 3), [integers(6, 4, 5)]), (nn.EmbeddingBag, options(6, 3, mode="sum", padding_idx=2), [integers(6, 4, 5)]),
    (nn.EmbeddingBag, options(6, 3, mode="max"), [integers(6, 4, 5)]),
    (nn.AdaptiveLogSoftmaxWithLoss, options(6, 12, [3, 7]), [(5, 6), integers(12, 5)]),
    (nn.AdaptiveLogSoftmaxWithLoss, options(6, 12, [3, 7], div_value=2.0, head_bias=True), [(5, 6), integers(12, 5)]),
    (nn.LazyLinear, options(3), [(4, 5)]), (nn.LazyBatchNorm1d, options(), [(4, 5)]), (nn.LazyBatchNorm2d, options(), [(4, 5, 2, 3)]),
    (nn.LazyBatchNorm3d, options(), [(4, 5, 2, 3, 2)]), (nn.LazyInstanceNorm1d, options(), [(4, 5, 3)]),
    (nn.LazyInstanceNorm2d, options(), [(4, 5, 2, 3)]), (nn.LazyInstanceNorm3d, options(affine=True), [(4, 5, 2, 3, 2)]),
    (nn.SELU, options(), [(4, 5)]), (nn.Linear, options(0, 3), [(4, 0)]), (nn.Linear, options(3, 0), [(4, 3)]),
    (nn.Bilinear, options(3, 2, 0), [(4, 3), (4, 2)]), (nn.Conv1d, options(2, 0, 2), [(4, 2, 5)]), (nn.Conv2d, options(0, 2, 2), [(4, 0, 5, 5)]),
    (nn.Embedding, options(0, 3), [integers(1, 0)]), (nn.Embedding, options(4, 0), [integers(4, 5)]), (nn.LayerNorm, options([0]), [(4, 0)]),
    (nn.BatchNorm1d, options(0), [(4, 0)]), (nn.GroupNorm, options(1, 0), [(4, 0, 3)]), (nn.PReLU, options(0), [(4, 0, 3)]),
    (nn.RNN, options(0, 3), [(4, 2, 0)]), (nn.LSTM, options(0, 3), [(4, 2, 0)]), (nn.GRUCell, options(0, 3), [(4, 0)]),
    (nn.LSTM, options(3, 4, num_layers=2, dropout=0.0, proj_size=2, bidirectional=True), [(5, 2, 3)]),
    (nn.TransformerDecoder, options(nn.TransformerDecoderLayer(4, 2, 8, 0.0), 2), [(3, 2, 4), (5, 2, 4)]),
]


def extra():
    """Samples in the format of module_db."""
    def inputs(cls, constructor, shapes):
        def make(info, device, dtype, requires_grad, training):
            values = []
            for shape in shapes:
                if shape and shape[0] == "integers":
                    values.append(torch.randint(shape[1], shape[2]))
                elif shape and shape[0] == "places":
                    count = torch.tensor(shape[2][2:]).prod().item()
                    values.append(torch.arange(count).reshape(shape[2][2:]).expand(shape[2]).contiguous())
                else:
                    values.append(torch.randn(shape, dtype=dtype, requires_grad=requires_grad))
            return [ModuleInput(constructor_input=constructor, forward_input=FunctionInput(*values))]
        return argparse.Namespace(name="nn." + cls.__name__, module_cls=cls, module_inputs_func=make, module_error_inputs_func=None)
    return [inputs(*entry) for entry in TABLE]
