"""Builds the wheel with only the standard library: `npm run build:python`, or pip by pyproject.toml.

    python3 python/build_wheel.py OUT_FOLDER

It contains the package, dist/ (the page) and dist-cli/ (the command line, for machines with Node). The same input gives
the same bytes.
"""

import base64
import hashlib
import json
import os
import sys
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
OLDEST_PYTHON = "3.9"
# The oldest time that a zip can store.
DATE = (1980, 1, 1, 0, 0, 0)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """PEP 517 hook: writes the wheel into the folder and returns its name."""
    package = json.loads((ROOT / "package.json").read_text(encoding="utf-8"))
    version = package["version"]
    info = f"vramscope-{version}.dist-info"
    files = dict(package_files(version))
    files[f"{info}/METADATA"] = metadata(package).encode()
    files[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: vramscope\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files[f"{info}/entry_points.txt"] = b"[console_scripts]\nvramscope = vramscope.__main__:main\n"
    files[f"{info}/licenses/LICENSE"] = (ROOT / "LICENSE").read_bytes()
    files[f"{info}/RECORD"] = record(files, f"{info}/RECORD").encode()
    name = f"vramscope-{version}-py3-none-any.whl"
    os.makedirs(wheel_directory, exist_ok=True)
    with zipfile.ZipFile(Path(wheel_directory, name), "w") as wheel:
        for path, content in files.items():
            entry = zipfile.ZipInfo(path, DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            wheel.writestr(entry, content, compresslevel=9)
    return name


def build_sdist(sdist_directory, config_settings=None):
    raise SystemExit("vramscope is published as a wheel: its source needs Node to build.")


def package_files(version):
    """(path in the wheel, content), sorted by name."""
    for path in sorted((HERE / "vramscope").glob("*.py")):
        yield f"vramscope/{path.name}", path.read_bytes()
    yield "vramscope/VERSION", f"{version}\n".encode()
    for name in ("dist", "dist-cli"):
        folder = ROOT / name
        if not folder.is_dir():
            raise SystemExit(f"{name}/ is not built: run `npm run build` first")
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                yield f"vramscope/{name}/{path.relative_to(folder).as_posix()}", path.read_bytes()


def metadata(package):
    head = {
        "Metadata-Version": "2.1",
        "Name": "vramscope",
        "Version": package["version"],
        "Summary": package["description"],
        "License": package["license"],
        "Requires-Python": f">={OLDEST_PYTHON}",
        "Description-Content-Type": "text/markdown",
    }
    return "".join(f"{name}: {value}\n" for name, value in head.items()) + "\n" + (HERE / "README.md").read_text(encoding="utf-8")


def record(files, own_path):
    """The hash of every file, which installers check; its own line has none."""
    def line(path, content):
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        return f"{path},sha256={digest},{len(content)}\n"
    return "".join(line(path, content) for path, content in files.items()) + f"{own_path},,\n"


if __name__ == "__main__":
    folder = sys.argv[1]
    print(Path(folder, build_wheel(folder)))
