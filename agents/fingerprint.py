"""The fingerprint of an agent: a hash over its options and all first-party code and data that it may run or read.

First-party code is not installed: our packages, the agent's own package, and every module outside of the standard library
and site-packages. From the module of the agent's class, all imports are followed, at the top of a file or in a function,
relative or absolute. Two ways to start a process are followed too: a string with the name of a Python file in the module's
folder ("serve.py"), or with the dotted name of a module ("agents.policy.serve").

Data files are all files that are not Python in the folders of a package's modules, and in their subfolders that are not
packages. For a module outside of a package, only files count whose names occur in its strings. For an installed package
whose data is read by path, its version counts.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import os
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from agents.paths import resolve_path

#: Our packages, which may be installed in site-packages themselves.
_OURS = ("agents", "teamsets", "arena", "training")
#: Modules that are part of every agent.
_COMMON = ("agents.battle.seat_battle", "agents.battle.choices", "agents.contract")
#: Modules that create agents and are not part of any.
_EXCLUDED = frozenset({"agents.registry", "agents.fingerprint"})
#: Data that only one module reads, instead of all modules in its folder; None: covered by the agent's `version`.
_READ_BY = {
    "agents.policy/shipped/": None,
    "teamsets/competitive/": "teamsets.files",
    "teamsets/validator.mjs": "teamsets.validator",
}
#: Modules that read an installed package's files by path -> the package.
_INSTALLED = {"teamsets.builder.published": "localsets"}
#: Larger files are identified by size and date: hashing a model's weights would take as long as loading them.
_HASHED_BYTES = 64 << 20

_MODULE_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+")
_NAME = re.compile(r"\w[\w./-]{0,150}")


def fingerprint(agent_class: type, options: dict[str, Any], also: Iterable[str] = (), extra: str = "") -> str:
    """Return the fingerprint of an agent class with options, 16 hex digits.

    also: further modules of the agent besides those of its class and base classes. extra: what else determines its play.
    """
    digest = hashlib.sha256(repr(sorted(options.items())).encode())
    digest.update(f"{agent_class.__module__}:{agent_class.__qualname__}".encode())
    sources = sources_of(agent_class, also)
    for label, path in sorted(sources.items()):
        digest.update(f"\n{label} {_content(path)}".encode())
    for package in (package for module, package in _INSTALLED.items() if module in sources):
        digest.update(f"\n{package} {version(package)}".encode())
    for value in options.values():
        if isinstance(value, str) and value and resolve_path(value).is_file():
            digest.update(f"\n{_content(resolve_path(value))}".encode())
    digest.update(extra.encode())
    return digest.hexdigest()[:16]


def sources_of(agent_class: type, also: Iterable[str] = ()) -> dict[str, Path]:
    """Return the first-party files that an agent class depends on: dotted module name, or "package/file" for data -> path.

    also: as for `fingerprint`.
    """
    modules = dict.fromkeys([*_COMMON, *(base.__module__ for base in agent_class.__mro__), *also])
    package = agent_class.__module__.partition(".")[0]
    return _closure(tuple(modules), "" if package == "poke_env" else package)


def files_of(module: str) -> dict[str, Path]:
    """Return the files of the user's own that a module depends on, without importing it: path below the folder from which
    it is imported -> path. Empty for our packages and installed ones."""
    own_files = {}
    for label, path in _closure((*_COMMON, module), module.partition(".")[0]).items():
        top = re.split(r"[./]", label)[0]
        if top in _OURS:
            continue
        folders = [root.parent for root in _roots(top)] if top else []
        inside = next((path.relative_to(folder) for folder in folders if path.is_relative_to(folder)), None)
        own_files[label.lstrip("/") if inside is None else inside.as_posix()] = path
    return own_files


@dataclass(frozen=True)
class _Import:
    """`import module` (names empty), or `from module import names` with `level` dots before it."""

    module: str
    names: tuple[str, ...] = ()
    level: int = 0


@dataclass
class _Facts:
    """The contents of a module. texts: its short strings. bound: name -> (import, original name) of `from … import …`."""

    imports: list[_Import] = field(default_factory=list)
    texts: set[str] = field(default_factory=set)
    bound: dict[str, tuple[_Import, str]] = field(default_factory=dict)


@cache
def _closure(start: tuple[str, ...], package_of_agent: str) -> dict[str, Path]:
    own = frozenset({*_OURS, package_of_agent})
    sources: dict[str, Path] = {}
    waiting = [module for name in start for module in _imported(_Import(name), "", own)]
    while waiting:
        module = waiting.pop()
        path = _located(module, own)
        if path is None or module in sources or module in _EXCLUDED:
            continue
        sources[module] = path
        if path.suffix == ".py":
            package = module if path.name == "__init__.py" else module.rpartition(".")[0]
            facts = _facts(path)
            for each in facts.imports:
                waiting += _imported(each, package, own)
            for text in facts.texts:
                waiting += _started(text, package, path.parent, own)
    modules = dict(sources)
    for module, path in modules.items():
        sources.update(_data_of(module, path, modules))
    return sources


def _imported(each: _Import, package: str, own: frozenset[str]) -> Iterator[str]:
    """Yield the first-party modules that an import statement in a module of `package` loads."""
    module = each.module
    if each.level:
        base = package.split(".")[: len(package.split(".")) - each.level + 1]
        module = ".".join([*base, *filter(None, [module])])
    path = _located(module, own)
    if module.partition(".")[0] not in _OURS:  # code in its packages' __init__ runs too; in ours it only collects names
        for at in range(1, module.count(".") + 1):
            yield ".".join(module.split(".")[:at])
    if not each.names:
        yield module
    for name in each.names:
        inside = f"{module}.{name}"
        if _located(inside, own) is not None:
            yield inside
        elif path is None or path.name != "__init__.py" or module.partition(".")[0] not in _OURS:
            yield module
        elif name in (bound := _facts(path).bound):
            statement, original = bound[name]
            yield from _imported(_Import(statement.module, (original,), statement.level), module, own)
        else:
            yield module


def _started(text: str, package: str, folder: Path, own: frozenset[str]) -> Iterator[str]:
    """Yield the modules that a string in a module names, as code that starts a process does."""
    if text.endswith(".py") and (folder / text).is_file():
        yield ".".join(filter(None, [package, *Path(text).with_suffix("").parts]))
    elif "." in text and _MODULE_NAME.fullmatch(text) and _located(text, own) is not None:
        yield text


def _data_of(module: str, path: Path, modules: dict[str, Path]) -> Iterator[tuple[str, Path]]:
    """Yield the data files of a module: label, path."""
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    if not package:
        for text in _facts(path).texts if path.suffix == ".py" else ():
            if not text.endswith(".py") and (path.parent / text).is_file():
                yield f"/{text}", path.parent / text
        return
    for relative, file in _data(path.parent).items():
        label = f"{package}/{relative}"
        reader = next((reader for prefix, reader in _READ_BY.items() if label.startswith(prefix)), "")
        if reader == "" or reader in modules:
            yield label, file


@cache
def _data(folder: Path) -> dict[str, Path]:
    """Return the files in a folder that are not Python or READMEs, including subfolders that are not packages."""
    data_files = {}
    for at, folders, files in os.walk(folder):
        folders[:] = [
            name
            for name in folders
            if not name.startswith((".", "__")) and not os.path.exists(os.path.join(at, name, "__init__.py"))
        ]
        for name in files:
            if not name.startswith((".", "README")) and not name.endswith((".py", ".pyc")):
                path = Path(at, name)
                data_files[path.relative_to(folder).as_posix()] = path
    return data_files


@cache
def _located(module: str, own: frozenset[str]) -> Path | None:
    """Return the file of a first-party module (a package's `__init__.py`) without importing it; None for any other."""
    top, *rest = module.split(".")
    if top in sys.stdlib_module_names or not top:
        return None
    for root in _roots(top):
        if top not in own and {"site-packages", "dist-packages"} & set(root.parts):
            return None
        path = root.joinpath(*rest)
        if (path / "__init__.py").is_file():
            return path / "__init__.py"
        if rest and path.with_name(f"{path.name}.py").is_file():
            return path.with_name(f"{path.name}.py")
        if not rest and root.is_file():
            return root
    return None


@cache
def _roots(top: str) -> tuple[Path, ...]:
    """Return the file of a top-level module, or the folders of a package."""
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):  # a module without a spec: `__main__`, or one created at run time
        file = getattr(sys.modules.get(top), "__file__", None)
        return (Path(file),) if file else ()
    if spec is None:
        return ()
    if spec.submodule_search_locations is not None:
        return tuple(Path(folder) for folder in spec.submodule_search_locations)
    return (Path(spec.origin),) if spec.has_location and spec.origin else ()


