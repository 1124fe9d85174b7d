"""Finds import cycles between files, and imports between the core's modules that run against their reading order.

An import of a name that a module only re-exports counts as an import of the file that defines it. Tests are left out: they may see
everything. Prints each cycle; exit status 1 when there is one.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

# The reading order of src/lib.rs: a module imports only what stands before it.
ORDER = ["protocol", "service", "dispatch", "host", "client", "store", "runs", "schema", "binding", "capi"]
Graph = dict[str, set[str]]


def tracked(*patterns: str) -> list[str]:
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns], capture_output=True, text=True, check=True)
    return [name for name in listed.stdout.splitlines() if Path(name).exists()]


class Crate:
    """The modules of one Rust crate, by their paths: ("host", "call") for src/host/call.rs."""

    def __init__(self, root: str) -> None:
        self.files: dict[tuple[str, ...], str] = {}
        self.text: dict[tuple[str, ...], str] = {}
        self.exports: dict[tuple[str, ...], dict[str, tuple[str, ...]]] = {}
        for name in tracked(f"{root}/src/*.rs" if root else "src/*.rs"):
            parts = PurePosixPath(name).relative_to(PurePosixPath(root) / "src").with_suffix("").parts
            module = parts[:-1] if parts[-1] in ("mod", "lib", "main") else parts
            if "tests" in module or "model" in module:
                continue
            self.files[module] = name
            self.text[module] = without_tests(Path(name).read_text())
        for module, text in self.text.items():
            self.exports[module] = {}
            for path, alias in uses(text, public=True):
                self.exports[module][alias] = self.absolute(module, path)

    def absolute(self, module: tuple[str, ...], path: list[str]) -> tuple[str, ...]:
        at, rest = list(module), list(path)
        if rest[0] == "crate":
            at, rest = [], rest[1:]
        while rest and rest[0] in ("self", "super"):
            if rest.pop(0) == "super":
                at = at[:-1]
        return (*at, *rest)

    def defining(self, path: tuple[str, ...], depth: int = 0) -> tuple[str, ...] | None:
        """The module that defines what a path names."""
        module: tuple[str, ...] = ()
        for segment in path:
            if (*module, segment) in self.files:
                module = (*module, segment)
            elif segment in self.exports.get(module, {}) and depth < 8:
                rest = path[len(module) + 1 :]
                return self.defining((*self.exports[module][segment], *rest), depth + 1)
            else:
                break
        return module if module in self.files else None

    def graph(self) -> Graph:
        graph: Graph = {}
        for module, text in self.text.items():
            edges = graph.setdefault(self.files[module], set())
            private = [path for path, _ in uses(text, public=False)]
            inline = [match[0].split("::") for match in re.finditer(r"\b(?:crate|super|self)(?:::\w+)+", without_uses(text))]
            for path in private + inline:
                absolute = self.absolute(module, path)
                # `use child::Thing` in a module's own file.
                if path[0] not in ("crate", "super", "self"):
                    absolute = (*module, *path)
                    if (*module, path[0]) not in self.files:
                        continue
                found = self.defining(absolute)
                if found is not None and found != module:
                    edges.add(self.files[found])
        return graph


def without_tests(text: str) -> str:
    text = re.sub(r"//[^\n]*", "", text)
    return re.split(r"#\[cfg\(test\)\]\s*mod \w+ \{", text)[0]


USE = re.compile(r"^[ \t]*(pub(?:\([^)]*\))? )?use ([^;]+);", re.M)


def without_uses(text: str) -> str:
    return USE.sub("", text)


def uses(text: str, *, public: bool) -> Iterator[tuple[list[str], str]]:
    for match in USE.finditer(text):
        if bool(match[1]) == public:
            yield from expand([], re.sub(r"\s+", " ", match[2]).strip())


def expand(prefix: list[str], tree: str) -> Iterator[tuple[list[str], str]]:
    if tree.endswith("}") and "{" in tree:
        head, _, inner = tree.partition("{")
        path = prefix + [part for part in head.strip().split("::") if part]
        depth, start = 0, 0
        inner = inner[:-1] + ","
        for at, letter in enumerate(inner):
            depth += (letter == "{") - (letter == "}")
            if letter == "," and depth == 0:
                if item := inner[start:at].strip():
                    yield from expand(path, item)
                start = at + 1
        return
    name, _, alias = tree.partition(" as ")
    path = prefix + name.split("::")
    if path[-1] == "self":
        path = path[:-1]
    yield path, alias.strip() or path[-1]


def python_graph(root: str) -> Graph:
    files = {PurePosixPath(name).stem: name for name in tracked(f"{root}/*.py")}
    graph: Graph = {name: set() for name in files.values()}
    for name in files.values():
        for node in ast.walk(ast.parse(Path(name).read_text())):
            if isinstance(node, ast.ImportFrom) and (node.level == 1 or (node.module or "").startswith("agenthost")):
                module = (node.module or "").removeprefix("agenthost").lstrip(".")
                for found in [module] if module else [alias.name for alias in node.names]:
                    if found in files and files[found] != name:
                        graph[name].add(files[found])
    return graph


def linked_graph(names: list[str], pattern: str, folders: list[str], endings: list[str]) -> Graph:
    """Files that name each other by relative paths: JavaScript's modules, C's and C++'s headers."""
    graph: Graph = {name: set() for name in names}
    for name in names:
        for match in re.finditer(pattern, Path(name).read_text()):
            for folder in [str(PurePosixPath(name).parent), *folders]:
                for ending in endings:
                    target = (Path(folder) / (match[1] + ending)).resolve()
                    found = target.relative_to(Path.cwd()).as_posix() if target.is_relative_to(Path.cwd()) else ""
                    if found in graph and found != name:
                        graph[name].add(found)
    return graph


