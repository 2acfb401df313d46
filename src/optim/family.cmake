# Flags of the optimizers (cmake/EbbFamily.cmake).
ebb_family(FAST ALL WIDE ALL)
