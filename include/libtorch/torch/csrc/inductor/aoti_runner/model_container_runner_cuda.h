// A header of libtorch about inductor, which ebb does not have.
#pragma once

#error "ebb does not run what torch.compile and AOTInductor write: ebb::compile makes a function of C++ fast."