@cache
def _facts(path: Path) -> _Facts:
    """Return the imports and short strings of a Python file; empty if it cannot be parsed."""
    return _facts_in(_read(path))


@cache  # kept by `read_again`: the same text holds the same, and to parse all files takes half a second
def _facts_in(source: bytes) -> _Facts:
    facts = _Facts()
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return facts
    waiting: list[Any] = [tree]
    while waiting:  # not `ast.walk`, which takes three times as long
        node = waiting.pop()
        kind = type(node)
        if kind is ast.Constant:
            if isinstance(node.value, str) and _NAME.fullmatch(node.value):
                facts.texts.add(node.value)
        elif kind is ast.ImportFrom:
            statement = _Import(node.module or "", tuple(alias.name for alias in node.names), node.level)
            facts.imports.append(statement)
            facts.bound.update({alias.asname or alias.name: (statement, alias.name) for alias in node.names})
        elif kind is ast.Import:
            facts.imports += [_Import(alias.name) for alias in node.names]
        else:
            for value in vars(node).values():
                if isinstance(value, list):
                    waiting += [each for each in value if isinstance(each, ast.AST)]
                elif isinstance(value, ast.AST) and value._fields:  # nodes without fields are `ast.Load` and the like
                    waiting.append(value)
    return facts


@cache
def _content(path: Path) -> str:
    """Return a text that identifies a file's content."""
    state = path.stat()
    if state.st_size > _HASHED_BYTES:
        return f"{state.st_size} {state.st_mtime_ns}"
    return hashlib.sha256(_read(path)).hexdigest()


def _read(path: Path) -> bytes:
    return path.read_bytes()


def read_again() -> None:
    """Clear the caches. Called at the start of a run: in a notebook an agent's file may have been edited since the last
    run, and the workers import its current version."""
    for cached in (_closure, _data, _located, _roots, _facts, _content):
        cached.cache_clear()
