#!/usr/bin/env bash
# Installs what C and C++ programs need into a folder: install.sh PREFIX. Headers, shared and static library, pkg-config file,
# CMake package. The release libraries have to be built. The folder can be moved afterwards.
set -euo pipefail
if [ $# -ne 1 ]; then
    echo "usage: $0 PREFIX" >&2
    exit 2
fi
mkdir -p "$1"
prefix=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
version=$(sed -n 's/^#define AGENTHOST_VERSION "\(.*\)"$/\1/p' include/agenthost.h)

mkdir -p "$prefix"/{include/agenthost/detail,lib/pkgconfig,lib/cmake/agenthost}
install -m 644 include/agenthost.h include/agenthost.hpp "$prefix/include"
install -m 644 include/agenthost/*.hpp "$prefix/include/agenthost"
install -m 644 include/agenthost/detail/*.hpp "$prefix/include/agenthost/detail"
install -m 644 target/release/libagenthost.a "$prefix/lib"
install -m 755 target/release/libagenthost.so "$prefix/lib/libagenthost.so.$version"
ln -sf "libagenthost.so.$version" "$prefix/lib/libagenthost.so.0"
ln -sf libagenthost.so.0 "$prefix/lib/libagenthost.so"
sed "s/@VERSION@/$version/g" bindings/c/agenthost.pc.in >"$prefix/lib/pkgconfig/agenthost.pc"
install -m 644 bindings/c/cmake/*.cmake "$prefix/lib/cmake/agenthost"
sed "s/@VERSION@/$version/g" bindings/c/cmake/agenthost-config-version.cmake.in \
    >"$prefix/lib/cmake/agenthost/agenthost-config-version.cmake"
