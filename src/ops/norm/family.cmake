# Flags of norm (cmake/EbbFamily.cmake).
ebb_family(FAST ALL WIDE ALL)
