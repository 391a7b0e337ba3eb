set(DEBERTA_PRECOMPILED <algorithm> <filesystem> <fmt/format.h> <functional> <map> <memory> <string> <vector>)
# Rooms without loops that take time: with DEBERTA_UNITY several of their sources are compiled as one, in less than half the time. For users and the
# gate; developers compile each by itself, so that a change costs little. That every source includes what it needs is for tools/check_clang.py to say.
set(DEBERTA_TOGETHER base chart web text config heads cost checkpoint data hub decode metrics pipeline analysis jobs rows eval serve options program measure cli
  train/ops train/model train/objectives train/optim train/data train/state train/report train/run train/ablation train/step
  train/pretrain train/finetune train/replay train/cli)

# deberta_read_rooms(REGEX VARIABLE): the names in rooms.txt whose row matches the regular expression after the name.
function(deberta_read_rooms regex variable)
  file(STRINGS ${PROJECT_SOURCE_DIR}/rooms.txt rows REGEX "^[a-z_/]+ +${regex}")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/rooms.txt)
  set(names "")
  foreach(row ${rows})
    string(REGEX MATCH "^[a-z_/]+" name "${row}")
    list(APPEND names ${name})
  endforeach()
  set(${variable} ${names} PARENT_SCOPE)
endfunction()

# deberta_rooms(): every room of src, by floor; NAME_libraries lists the libraries that the room NAME also needs.
function(deberta_rooms)
  deberta_read_rooms("[0-9]+ +(library|server|program) " names)
  foreach(name ${names})
    deberta_room(${name} ${${name}_libraries})
  endforeach()
endfunction()

# deberta_room(NAME): the object library of src/NAME and its folders, except x86/ (isa.cmake) and main/ (a program of its own).
function(deberta_room name)
  deberta_objects(deberta_${name} src/${name})
  target_link_libraries(deberta_${name} PRIVATE ${fmt_library} ${ARGN})
  deberta_precompiled(deberta_${name} deberta_base ${DEBERTA_PRECOMPILED})
  set_property(GLOBAL APPEND PROPERTY DEBERTA_ROOMS deberta_${name})
endfunction()

# deberta_train_rooms(): the rooms of train that include no torch header; deberta_torch_rooms(): those that may (torch.cmake).
function(deberta_train_rooms)
  deberta_read_rooms("[0-9]+ +train " names)
  foreach(name ${names})
    string(REPLACE "/" "_" target deberta_${name})
    deberta_objects(${target} ${name})
    target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR})
    target_link_libraries(${target} PRIVATE ${fmt_library})
    deberta_precompiled(${target} deberta_base ${DEBERTA_PRECOMPILED})
    list(APPEND objects $<TARGET_OBJECTS:${target}>)
  endforeach()
  add_library(deberta_train_half STATIC ${objects})
  target_include_directories(deberta_train_half PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(deberta_train_half PUBLIC deberta_engine_half)
endfunction()

# deberta_train_tests(PART): the tests of the rooms of that part of train: "train" or "torch".
function(deberta_train_tests part)
  deberta_read_rooms("[0-9]+ +${part} " names)
  foreach(name ${names})
    deberta_room_tests(${name} deberta_${part}_half)
  endforeach()
endfunction()

# deberta_objects(TARGET FOLDER): an object library of all sources in the folder and in its folders.
function(deberta_objects target folder)
  file(GLOB sources RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS ${folder}/*.cpp ${folder}/*/*.cpp)
  list(FILTER sources EXCLUDE REGEX "^${folder}/(x86|main)/")
  add_library(${target} OBJECT ${sources})
  string(REGEX REPLACE "^src/" "" room ${folder})
  if(DEBERTA_FUZZ AND room STREQUAL "train/data")  # the fuzz programs take single sources of it, without the rooms that the others need
    set_target_properties(${target} PROPERTIES UNITY_BUILD OFF)
  elseif(DEBERTA_UNITY AND room IN_LIST DEBERTA_TOGETHER)
    deberta_together(${target} 6)
  endif()
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(${target} PUBLIC deberta_flags)
endfunction()

# deberta_together(TARGET COUNT): so many of its sources are compiled as one. A type of an anonymous namespace is then one of an included file, which g++
# warns about where a type of this source holds one.
function(deberta_together target count)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${count})
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endfunction()

# deberta_counted(ROOM OWNER SOURCE...): sources once more, for the tests of ROOM, with a call in every basic block: their work is counted, not
# timed. OWNER has their precompiled headers.
function(deberta_counted room owner)
  set(target deberta_${room}_counted)
  add_library(${target} OBJECT ${ARGN})
  target_include_directories(${target} PRIVATE src include)
  target_link_libraries(${target} PRIVATE deberta_flags ${fmt_library})
  target_compile_options(${target} PRIVATE -O1 -fsanitize-coverage=trace-pc)
  if(DEBERTA_UNITY)
    deberta_together(${target} 6)
  endif()
  deberta_precompiled(${target} ${owner} ${DEBERTA_PRECOMPILED})
  deberta_room_tests(${room})
  target_sources(test_${room} PRIVATE $<TARGET_OBJECTS:${target}>)
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

# deberta_room_tests(NAME): test_NAME from tests/NAME/*_test.cpp; a room of train: test_train_NAME, with the libraries named.
function(deberta_room_tests name)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${name}/*_test.cpp)
  if(NOT sources)
    return()
  endif()
  string(REPLACE "/" "_" test test_${name})
  add_executable(${test} ${sources})
  target_link_libraries(${test} PRIVATE deberta_test_support ${ARGN})
  if(DEBERTA_UNITY)
    deberta_together(${test} 12)
  endif()
  if("deberta_torch_half" IN_LIST ARGN)
    deberta_precompiled(${test} test_train_ops ${DEBERTA_TORCH_PRECOMPILED} <gtest/gtest.h>)
  else()
    deberta_precompiled(${test} deberta_test_support)
  endif()
  set_property(GLOBAL APPEND PROPERTY DEBERTA_TESTS ${test})
endfunction()
