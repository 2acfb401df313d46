// Families of rows that came after those of rows.h.
#pragma once

namespace optable {

void register_resample();
void register_ctc();
void register_layer_functions();
void register_native();

}  // namespace optable
