# Compiler flags of CPU kernels, which each family sets in its family.cmake.

# ebb_family([PRODUCTS|FAST|LOOPS|SMALL <name>...] [WIDE|NARROW <name>...] [EXACT|FUSED <name>...])
# A name is that of a source without its suffix, or of a header with a list of slots. ALL means all names that the other
# classes of the kind do not list.
#   PRODUCTS  -O3, or -O2 for the kernels of a baseline that has levels above it
#   FAST      -O3
#   LOOPS     -O3, but without copies of loops for invariant conditions (no loop unswitching)
#   SMALL     -O2, if it vectorizes as much as -O3: half the size and two thirds of the compile time; the default
#   WIDE      also for AVX-512
#   NARROW    AVX2 is also used on processors with AVX-512; the default
#   EXACT     a * b + c is not contracted to one rounding; FUSED, the default, allows it
# Appends the kernels of the family, and its slots among the wide ones, to EBB_PRODUCTS, EBB_FAST, EBB_LOOPS, EBB_WIDE
# and EBB_EXACT of the caller.
function(ebb_family)
  set(_classes PRODUCTS FAST LOOPS SMALL WIDE NARROW EXACT FUSED)
  cmake_parse_arguments(PARSE_ARGV 0 _in "" "" "${_classes}")
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_LIST_DIR BASE_DIRECTORY ${PROJECT_SOURCE_DIR}/src OUTPUT_VARIABLE _folder)
  cmake_path(GET _folder FILENAME _family)
  set(_sources ${EBB_KERNELS} ${EBB_SLOTS})
  list(FILTER _sources INCLUDE REGEX "/(src|generated)/${_folder}/|/generated/slots/${_family}-")
  list(TRANSFORM _sources REPLACE ".*[/-]([^/-]*)[.]cpp$" "\\1" OUTPUT_VARIABLE _names)
  foreach(_class IN LISTS _classes)
    set(_unknown ${_in_${_class}})
    list(REMOVE_ITEM _unknown ALL ${_names})
    if(_unknown)
      message(FATAL_ERROR "${CMAKE_CURRENT_LIST_FILE}: the family has no ${_unknown}")
    endif()
  endforeach()
  foreach(_source _name IN ZIP_LISTS _sources _names)
    foreach(_kind "PRODUCTS;FAST;LOOPS;SMALL" "WIDE;NARROW" "EXACT;FUSED")
      set(_found "")
      foreach(_class IN LISTS _kind)
        if(_name IN_LIST _in_${_class} OR (NOT _found AND "ALL" IN_LIST _in_${_class}))
          set(_found ${_class})
        endif()
      endforeach()
      # A family selects only the levels of its slots, and no other flags for them.
      if(_found STREQUAL "WIDE" OR (_found AND NOT _source IN_LIST EBB_SLOTS))
        list(APPEND EBB_${_found} ${_source})
      endif()
    endforeach()
  endforeach()
  foreach(_class PRODUCTS FAST LOOPS WIDE EXACT)
    set(EBB_${_class} ${EBB_${_class}} PARENT_SCOPE)
  endforeach()
endfunction()
