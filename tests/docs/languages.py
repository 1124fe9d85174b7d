"""How the blocks of each language are run. Each function takes all blocks of its language, compiles or checks them together where
that saves time, and gives what is wrong with each: a text, or nothing."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from blocks import Block
from registry import registry

ROOT = Path(__file__).resolve().parents[2]
PYTHON = ROOT / ".build" / "python" / "bin" / "python"
NODE_MODULES = ROOT / "bindings" / "node" / "node_modules"
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
# Far more than any block takes: a block that hangs ends all the same.
SECONDS = 600

Wrong = str | None


class Folders:
    """The folders that blocks run in: empty at first, one for each section of a page, so that what a section's shell block
    installs is there for the section's code."""

    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch
        self._made: dict[tuple[Path, str], Path] = {}

    def of(self, block: Block) -> Path:
        """The folder of the block's section."""
        key = (block.page, block.section)
        if key not in self._made:
            self._made[key] = self.scratch / f"section-{len(self._made)}"
            self._made[key].mkdir()
        return self._made[key]

    def new(self, name: str) -> Path:
        """A folder for what is compiled."""
        folder = self.scratch / name
        folder.mkdir()
        return folder


def run(
    command: Sequence[str | Path], cwd: Path, *, silent: bool = False, given: str = "", env: dict[str, str] | None = None
) -> tuple[Wrong, str]:
    """Runs a command: what is wrong, and its standard output. A `silent` one has nothing to say on standard error."""
    try:
        done = subprocess.run(
            command, cwd=cwd, input=given, env=env, check=False, text=True, timeout=SECONDS, capture_output=True
        )
    except subprocess.TimeoutExpired:
        return f"still running after {SECONDS} s", ""
    if done.returncode == 0 and not (silent and done.stderr):
        return None, done.stdout
    return f"exit status {done.returncode}\n{done.stdout}{done.stderr}", done.stdout


def c(blocks: list[Block], folders: Folders) -> Iterator[Wrong]:
    yield from _compiled(blocks, folders, "c", ["cc", "-std=c99", "-pedantic"])


def cpp(blocks: list[Block], folders: Folders) -> Iterator[Wrong]:
    yield from _compiled(blocks, folders, "cpp", ["c++", "-std=c++17", "-pedantic"])


def _compiled(blocks: list[Block], folders: Folders, ending: str, compiler: list[str]) -> Iterator[Wrong]:
    built = folders.new(ending)
    for number, block in enumerate(blocks):
        source, program = built / f"{number}.{ending}", built / str(number)
        source.write_text(block.program, encoding="utf-8")
        flags: list[str | Path] = [
            "-Wall",
            "-Wextra",
            "-Werror",
            "-I",
            ROOT / "include",
            source,
            TARGET / "release" / "libagenthost.a",
        ]
        wrong, _ = run([*compiler, *flags, "-o", program, "-lpthread", "-lm", "-ldl"], built)
        yield wrong or run([program], folders.of(block))[0]


def rust(blocks: list[Block], folders: Folders) -> Iterator[Wrong]:
    # All blocks as one page of documentation tests, which rustdoc compiles at once. The library is the one that `build.sh test`
    # has tested, with the packages and features that it names: nothing is compiled for these blocks alone.
    packages = ["-p", "agenthost", "-p", "agenthost-node", "--features", "agenthost/schema"]
    build = ["cargo", "build", "--quiet", *packages, "--example", "durable"]
    wrong, messages = run([*build, "--message-format=json"], ROOT)
    if wrong:
        yield from [wrong] * len(blocks)
        return
    library = next(
        Path(name)
        for message in map(json.loads, messages.splitlines())
        if message["reason"] == "compiler-artifact" and message["target"]["name"] == "agenthost"
        for name in message["filenames"]
        if name.endswith(".rlib")
    )
    page = folders.new("rust") / "blocks.md"
    lines: list[str] = []
    places: list[int] = []
    for block in blocks:
        places.append(len(lines) + 1)
        lines += ["```rust", *block.program.splitlines(), "```", ""]
    page.write_text("\n".join(lines), encoding="utf-8")
    dependencies = library.parent if library.parent.name == "deps" else library.parent / "deps"
    flags = ["--edition", "2024", "--extern", f"agenthost={library}", "-L", f"dependency={dependencies}"]
    all_wrong, output = run(["rustdoc", "--test", *flags, page], page.parent)
    for place in places:
        yield None if re.search(rf"^test .*\(line {place}\).* ok$", output, flags=re.MULTILINE) else all_wrong or "not run"


def python(blocks: list[Block], folders: Folders) -> Iterator[Wrong]:
    written = folders.new("python")
    files = _written(blocks, written, lambda number, _: f"block_{number}.py")
    typed: list[str | Path] = [
        "mypy",
        "--strict",
        "--config-file=",
        "--no-error-summary",
        "--cache-dir",
        folders.scratch / "mypy",
        written,
    ]
    _, errors = run([PYTHON, "-m", *typed], written)
    for block, file in zip(blocks, files, strict=True):
        folder = folders.of(block)
        installed = folder / "venv" / "bin" / "python"
        wrong = "\n".join(line for line in errors.splitlines() if file.name in line)
        interpreter = installed if installed.exists() else PYTHON
        yield wrong or run([interpreter, "-I", "-X", "dev", "-W", "error", file], folder, silent=True)[0]


