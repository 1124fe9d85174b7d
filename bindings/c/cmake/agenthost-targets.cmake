find_package(Threads REQUIRED)

if(NOT TARGET agenthost::shared)
  add_library(agenthost::shared SHARED IMPORTED)
  set_target_properties(agenthost::shared PROPERTIES
    IMPORTED_LOCATION "${_agenthost_prefix}/lib/libagenthost.so"
    IMPORTED_SONAME "libagenthost.so.0"
    INTERFACE_INCLUDE_DIRECTORIES "${_agenthost_prefix}/include")
endif()

if(NOT TARGET agenthost::static)
  add_library(agenthost::static STATIC IMPORTED)
  set_target_properties(agenthost::static PROPERTIES
    IMPORTED_LOCATION "${_agenthost_prefix}/lib/libagenthost.a"
    IMPORTED_LINK_INTERFACE_LANGUAGES "C"
    INTERFACE_INCLUDE_DIRECTORIES "${_agenthost_prefix}/include"
    INTERFACE_LINK_LIBRARIES "Threads::Threads;m;${CMAKE_DL_LIBS}")
endif()

if(NOT TARGET agenthost::cpp)
  add_library(agenthost::cpp INTERFACE IMPORTED)
  set_target_properties(agenthost::cpp PROPERTIES
    INTERFACE_COMPILE_FEATURES "cxx_std_17"
    INTERFACE_LINK_LIBRARIES "agenthost::shared")
endif()

foreach(_agenthost_file include/agenthost.h include/agenthost.hpp include/agenthost/requirements.hpp lib/libagenthost.so lib/libagenthost.a)
  if(NOT EXISTS "${_agenthost_prefix}/${_agenthost_file}")
    set(agenthost_FOUND FALSE)
    set(agenthost_NOT_FOUND_MESSAGE "${_agenthost_file} is missing from ${_agenthost_prefix}")
  endif()
endforeach()
unset(_agenthost_file)
