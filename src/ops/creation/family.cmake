# Flags of creation (cmake/EbbFamily.cmake).
# The numbers are the same at all levels.
ebb_family(EXACT ALL)
