# Suites that others wrote, against the gateway as shipped.

H2SPEC := build/h2spec/h2spec
GRPC_INTEROP := build/grpc-interop

.PHONY: h2spec grpc-interop

# The h2spec conformance suite on h2c and over TLS.
h2spec: $(H2SPEC)
	npm run --silent build
	npx tsx hack/h2spec/run.ts

# Every test case of the gRPC project's interop client and server, through the gateway, on h2c and over TLS.
grpc-interop: $(GRPC_INTEROP)/client $(GRPC_INTEROP)/server
	npm run --silent build
	npx tsx hack/grpc-interop/run.ts

$(H2SPEC): hack/h2spec/go.mod hack/h2spec/go.sum
	cd hack/h2spec && go build -o ../../$@ github.com/summerwind/h2spec/cmd/h2spec

$(GRPC_INTEROP)/%: hack/grpc-interop/go.mod hack/grpc-interop/go.sum
	cd hack/grpc-interop && go build -o ../../$@ google.golang.org/grpc/interop/$*
