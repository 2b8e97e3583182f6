# What every target of ours is built with.

add_library(fairlead_rules INTERFACE)
target_compile_options(fairlead_rules INTERFACE -Wall -Wextra -Werror)
target_include_directories(fairlead_rules INTERFACE ${PROJECT_SOURCE_DIR})

set(FAIRLEAD_SANITIZE "" CACHE STRING "Sanitizers to build with, such as address,undefined or thread")
if(FAIRLEAD_SANITIZE)
  add_compile_options(-fsanitize=${FAIRLEAD_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${FAIRLEAD_SANITIZE})
  # g++ 12 sees uninitialised reads in std::optional and std::variant once sanitizers have rewritten them.
  add_compile_options(-Wno-maybe-uninitialized)
  if(FAIRLEAD_SANITIZE MATCHES undefined)
    # CAF 0.17.6 binds a null reference in detail/init_fun_factory.hpp for actors without arguments, and the queues of its mailboxes end in a
    # node that is cast to an element and none (intrusive/task_queue.hpp).
    add_compile_options(-fno-sanitize=null,vptr -fno-sanitize-recover=undefined)
  endif()
endif()

# One unit for all files of a room: much less to compile, and more of it again after a change.
option(FAIRLEAD_UNITY "Compile each room as one file" OFF)

function(fairlead_unity target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${FAIRLEAD_UNITY} UNITY_BUILD_MODE GROUP)
  if(FAIRLEAD_UNITY)
    # A class whose members' types are private to its .cpp is none that others see.
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
endfunction()

# The same for an executable whose sources are listed: a unit for each of their folders.
function(fairlead_unity_by_folder target)
  fairlead_unity(${target})
  get_target_property(sources ${target} SOURCES)
  foreach(source ${sources})
    get_filename_component(folder ${source} DIRECTORY)
    file(RELATIVE_PATH unit ${PROJECT_SOURCE_DIR} ${folder})
    string(REPLACE "/" "_" unit ${unit})
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${unit})
  endforeach()
endfunction()

# A library of this project; rooms bring its sources.
function(fairlead_library name)
  add_library(${name} STATIC)
  fairlead_unity(${name})
  target_link_libraries(${name} PRIVATE fairlead_rules)
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
endfunction()

# A room is a folder with one purpose, which the comment above the call says in one sentence. Its sources belong to a library. USES names the
# rooms that it may include, CAF its files that may include CAF. tests/include_rule.py reads these very calls and holds every include against them.
#   fairlead_room(LIBRARY [USES room…] [CAF file…] [WITHOUT file…])
function(fairlead_room library)
  cmake_parse_arguments(room "" "" "USES;CAF;WITHOUT" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS *.cpp)
  foreach(other ${room_WITHOUT})
    list(REMOVE_ITEM sources ${CMAKE_CURRENT_SOURCE_DIR}/${other})
  endforeach()
  target_sources(${library} PRIVATE ${sources})
  file(RELATIVE_PATH unit ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  string(REPLACE "/" "_" unit ${unit})
  set_source_files_properties(${sources} TARGET_DIRECTORY ${library} PROPERTIES UNITY_GROUP ${unit})
endfunction()
