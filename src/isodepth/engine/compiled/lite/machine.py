"""LLVM itself: text to machine code, and machine code to something that can be called."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import llvmlite
import llvmlite.binding as llvm

from isodepth.engine.compiled.lite.module import ENTRY

#: What an entry is for ctypes, which lets other threads run while it is called.
_ENTRY = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_char_p)
# Code stays where it is as long as the process lives.
_engines: list[Any] = []


@cache
def _target() -> tuple[Any, str]:
    """The machine to write code for, and a description of it and of LLVM."""
    _initialize()
    triple = llvm.get_process_triple()
    target = llvm.Target.from_triple(triple)
    cpu, features = llvm.get_host_cpu_name(), _features()
    options = {
        "cpu": cpu,
        "features": features,
        "opt": 3,
        # What LLVM asks of code that is run where it is made.
        "reloc": "static" if target.name.startswith("x86") else "default",
        "codemodel": "jitdefault",
        "jit": True,
    }
    about = f"{triple} {cpu} {features} {llvmlite.__version__} {llvm.llvm_version_info}"
    return target.create_target_machine(**options), about


def _initialize() -> None:
    try:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
    except RuntimeError:
        # Later versions do it by themselves, and refuse to do it again.
        pass


def _features() -> str:
    try:
        return llvm.get_host_cpu_features().flatten()  # type: ignore[no-any-return]
    except RuntimeError:
        return ""


def machine_description() -> str:
    """What machine code depends on besides the text."""
    return _target()[1]


def machine_code(text: str) -> bytes:
    """The object file of a text, optimized for this machine."""
    machine, _ = _target()
    module = llvm.parse_assembly(text)
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    module.verify()
    tuning = llvm.create_pipeline_tuning_options(speed_level=2)
    tuning.loop_vectorization = True
    tuning.slp_vectorization = True
    builder = llvm.create_pass_builder(machine, tuning)
    builder.getModulePassManager().run(module, builder)
    return machine.emit_object(module)  # type: ignore[no-any-return]


def loaded_entry(code: bytes) -> Any:
    """The entry of an object file, ready to be called with rows of bytes."""
    machine, _ = _target()
    nothing = llvm.parse_assembly("")
    nothing.triple = machine.triple
    engine = llvm.create_mcjit_compiler(nothing, machine)
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    _engines.append(engine)
    return _ENTRY(engine.get_function_address(ENTRY))
