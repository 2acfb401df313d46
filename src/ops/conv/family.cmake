# Flags of conv (cmake/EbbFamily.cmake).
ebb_family(PRODUCTS ALL WIDE ALL)
