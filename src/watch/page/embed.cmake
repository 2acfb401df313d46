# Generates the source ${EMBEDDED} with the texts of the scripts and of report.css. As a script:
# cmake -DEMBEDDED=page.cpp -P embed.cmake
set(SCRIPT "")
foreach(_file charts.js cards.js report.js)
  file(READ ${CMAKE_CURRENT_LIST_DIR}/${_file} _text)
  string(APPEND SCRIPT "${_text}")
endforeach()
file(READ ${CMAKE_CURRENT_LIST_DIR}/report.css STYLE)
configure_file(${CMAKE_CURRENT_LIST_DIR}/page.cpp.in ${EMBEDDED} @ONLY)
