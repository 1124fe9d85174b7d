#!/usr/bin/env bash
# The header against the committed one, by abidiff (Debian: abigail-tools): the layout of every struct and the signature of every
# function, as a compiler saw them. Ends with `abidiff: N passed, M failed`; says so when abidiff is not on this machine.
# `abidiff.sh update` commits what is there now.
set -euo pipefail
cd "$(dirname "$0")/../.."
committed=tests/abi/header.abi out=.build/abi header=include/agenthost.h
mkdir -p "$out"
if ! command -v abidiff >/dev/null; then
    echo "abidiff is not on this machine: the header was not compared by it (Debian: abigail-tools)"
    exit 0
fi

# A variable of every struct of the header and a pointer to every function of it: what a program sees of them, as debug information.
{
    echo '#include <agenthost.h>'
    grep -oE '^typedef struct agenthost_[a-z0-9_]+ \{' "$header" | awk '{ print $3 " of_" $3 ";" }'
    grep -oE '\bagenthost_[a-z0-9_]+\(' "$header" | tr -d '(' | sort -u | grep -vE '^agenthost_(init|text)$' |
        awk '{ print "__typeof__(" $1 ") *to_" $1 ";" }'
} >"$out/surface.c"
gcc -std=gnu11 -g -shared -fPIC -Iinclude "$out/surface.c" -o "$out/surface.so"
if [ "${1:-}" = update ]; then
    abidw --no-show-locs --no-corpus-path --no-comp-dir-path "$out/surface.so" >"$committed"
    exit 0
fi
# Additions are no reason to fail.
if abidiff --no-added-syms "$committed" "$out/surface.so" >"$out/abidiff.log"; then
    echo "abidiff: 1 passed, 0 failed"
else
    cat "$out/abidiff.log"
    echo "abidiff: 0 passed, 1 failed"
    exit 1
fi
