# SPDX-License-Identifier: MIT
# A thin front on meson; the real build is in meson.build.

PREFIX = /usr/local
FUZZ_SECONDS = 60
export FUZZ_SECONDS

all:
	@tools/build build

deps:
	@tools/install-deps

run: deps all
	@if [ -x tools/demo ]; then tools/demo; else echo "nothing to show yet"; fi

check: deps
	@tools/check

bench: deps
	@tools/build build-release --buildtype=release -Dwerror=false
	@if [ -x tests/bench/run ]; then tests/bench/run build-release; else echo "no benchmarks yet"; fi

fuzz: deps
	@tools/fuzz

soak: deps all
	@if [ -x tests/soak/run ]; then tests/soak/run build; else echo "no soak test yet"; fi

format:
	@tools/check-format --fix

lint: deps
	@tools/lint

install:
	@tools/build build-release --buildtype=release -Dwerror=false --prefix=$(PREFIX)
	@meson install -C build-release --no-rebuild

clean:
	rm -rf build build-asan build-fuzz build-release

.PHONY: all deps run check bench fuzz soak format lint install clean
