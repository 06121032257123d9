"""Build the kernels: `python -m bpe.kernels.build` writes the files of bpe/kernels/built/. Needs numba.

numba compiles the sources, LLVM links and optimises them, and the result is written as bitcode: one file per
group of kernels, without a call to anything outside, for no machine in particular. llvmlite makes machine code
of it on the reader's machine (loader.py), where numba is not needed.

Each kernel becomes a plain C function of one pointer, to a table of the addresses and sizes of its arrays: naming
forty of them one by one costs 8 microseconds a call. An int64 comes back.
Beside the bitcode stands `kernels.json`: the names of all kernels and how many arrays each takes, the
versions that built it, and a digest of the sources, so that a test can tell whether they have changed since.
"""

from __future__ import annotations

import os

# Before numba is imported: no instruction that only some machines have.
os.environ["NUMBA_CPU_NAME"] = "generic"
os.environ["NUMBA_CPU_FEATURES"] = ""

import importlib
import json
from pathlib import Path
from typing import Any

import llvmlite
import llvmlite.binding as llvm
import numba
import regex
import tiktoken
from numba import cfunc, types

from bpe.kernels.classes import PACKED_TABLES, pack_tables
from bpe.kernels.loader import SOURCES
from bpe.kernels.source import sources_digest
from bpe.kernels.source.declare import KERNELS

HERE = Path(__file__).parent
BUILT = HERE / "built"


def main(folder: Path = BUILT) -> None:
    """Write all files to a folder."""
    folder.mkdir(exist_ok=True)
    index: dict[str, Any] = {
        "built_with": {"numba": numba.__version__, "llvmlite": llvmlite.__version__},
        "sources": sources_digest(),
        "groups": {},
    }
    for group, modules in SOURCES.items():
        names = []
        for module in modules:
            importlib.import_module(f"bpe.kernels.source.{module}")
            names += [name for name, k in KERNELS.items() if k.py_func.__module__.endswith(f".source.{module}")]
        linked, arrays = _link(names)
        bitcode = linked.as_bitcode()
        (folder / f"{group}.bc").write_bytes(bitcode)
        index["groups"][group] = arrays
        print(f"{group}: {', '.join(names)}; {len(bitcode):,} bytes")
    (folder / "kernels.json").write_text(json.dumps(index, indent=1) + "\n")
    tables = pack_tables()
    (folder / PACKED_TABLES.name).write_bytes(tables)
    print(f"classes: regex {regex.__version__}, tiktoken {tiktoken.__version__}, {len(tables):,} bytes")


def _link(names: list[str]) -> tuple[Any, dict[str, int]]:
    """Return one module with all these kernels, and how many arrays each takes."""
    linked = None
    arrays: dict[str, int] = {}
    for name in names:
        entry, arrays[name] = _c_function(name)
        module = llvm.parse_assembly(entry._library.get_llvm_str())
        for function in module.functions:
            if not function.is_declaration:
                function.linkage = "external" if function.name == entry._wrapper_name else "internal"
        for variable in module.global_variables:
            if not variable.is_declaration:
                variable.linkage = "internal"
        module.get_function(entry._wrapper_name).name = f"{name}_of_arrays"
        _add_entry(module, name, arrays[name])
        _optimise(module)
        if linked is None:
            linked = module
        else:
            linked.link_in(module)
    assert linked is not None
    outside = [f.name for f in linked.functions if f.is_declaration and not f.name.startswith("llvm.")]
    outside = [name for name in outside if name not in ("memset", "memcpy", "memmove")]
    if outside:
        raise RuntimeError(f"kernels must call nothing outside themselves, but call {', '.join(outside)}")
    return linked, arrays


def _c_function(name: str) -> tuple[Any, int]:
    """Return the kernel as a C function. numba reads the number of parameters from source, so there is some."""
    compiled = KERNELS[name]
    arrays = compiled.nopython_signatures[0].args
    parameters = ", ".join(f"data{i}, size{i}" for i in range(len(arrays)))
    passed = ", ".join(f"carray(data{i}, (size{i},))" for i in range(len(arrays)))
    names: dict[str, Any] = {"kernel": compiled, "carray": vars(numba)["carray"]}
    exec(f"def bpe_{name}({parameters}):\n    return kernel({passed})\n", names)
    pointer: Any = types.CPointer
    c_types = [part for array in arrays for part in (pointer(array.dtype), types.int64)]
    return cfunc(types.int64(*c_types), error_model="numpy")(names[f"bpe_{name}"]), len(arrays)


def _add_entry(module: Any, name: str, num_arrays: int) -> None:
    """Add what is called from outside: a function of one pointer, to the addresses and sizes of all arrays."""
    lines = [f"define i64 @bpe_{name}(ptr %table) {{"]
    types = [part for _ in range(num_arrays) for part in ("ptr", "i64")]
    for i, type_ in enumerate(types):
        lines.append(f"  %place{i} = getelementptr i64, ptr %table, i64 {i}")
        lines.append(f"  %value{i} = load {type_}, ptr %place{i}")
    passed = ", ".join(f"{type_} %value{i}" for i, type_ in enumerate(types))
    lines += [f"  %result = call i64 @{name}_of_arrays({passed})", "  ret i64 %result", "}"]
    lines.append(f"declare i64 @{name}_of_arrays({', '.join(types)})")
    entry = llvm.parse_assembly("\n".join(lines))
    entry.triple = module.triple
    entry.data_layout = module.data_layout
    module.link_in(entry)
    module.get_function(f"{name}_of_arrays").linkage = "internal"


def _optimise(module: Any) -> None:
    machine = llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(opt=3)
    options = llvm.create_pipeline_tuning_options(3)
    passes = llvm.create_pass_builder(machine, options).getModulePassManager()
    passes.run(module, llvm.create_pass_builder(machine, options))


if __name__ == "__main__":
    main()
