# Commands of the project. `make run` and `make test` need nothing but Node with npm, make and git.
SHELL := /bin/bash
.DEFAULT_GOAL := help

NODE := npx --no-install node

.PHONY: help
help: ## list the commands
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sort | awk -F ':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

# npm writes this file last, so it is as old as the installation.
node_modules/.package-lock.json: package.json package-lock.json
	npm ci --no-audit --no-fund --loglevel=error
	@touch $@

.PHONY: install
install: node_modules/.package-lock.json ## install the dependencies

dist/.built: node_modules/.package-lock.json tsconfig.json tsconfig.build.json $(shell find src controllers -name '*.ts')
	npm run --silent build
	@touch $@

.PHONY: build
build: dist/.built ## compile to dist/

.PHONY: run
run: build ## start the standalone sample of examples/standalone
	@npx --no-install tsx hack/generate-example-certificate.ts
	@$(NODE) --enable-source-maps dist/src/main.js run --config examples/standalone.yaml --source examples/standalone

.PHONY: test
test: install ## lint, types, boundaries, dead code, all tests without a cluster, coverage
	@npx --no-install tsx hack/test.ts

.PHONY: format
format: install ## format every file
	@npm run --silent format

.PHONY: measure-scale
measure-scale: build ## time to serve 2,000 routes from files, and one change
	@npx --no-install tsx hack/measure-scale.ts

include $(wildcard mk/*.mk)
