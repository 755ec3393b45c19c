#!/usr/bin/env bash
# Run tests with the core built for a sanitizer: sanitized.sh address,undefined .venv/bin/python tests/core_kernels
#
# The package is copied to a build folder of its own, and tested there instead of in src/. Python itself is
# not built for the sanitizer, so its run-time library is loaded first (LD_PRELOAD). What Python keeps until
# the end would be reported as leaks: they are not looked for, but nanobind reports objects that are left.
# With -O3 or full debug information, gcc needs several minutes for one file of the core. -g1 has the line
# numbers of reports.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
sanitizer=$1 python=$2
shift 2
bin=$(dirname "$python")
build=build/sanitized-${sanitizer%%,*}
site=$PWD/$build/site
compiler=${CXX:-c++}

mkdir -p "$build"
"$bin/cmake" -S . -B "$build" -G Ninja -DCMAKE_MAKE_PROGRAM="$bin/ninja" -DPython_EXECUTABLE="$python" \
    -DCMAKE_BUILD_TYPE=Release -DISODEPTH_SETS=native \
    -DISODEPTH_SANITIZE="-fsanitize=$sanitizer;-fno-omit-frame-pointer;-O1;-g1" \
    > "$build/configure.log"
"$bin/cmake" --build "$build"
rm -rf "$site"
mkdir "$site"
cp -r src/isodepth "$site"
rm -f "$site"/isodepth/_core/*.so
"$bin/cmake" --install "$build" --prefix "$site" > /dev/null

export LD_PRELOAD
run=()
if [[ $sanitizer == thread ]]; then
    LD_PRELOAD=$("$compiler" -print-file-name=libtsan.so)
    export TSAN_OPTIONS=halt_on_error=1:suppressions=$PWD/.ci/thread_suppressions.txt
    run=(setarch -R)  # its shadow memory has fixed addresses
    set -- "$@" -k "not fork"  # it cannot follow threads that are started after a fork
else
    LD_PRELOAD="$("$compiler" -print-file-name=libasan.so) $("$compiler" -print-file-name=libubsan.so)"
    export ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=1
    export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
fi
PYTHONMALLOC=malloc "${run[@]}" "$python" -m pytest -q -p no:xdist -p no:cacheprovider \
    -o "pythonpath=$site tests ." "$@"
