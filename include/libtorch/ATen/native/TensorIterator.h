// A header of libtorch about TensorIterator, which ebb does not have.
#pragma once

#error "ebb has no TensorIterator: compute with ops, or over data_ptr() of contiguous tensors."
