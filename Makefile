SHELL := /bin/bash
.DEFAULT_GOAL := help

# Flags for the command behind a target: make run ARGS="--listen 127.0.0.1:0", make test ARGS="-run TestKeys".
ARGS ?=
FUZZTIME ?= 30s

# The packages of one run of the tests: make test PKG=./internal/desk/request.
PKG ?=
export PKG

# What a change most often breaks: the rules of imports and of the schema, authorisation, operations, and both APIs with their goldens.
QUICK := ./policies ./authz ./ent/schema ./internal/test/testkit ./internal/op ./internal/desk/request ./internal/test/apitest/doors ./rest ./graph

# What is built in one clone serves the next one: without the path of its folder, a package is the same in each. Go's own default
# would compile everything again in a clean checkout, which took CI a third of its time.
export GOFLAGS := $(shell go env GOFLAGS) -trimpath

# Built from source at an exact version; its own major version is in its path.
LINT_VERSION := v2.15.0
LINT := .bin/golangci-lint-$(LINT_VERSION)

.PHONY: run test quick race bench lint generate check generated copysheet fuzz upgrade-test chaos soak image build help

run: build ## build and start the server; ARGS go to `atrium serve`
	exec bin/atrium serve --drain 0s $(ARGS)

test: ## vet and every test, with PostgreSQL and Redis (installed when missing); PKG=./internal/desk/request for one package; ARGS go to `go test`
	@.ci/test.sh $(ARGS)

quick: ## in a minute and a half, on SQLite alone: what a change most often breaks
	@PKG="$(QUICK)" .ci/test.sh -skip '/postgres$$' $(ARGS)

race: ## the same under the race detector
	@.ci/test.sh -race $(ARGS)

bench: ## every benchmark; ARGS go to `go test`
	@.ci/bench.sh $(ARGS)

lint: $(LINT) ## golangci-lint, built at a pinned version into .bin/
	$(LINT) run $(ARGS)

generate: ## write all generated code anew
	go generate ./...

check: ## everything a change must pass: lint, generated code, tests; ARGS go to `go test`
	@$(MAKE) --no-print-directory lint generated ARGS=
	@LINTED=1 .ci/test.sh $(ARGS)

generated:
	@.ci/generated.sh

copysheet: ## what people read, the English beside its German, as Markdown
	@node .ci/copysheet.mjs

fuzz: ## the differential test of policies (up to an hour), random workflows, then every fuzz target for FUZZTIME (30s)
	@.ci/fuzz.sh $(FUZZTIME)

upgrade-test: ## the last release and this one under load, swapped node by node; FROM=COMMIT starts from another
	@.ci/upgrade.sh $(FROM)

chaos: ## servers under load and faults, and the books after; ROUNDS=20 faults on each database, FAULT=NAME alone
	@FAULT="$(FAULT)" .ci/chaos.sh $(ROUNDS)

soak: ## what must hold of agents whatever chance does, ROUNDS=10000 times, neighbours, and KILLS=500 of nodes; ON=sqlite takes one database
	@.ci/soak.sh $(ROUNDS)

image: ## build the container image with buildah, and start it once
	@.ci/image.sh $(ARGS)

build: ## build bin/atrium
	go build -ldflags=-s -o bin/atrium ./cmd/atrium

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(LINT):
	GOBIN=$(CURDIR)/.bin go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)
	mv .bin/golangci-lint $@
