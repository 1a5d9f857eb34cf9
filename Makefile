# Namegate. `make` alone lists what there is to do.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-builtin-rules --no-print-directory
.DEFAULT_GOAL := help

# The image of build and deploy.
IMG ?= namegate:dev
# The container engine, and for a multi-arch image the platforms: PLATFORMS=linux/amd64,linux/arm64
CONTAINER_TOOL ?= docker
PLATFORMS ?=
# kubectl of the machine, else the one that the control plane brought.
KUBECTL ?= $(or $(shell command -v kubectl),bin/controlplane/kubectl)

# Tests: the race detector's flag (empty: without), more flags for go test, how long each fuzz target runs, and how often
# each benchmark.
RACE ?= -race
GOTEST ?=
FUZZTIME ?= 10s
COUNT ?= 6

export RACE GOTEST FUZZTIME

CONTROLLER_GEN := go tool controller-gen
GOLANGCI_LINT := bin/tools/golangci-lint

##@ Start here

.PHONY: help
help: ## Show this.
	@awk 'BEGIN { FS = ":.*## "; print "make TARGET [VARIABLE=value]" } \
		/^##@ / { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z][a-z0-9-]*:.*## / { printf "  %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: run
# Built first, because "go run" fails after a Ctrl-C whatever its program says.
run: ## Run a control plane, Namegate, CoreDNS and a DNS server here, until Ctrl-C.
	@go build -buildvcs=false -o bin/tools/run ./test/run
	@bin/tools/run

.PHONY: smoke
smoke: ## Do the same without a person, and check each step.
	go run ./test/run --smoke

##@ Test

.PHONY: test
test: deps ## Run all tests, with the race detector.
	test/scripts/test.sh

.PHONY: test-unit
test-unit: ## Run the tests that need no control plane.
	test/scripts/test.sh unit modules

.PHONY: test-integration
test-integration: ## Run the tests against a real API server.
	test/scripts/test.sh integration

.PHONY: test-e2e
test-e2e: deps ## Run the end-to-end tests: control plane, operator, DNS servers.
	test/scripts/test.sh e2e

.PHONY: test-soak
test-soak: ## Run what takes long: tests with the tag soak, and each fuzz target for ten minutes.
	test/scripts/soak.sh

.PHONY: fuzz
fuzz: ## Run each fuzz target for FUZZTIME (10s).
	test/scripts/fuzz.sh

.PHONY: bench
bench: controlplane ## Run the benchmarks COUNT times (6), into dist/bench.txt for benchstat.
	@mkdir -p dist
	KUBEBUILDER_ASSETS=$(CURDIR)/bin/controlplane go test -run '^$$' -bench . -benchmem -count $(COUNT) -timeout 120m ./test/bench/... | tee dist/bench.txt

##@ Change

.PHONY: generate
generate: manifests ## Generate all that is generated: code, manifests, documentation.
	$(CONTROLLER_GEN) object applyconfiguration paths=./api/...
	go run ./docs/gen

.PHONY: manifests
manifests: ## Generate CRDs, roles and webhook configurations.
	$(CONTROLLER_GEN) crd paths=./api/... output:crd:dir=config/crd/bases
	$(CONTROLLER_GEN) rbac:roleName=namegate-controller,fileName=controller_role.yaml paths=./internal/controller/... output:rbac:dir=config/rbac
	$(CONTROLLER_GEN) rbac:roleName=namegate-webhook,fileName=webhook_role.yaml paths=./webhooks/... output:rbac:dir=config/rbac
	$(CONTROLLER_GEN) webhook paths=./webhooks/... output:webhook:dir=config/webhook

.PHONY: fmt
fmt: $(GOLANGCI_LINT) ## Format the code.
	$(GOLANGCI_LINT) fmt

.PHONY: vet
vet: ## Run go vet.
	go vet -tags=soak ./...

.PHONY: lint
lint: $(GOLANGCI_LINT) ## Run golangci-lint.
	$(GOLANGCI_LINT) run ./...

.PHONY: verify
verify: $(GOLANGCI_LINT) ## Regenerate, format, vet, lint, tidy; fail on any difference from the commit.
	test/scripts/verify.sh

##@ Build

.PHONY: build
build: ## Build static binaries into bin/: namegate, coredns, dnsserver, kubectl-namegate.
	test/scripts/build.sh bin

.PHONY: image
image: ## Build the image IMG (namegate and coredns), for all PLATFORMS if given.
	$(CONTAINER_TOOL) $(if $(PLATFORMS),buildx build --platform $(PLATFORMS),build) \
		--build-arg VERSION="$$(git describe --tags --always --dirty)" --tag $(IMG) .

##@ Install

# Server-side apply, because the CRDs are too large for kubectl's last-applied annotation to stay small.

.PHONY: install
install: ## Install the CRDs into the cluster of the current kubeconfig.
	$(KUBECTL) apply --server-side -k config/crd

.PHONY: uninstall
uninstall: ## Delete the CRDs, and by that all that Namegate publishes, from the cluster and from DNS.
	$(KUBECTL) delete --ignore-not-found -k config/crd

.PHONY: deploy
deploy: ## Install everything, with the image IMG. Needs cert-manager in the cluster.
	$(KUBECTL) kustomize config/default | sed 's|image: namegate:dev$$|image: $(IMG)|' | $(KUBECTL) apply --server-side -f -

.PHONY: undeploy
undeploy: ## Delete everything but the CRDs: what is published stays. (First uninstall, to take it away.)
	$(KUBECTL) kustomize config/default | $(KUBECTL) delete --ignore-not-found -l app.kubernetes.io/name=namegate -f -

##@ Prepare

.PHONY: deps
deps: ## Install missing Debian packages (as root), or say what is skipped without them.
	@test/scripts/deps.sh

.PHONY: controlplane
controlplane: ## Build or find etcd, kube-apiserver, kube-controller-manager and kubectl.
	go run -C test/controlplane . --link ../../bin/controlplane

.PHONY: tools
tools: $(GOLANGCI_LINT) ## Build the heavy tools.

# Built from a module of its own, so that none of its dependencies is ours.
$(GOLANGCI_LINT): test/tools/go.mod test/tools/go.sum
	@echo "building golangci-lint, once: some minutes"
	go -C test/tools build -buildvcs=false -o ../../$@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint

.PHONY: clean
clean: ## Delete bin/ and dist/. The built control plane stays in the user's cache directory.
	rm -rf bin dist
