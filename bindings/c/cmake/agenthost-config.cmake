# find_package(agenthost) gives
#   agenthost::shared   the shared library, with the C header
#   agenthost::static   the static library, with the C header and what it needs of the system
#   agenthost::cpp      the C++17 header over the shared library
# Everything is found from where this file lies, so that the tree can be moved.
get_filename_component(_agenthost_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
include("${CMAKE_CURRENT_LIST_DIR}/agenthost-targets.cmake")
unset(_agenthost_prefix)
