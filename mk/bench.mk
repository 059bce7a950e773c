# Speed beside other proxies, and long runs. Needs Linux with two cores; installs its peers from Debian and PyPI.

.PHONY: bench
bench: build ## compare speed with peers; SCENARIOS=… ROUNDS=n CONTENDERS=… WIRE=net
	@npx --no-install tsx hack/bench/main.ts $(SCENARIOS)

.PHONY: bench-guard
bench-guard: build ## fail when CPU time per request has grown
	@npx --no-install tsx hack/bench/guard.ts
