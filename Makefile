# Targets for people and CI. `make help` lists them.
.DEFAULT_GOAL := help
GO ?= go
PORT ?= 8080

.PHONY: help run build test check lint generate verify bench fuzz

help: ## list the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

run: build ## serve this repository, and print how to try it
	bin/ctxd serve --port $(PORT)

build: ## build bin/ctxd
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/ctxd ./cmd/ctxd

test: ## run every suite, with a table of the time that each took
	scripts/test all

check: ## run what is quick, for daily work
	scripts/test check

lint: ## run the linters, pinned in tools/lint/go.mod
	$(GO) tool -modfile=tools/lint/go.mod golangci-lint run

generate: ## regenerate everything from api/ and schemas/
	$(GO) generate ./...

verify: ## prove that what is generated is what is committed, and that the gates can fail
	$(GO) test -count=1 ./internal/repotest ./tools/...

bench: ## measure, as ratios against a floor in the same run
	$(GO) test -run '^$$' -bench . -benchtime 200x ./cmd/ctxd ./internal/app ./internal/eventlog ./internal/revision ./internal/watch ./internal/workspace

fuzz: ## fuzz every target for a while (FUZZTIME=30s)
	scripts/fuzz $(or $(FUZZTIME),30s)