def node(blocks: list[Block], folders: Folders) -> Iterator[Wrong]:
    written = folders.new("node")
    (written / "node_modules").symlink_to(NODE_MODULES)
    files = _written(blocks, written, lambda number, block: f"block{number}.{'mts' if block.language == 'ts' else 'mjs'}")
    options = {"strict": True, "allowJs": True, "checkJs": True, "module": "nodenext", "target": "es2022", "outDir": "out"}
    options |= {"lib": ["es2023", "esnext.disposable"], "types": ["node"]}
    (written / "tsconfig.json").write_text(json.dumps({"compilerOptions": options, "files": [file.name for file in files]}))
    _, errors = run([NODE_MODULES / ".bin" / "tsc", "-p", "."], written)
    for block, file in zip(blocks, files, strict=True):
        folder = folders.of(block)
        if not (folder / "node_modules").exists():
            (folder / "node_modules").symlink_to(NODE_MODULES)
        script = written / "out" / file.with_suffix(".mjs").name
        wrong = "\n".join(line for line in errors.splitlines() if line.startswith(file.name))
        yield wrong or run(["node", shutil.copy(script, folder)], folder)[0]


def _written(blocks: list[Block], folder: Path, name: Callable[[int, Block], str]) -> list[Path]:
    files = []
    for number, block in enumerate(blocks):
        files.append(folder / name(number, block))
        files[-1].write_text(block.program, encoding="utf-8")
    return files


def sql(blocks: list[Block], folders: Folders) -> Iterator[Wrong]:
    """Against a file of durable runs that was just made, by another SQLite than the library's."""
    made = 'import agenthost; agenthost.Host.open("sqlite:runs.db").close()'
    script = 'import sqlite3, sys; sqlite3.connect("runs.db").executescript(sys.stdin.read())'
    for block in blocks:
        folder = folders.of(block)
        wrong = run([PYTHON, "-I", "-c", made], folder)[0]
        yield wrong or run([sys.executable, "-c", script], folder, given=block.program)[0]


def shell(blocks: list[Block], folders: Folders) -> Iterator[Wrong]:
    """In the repository, or (`new-folder`, says the fence) in an empty folder, where `pip` and `npm` find what was built here."""
    with ExitStack() as stack:
        away: dict[str, str] | None = None
        for block in blocks:
            script = ["bash", "-euo", "pipefail", "-c", block.program]
            if "new-folder" not in block.words:
                yield run(script, ROOT)[0]
                continue
            away = away or _packages(folders, stack)
            folder = folders.of(block)
            wrong = None
            if "pip " in block.program:
                wrong = run([sys.executable, "-m", "venv", folder / "venv"], folder)[0]
            path = f"{folder / 'venv' / 'bin'}:{os.environ['PATH']}"
            yield wrong or run(script, folder, env=os.environ | away | {"PATH": path})[0]


def _packages(folders: Folders, stack: ExitStack) -> dict[str, str]:
    packed = folders.new("tarballs")
    wrong, names = run(["node", ROOT / "bindings" / "node" / "scripts" / "pack.mjs", packed], ROOT)
    assert not wrong, wrong
    address = stack.enter_context(registry([Path(name) for name in names.split()]))
    return {
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(ROOT / ".build" / "wheel"),
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "npm_config_registry": address,
        "npm_config_cache": str(folders.new("npm-cache")),
        "npm_config_audit": "false",
        "npm_config_update_notifier": "false",
    }


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a member is given twice")
    return dict(pairs)


def messages(blocks: list[Block], folders: Folders) -> Iterator[Wrong]:
    """JSON parses. A `request` is followed by its `response` or `refusal`, which is what a host answers."""
    answers: dict[Block, Wrong] = {}
    pairs: list[tuple[Block, Block]] = []
    for block, after in zip(blocks, [*blocks[1:], None], strict=True):
        try:
            json.loads(block.program, object_pairs_hook=_once)
        except ValueError as error:
            answers[block] = str(error)
            continue
        if "request" in block.words:
            if after is None or after.section != block.section or not {"response", "refusal"} & set(after.words):
                answers[block] = "no response or refusal follows in its section"
            else:
                pairs.append((block, after))
    given = json.dumps([{"kind": after.words[0], "request": block.code, "response": after.code} for block, after in pairs])
    wrong, output = run([PYTHON, "-I", Path(__file__).with_name("messages.py")], folders.scratch, given=given)
    for (_, after), found in zip(pairs, json.loads(output) if not wrong else [wrong] * len(pairs), strict=True):
        answers.setdefault(after, found)
    answered = {after for _, after in pairs}
    for block in blocks:
        alone = {"response", "refusal"} & set(block.words) and block not in answered
        yield answers.get(block) or ("no request stands before it" if alone else None)


LANGUAGES: dict[str, Callable[[list[Block], Folders], Iterator[Wrong]]] = {
    # The shell first: what it installs is there for the code of its section.
    "sh": shell,
    "c": c,
    "cpp": cpp,
    "js": node,
    "ts": node,
    "json": messages,
    "python": python,
    "rust": rust,
    "sql": sql,
}
