# The short way in. Everything else is CMake: see CMakePresets.json.

BUILD := build/release
CONFIGURED := $(BUILD)/build.ninja

.PHONY: help setup build demo test clean

help:
	@echo "make setup   install the Debian packages that are missing"
	@echo "make build   build library, command line, tests and benchmarks ($(BUILD))"
	@echo "make demo    build the command line and show it at work"
	@echo "make test    build everything and run all tests"
	@echo "make clean   remove build/"

setup:
	@scripts/setup.sh

# Configured once and when the presets change. Later builds configure again by themselves when a CMake file or the list of
# sources changed.
$(CONFIGURED): CMakePresets.json | setup
	@cmake --preset release

build: $(CONFIGURED)
	@cmake --build $(BUILD)

demo: $(CONFIGURED)
	@cmake --build $(BUILD) --target cli
	@scripts/demo.sh

test: build
	@ctest --test-dir $(BUILD) --output-on-failure -j2

clean:
	@rm -rf build
