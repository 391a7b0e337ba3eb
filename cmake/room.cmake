set(DEBERTA_PRECOMPILED <algorithm> <filesystem> <fmt/format.h> <functional> <map> <memory> <string> <vector>)

# deberta_read_rooms(REGEX VARIABLE): the names in rooms.txt whose row matches the regular expression after the name.
function(deberta_read_rooms regex variable)
  file(STRINGS ${PROJECT_SOURCE_DIR}/rooms.txt rows REGEX "^[a-z_]+ +${regex}")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/rooms.txt)
  set(names "")
  foreach(row ${rows})
    string(REGEX MATCH "^[a-z_]+" name "${row}")
    list(APPEND names ${name})
  endforeach()
  set(${variable} ${names} PARENT_SCOPE)
endfunction()

# deberta_rooms(): every room of src, by floor; NAME_libraries lists the libraries that the room NAME also needs.
function(deberta_rooms)
  deberta_read_rooms("[0-9]+ " names)
  foreach(name ${names})
    deberta_room(${name} ${${name}_libraries})
  endforeach()
endfunction()

# deberta_room(NAME): the object library of src/NAME and its folders, except x86/ (isa.cmake) and main/ (a program of its own).
function(deberta_room name)
  file(GLOB sources RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS src/${name}/*.cpp src/${name}/*/*.cpp)
  list(FILTER sources EXCLUDE REGEX "^src/${name}/(x86|main)/")
  add_library(deberta_${name} OBJECT ${sources})
  target_include_directories(deberta_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(deberta_${name} PUBLIC deberta_flags PRIVATE fmt::fmt ${ARGN})
  deberta_precompiled(deberta_${name} deberta_base ${DEBERTA_PRECOMPILED})
  set_property(GLOBAL APPEND PROPERTY DEBERTA_ROOMS deberta_${name})
endfunction()

# deberta_precompiled(TARGET OWNER HEADER...): the headers compiled once, by OWNER, and read by every target. They are
# there for speed alone: each source still includes what it needs (tools/check_clang.py compiles without them).
function(deberta_precompiled target owner)
  if(target STREQUAL owner)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  else()
    target_precompile_headers(${target} REUSE_FROM ${owner})
  endif()
endfunction()

# deberta_room_tests(NAME): test_NAME from tests/NAME/*_test.cpp.
function(deberta_room_tests name)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${name}/*_test.cpp)
  if(NOT sources)
    return()
  endif()
  add_executable(test_${name} ${sources})
  target_link_libraries(test_${name} PRIVATE deberta_test_support)
  deberta_precompiled(test_${name} deberta_test_support)
  set_property(GLOBAL APPEND PROPERTY DEBERTA_TESTS test_${name})
endfunction()
