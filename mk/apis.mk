# Schemas of src/apis: what is generated from them, and what they are compared with.

.PHONY: crds
crds: install ## write crds/ from the schemas of our own kinds
	@npx --no-install tsx hack/generate-crds.ts

.PHONY: check-gateway-api
check-gateway-api: install ## compare the recorded fields of the Gateway API with its Go module
	@npx --no-install tsx hack/gateway-api-fields.ts --check

conformance e2e: check-gateway-api
