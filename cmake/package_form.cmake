# Read by cpack for each generator. Both archives have the same folder at the top, so that they meet where they are unpacked.
if(NOT CPACK_GENERATOR STREQUAL "DEB")
  set(CPACK_COMPONENT_INCLUDE_TOPLEVEL_DIRECTORY ON)
endif()