def cycles(graph: Graph) -> list[list[str]]:
    """The strongly connected parts of more than one file (Tarjan)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for target in sorted(graph.get(node, ())):
            if target not in index:
                visit(target)
                low[node] = min(low[node], low[target])
            elif target in stack:
                low[node] = min(low[node], index[target])
        if low[node] == index[node]:
            part = stack[stack.index(node) :]
            del stack[stack.index(node) :]
            if len(part) > 1:
                found.append(sorted(part))

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return found


def against_the_order(graph: Graph) -> list[str]:
    wrong = []
    for name, targets in graph.items():
        for target in targets:
            places = [PurePosixPath(path).with_suffix("").parts[1] for path in (name, target)]
            if all(place in ORDER for place in places) and ORDER.index(places[0]) < ORDER.index(places[1]):
                wrong.append(f"{name} imports {target}, which stands after it in the reading order")
    return sorted(wrong)


def self_test() -> None:
    assert cycles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [["a", "b", "c"]]
    assert cycles({"a": {"b"}, "b": {"c"}, "c": set()}) == []
    assert list(expand([], "super::{a::{B, C as D}, self, e}")) == [
        (["super", "a", "B"], "B"), (["super", "a", "C"], "D"), (["super"], "super"), (["super", "e"], "e"),
    ]  # fmt: skip
    assert against_the_order({"src/host/mod.rs": {"src/runs/mod.rs"}, "src/runs/mod.rs": {"src/host/mod.rs"}}) != []


def main() -> int:
    sys.setrecursionlimit(10_000)
    self_test()
    core = Crate("").graph()
    crates = [str(PurePosixPath(name).parent) for name in tracked("bindings/*/Cargo.toml")]
    graphs = [core, *(Crate(root).graph() for root in crates if Path(root, "src").is_dir()), python_graph("bindings/python/python/agenthost")]
    graphs.append(linked_graph(tracked("bindings/node/package/*.js", "bindings/node/package/*.mjs"), r"""(?:require\(|from )['"](\./[^'"]+|\.\./[^'"]+)['"]""", [], ["", ".js", ".mjs"]))
    graphs.append(linked_graph(tracked("include/*.h", "include/*.hpp"), r'#\s*include\s*[<"]([^>"]+)[>"]', ["include"], [""]))
    assert all(graphs), "a language without files was looked at"
    wrong = ["a cycle: " + " <-> ".join(cycle) for graph in graphs for cycle in cycles(graph)] + against_the_order(core)
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
