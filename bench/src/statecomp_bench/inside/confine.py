"""Giving up rights, before any tool runs: namespaces, Landlock, seccomp, limits.

Each function returns whether the kernel agreed.  Nothing here needs root, and nothing can be taken
back by the process or its children.
"""

from __future__ import annotations

import ctypes
import os
import platform
import resource
import socket
import struct
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWUSER = 0x04000000, 0x08000000, 0x10000000
CLONE_NEWPID, CLONE_NEWNET = 0x20000000, 0x40000000
PR_SET_PDEATHSIG, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 1, 22, 38
SECCOMP_MODE_FILTER = 2
SIGKILL = 9

LANDLOCK_CREATE, LANDLOCK_ADD, LANDLOCK_RESTRICT = 444, 445, 446
LANDLOCK_VERSION = 1
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
# Rights by the ABI that brought them: 1 has bits 0-12, then REFER, TRUNCATE, IOCTL_DEV.
LAST_BIT = {1: 13, 2: 14, 3: 15, 4: 15}
ALL_BITS = 16
LANDLOCK_TCP, LANDLOCK_SCOPES = 0b11, 0b11
BENEATH = 1
O_PATH = getattr(os, "O_PATH", 0)

# Of system calls: their numbers, and the machine's own name for itself in a filter.
SECCOMP_MACHINES = {"x86_64": (0xC000003E, 41), "aarch64": (0xC00000B7, 198)}
IO_URING_SETUP = 425
ALLOW, REFUSE = 0x7FFF0000, 0x00050001  # the latter: EPERM


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def enter_namespaces() -> bool:
    """A user, network, process and IPC namespace of our own; the caller must fork to be in it."""
    uid, gid = os.getuid(), os.getgid()
    flags = CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS
    if not sys.platform.startswith("linux") or _libc().unshare(flags) != 0:
        return False
    with suppress(OSError):
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
        Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")
    return True


def die_with_parent() -> None:
    if sys.platform.startswith("linux"):
        _libc().prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0)


def lock_files(writable: Sequence[str], readable: Sequence[str]) -> bool:
    """Landlock: of all files only these, and of all network nothing where the kernel can say so."""
    if not sys.platform.startswith("linux"):
        return False
    libc = _libc()
    abi = libc.syscall(LANDLOCK_CREATE, None, ctypes.c_size_t(0), LANDLOCK_VERSION)
    if abi < 1:
        return False
    files = (1 << LAST_BIT.get(abi, ALL_BITS)) - 1
    fields = (files, LANDLOCK_TCP, LANDLOCK_SCOPES)[: 1 if abi < 4 else 2 if abi < 6 else 3]
    attributes = struct.pack(f"={len(fields)}Q", *fields)
    ruleset = libc.syscall(LANDLOCK_CREATE, attributes, ctypes.c_size_t(len(attributes)), 0)
    if ruleset < 0:
        return False
    reading = READ_FILE | READ_DIR | EXECUTE
    allowed = [(name, files) for name in writable] + [(name, reading) for name in readable]
    allowed += [("/dev/null", READ_FILE | WRITE_FILE)]
    allowed += [("/dev/zero", READ_FILE), ("/dev/urandom", READ_FILE)]
    for name, rights in allowed:
        _allow(libc, ruleset, name, rights)
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    locked: bool = libc.syscall(LANDLOCK_RESTRICT, ruleset, 0) == 0
    os.close(ruleset)
    return locked


def _allow(libc: ctypes.CDLL, ruleset: int, name: str, rights: int) -> None:
    try:
        place = os.open(name, O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # what does not exist needs no right
    if not Path(name).is_dir():
        rights &= READ_FILE | WRITE_FILE | EXECUTE
    libc.syscall(LANDLOCK_ADD, ruleset, BENEATH, struct.pack("=Qi", rights, place), 0)
    os.close(place)


def lock_network() -> bool:
    """seccomp: no sockets but local ones; for kernels that give no network namespace."""
    known = SECCOMP_MACHINES.get(platform.machine())
    if known is None or not sys.platform.startswith("linux"):
        return False
    machine, socket_call = known
    load, equal, answer = 0x20, 0x15, 0x06
    program = (
        (load, 0, 0, 4),  # the machine
        (equal, 0, 6, machine),
        (load, 0, 0, 0),  # the call
        (equal, 4, 0, IO_URING_SETUP),
        (equal, 0, 2, socket_call),
        (load, 0, 0, 16),  # its first argument: the family
        (equal, 0, 1, int(socket.AF_UNIX)),
        (answer, 0, 0, ALLOW),
        (answer, 0, 0, REFUSE),
    )
    # Jumps count from the next line; the two that leave the common path are set by position here.
    lines = [list(line) for line in program]
    lines[1][2] = len(lines) - 1 - 2  # another machine: refuse
    lines[3][1] = len(lines) - 1 - 4
    lines[4][2] = len(lines) - 2 - 5  # any other call: allow
    lines[6][2] = len(lines) - 1 - 7
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *line) for line in lines))
    filter_ = struct.pack("@HP", len(lines), ctypes.addressof(code))
    libc = _libc()
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    return bool(libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, filter_, 0, 0) == 0)


def limit(seconds: int, memory_bytes: int, file_bytes: int, processes: int) -> None:
    """Limits of one tool process and what it starts."""
    for kind, most in (
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_AS, memory_bytes),
        (resource.RLIMIT_FSIZE, file_bytes),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, 256),
    ):
        with suppress(ValueError, OSError):
            resource.setrlimit(kind, (most, most))
    if processes:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NPROC, (processes, processes))
