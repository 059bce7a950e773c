# A real Kubernetes cluster without containers, and what is tested in it. Needs Linux, root, Go, iproute2 and kubectl.

TSX := npx --no-install tsx

.PHONY: cluster
cluster: install ## build the test cluster's binaries
	hack/cluster/build.sh

.PHONY: cluster-up
cluster-up: build ## start a test cluster; use it with hack/cluster/cluster exec-in -- kubectl …
	hack/cluster/cluster up

.PHONY: cluster-down
cluster-down: ## stop the test cluster
	hack/cluster/cluster down

.PHONY: conformance
conformance: build cluster ## official suite; PROFILES=… RUN_TEST=… PARALLEL=n LOCAL=1
	@$(TSX) test/conformance/run.ts

.PHONY: conformance-doc
conformance-doc: install ## write docs/conformance.md from the last run
	@$(TSX) test/conformance/document.ts

.PHONY: e2e
e2e: build cluster ## deploy and test the product in a test cluster; CASES=…
	@$(TSX) test/e2e/runner/main.ts
