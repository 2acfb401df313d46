// A header of libtorch about c10d, which ebb does not have.
#pragma once

#error "ebb has no c10d: run one program for each device, with a library of your own between them."
