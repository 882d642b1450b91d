"""Take out of the downloaded wheels what Rondo builds and runs with, and nothing else.

    unpack_wheels.py libtorch WHEELS DEPS
    unpack_wheels.py charts   WHEELS DEPS

WHEELS is a folder that holds the wheels of tools/deps-<component>.txt. DEPS receives
    libtorch/torch/{lib,include}     headers and CPU libraries; the CUDA ones would be 540 MB more
    libtorch/nvidia/cu13/lib         two small libraries that libtorch_cpu.so cannot load without
    charts/vega-bundle.js            the script that draws the charts
    <component>/licenses/            what has to travel with copies of the above
The folders below libtorch keep their places relative to each other, because the libraries find one
another through RPATHs such as $ORIGIN/../../nvidia/cu13/lib.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

LIBTORCH = re.compile(
    r"torch/include/"
    r"|torch/lib/(libtorch_cpu|libc10|libgomp)\.so"
    r"|nvidia/cu13/lib/(libcudart|libcupti)\.so")
LICENSES = re.compile(r"[^/]+\.dist-info/(licenses/|LICENSE|NOTICE)")


def extract(wheels, pattern, target):
    for wheel in sorted(wheels.glob("*.whl")):
        with zipfile.ZipFile(wheel) as archive:
            for member in archive.namelist():
                if LICENSES.match(member):
                    archive.extract(member, target / "licenses")
                elif pattern.match(member):
                    archive.extract(member, target)


def write_chart_bundle(wheels, target):
    # The bundle sits inside a native module, which has to be unpacked to be asked for it.
    with tempfile.TemporaryDirectory() as module:
        extract(wheels, re.compile("vl_convert/"), pathlib.Path(module))
        shutil.copytree(pathlib.Path(module) / "licenses", target / "licenses")
        code = "import sys, vl_convert; sys.stdout.write(vl_convert.javascript_bundle())"
        script = subprocess.run(
            [sys.executable, "-X", "utf8", "-c", code], env={"PYTHONPATH": module},
            stdout=subprocess.PIPE, check=True).stdout
    (target / "vega-bundle.js").write_bytes(script)


def main():
    component, wheels, deps = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    # Unpacked beside its place and renamed last, so that an interrupted run leaves nothing half done.
    fresh, target = deps / f"{component}.new", deps / component
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    if component == "libtorch":
        extract(wheels, LIBTORCH, fresh)
    else:
        write_chart_bundle(wheels, fresh)
    shutil.rmtree(target, ignore_errors=True)
    fresh.rename(target)


if __name__ == "__main__":
    main()
