# Speed beside other proxies, and long runs. Needs Linux with two cores; installs its peers from Debian and PyPI.

.PHONY: bench
bench: build ## compare speed with peers; SCENARIOS=… ROUNDS=n CONTENDERS=… WIRE=net
	@npx --no-install tsx hack/bench/main.ts $(SCENARIOS)

.PHONY: bench-guard
bench-guard: build ## fail when CPU time per request has grown
	@npx --no-install tsx hack/bench/guard.ts

.PHONY: bench-engine
bench-engine: install ## JavaScript of one request, without a kernel
	@npx --no-install tsx hack/bench/engine-cost.ts

# Sockets that take the least the kernel has, in a network of their own: nearly every write is a partial one. What they
# receive into is small but not the smallest: there the kernel drops what it had promised to take, and a client that does
# not read while it writes (HTTP/2 of Node) waits for minutes.
TINY_SOCKETS := net.ipv4.tcp_wmem="4096 4096 8192" net.ipv4.tcp_rmem="4096 32768 65536"

.PHONY: stress
stress: install ## the stress tests, long; STRESS_REQUESTS=n STRESS_CONNECTIONS=n STRESS_SEED=n ZERO_LOSS_SECONDS=n
	@unshare --net sh -c 'ip link set lo up && sysctl -qw $(TINY_SOCKETS) && \
	  STRESS_REQUESTS=$${STRESS_REQUESTS:-20000} STRESS_CONNECTIONS=$${STRESS_CONNECTIONS:-5000} \
	  npx --no-install mocha test/integration/engine/*-stress.test.ts'
	@ZERO_LOSS_SECONDS=$${ZERO_LOSS_SECONDS:-300} CASES=19-zero-loss $(MAKE) --no-print-directory e2e

.PHONY: soak
soak: build ## churn, aborts, certificate rotation; MINUTES=30 SEED=n
	@npx --no-install tsx hack/stress/soak.ts
