# Every library the project uses, as an imported (so: system) target. All of them are Debian 12 packages; `./dev` installs them.
# CAF, LMDB, jq and xxHash ship no CMake config, so they are found by name.

find_package(Threads REQUIRED)
find_package(Protobuf REQUIRED)
find_package(spdlog REQUIRED)
find_package(fmt REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(CLI11 REQUIRED)
find_package(CURL REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(nlohmann_json REQUIRED)

function(find_plain_library target header)
  find_path(${target}_INCLUDE ${header} REQUIRED)
  add_library(fairlead::${target} INTERFACE IMPORTED)
  target_include_directories(fairlead::${target} SYSTEM INTERFACE ${${target}_INCLUDE})
  foreach(name ${ARGN})
    find_library(${target}_${name} ${name} REQUIRED)
    target_link_libraries(fairlead::${target} INTERFACE ${${target}_${name}})
  endforeach()
endfunction()

find_plain_library(caf caf/all.hpp caf_io caf_core)
find_plain_library(lmdb lmdb.h lmdb)
find_plain_library(jq jq.h jq onig)
find_plain_library(xxhash xxhash.h xxhash)
find_plain_library(cctz cctz/time_zone.h cctz)
find_plain_library(edit histedit.h edit)
find_plain_library(microhttpd microhttpd.h microhttpd)
find_plain_library(gnutls gnutls/gnutls.h gnutls)
find_plain_library(prometheus prometheus/text_serializer.h prometheus-cpp-core)
target_link_libraries(fairlead::caf INTERFACE Threads::Threads)

# Only an example needs it: without it that example is left out.
find_path(sqlite_INCLUDE sqlite3.h)
find_library(sqlite_LIBRARY sqlite3)
if(sqlite_INCLUDE AND sqlite_LIBRARY)
  add_library(fairlead::sqlite INTERFACE IMPORTED)
  target_include_directories(fairlead::sqlite SYSTEM INTERFACE ${sqlite_INCLUDE})
  target_link_libraries(fairlead::sqlite INTERFACE ${sqlite_LIBRARY})
endif()

# The allocator of the node (docs/adr/0008-jemalloc.md). Sanitizers bring their own.
find_library(JEMALLOC jemalloc REQUIRED)
add_library(fairlead::allocator INTERFACE IMPORTED)
if(NOT FAIRLEAD_SANITIZE)
  target_link_libraries(fairlead::allocator INTERFACE ${JEMALLOC})
endif()
