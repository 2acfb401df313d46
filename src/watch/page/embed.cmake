# Generates the source ${EMBEDDED} from report.html, report.css and report.js, as a part before the data of a report
# and a part after it.
set(_page ${CMAKE_CURRENT_LIST_DIR})
file(READ ${_page}/report.css STYLE)
file(READ ${_page}/report.js SCRIPT)
string(REGEX REPLACE "\n *(//[^\n]*)?" "\n" SCRIPT "${SCRIPT}")  # without comments and indentation
file(READ ${_page}/report.html _html)
string(FIND "${_html}" "@DATA@" _data)
string(SUBSTRING "${_html}" 0 ${_data} HEAD)
math(EXPR _data "${_data} + 6")
string(SUBSTRING "${_html}" ${_data} -1 TAIL)
string(CONFIGURE "${HEAD}" HEAD @ONLY)
string(CONFIGURE "${TAIL}" TAIL @ONLY)
configure_file(${_page}/page.cpp.in ${EMBEDDED} @ONLY)
