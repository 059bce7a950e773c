#!/bin/sh
# Builds what cannot be found in build/cluster/bin for this state of the
# sources: the cluster, the echo server and the conformance suite.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
bin=$(cd "$here/../.." && pwd)/build/cluster/bin
cd "$here"
key=$({ go version; cat go.mod go.sum build.sh; find . -name '*.go' ! -path './internal/*_test.go' | LC_ALL=C sort | xargs cat; } | sha256sum | cut -c1-32)
[ "$(cat "$bin/key" 2>/dev/null)" = "$key" ] && exit 0

# A build from nothing is bound by compiler time. These settings save two fifths
# of it: no C parts, no debug information, no inlining, no garbage collection in
# the short-lived compiler processes. The Go build cache stays where the user
# keeps it: it serves all clones on the machine.
echo "building the test cluster (minutes when it is the first time on this machine)" >&2
export CGO_ENABLED=0 GOGC=off GOFLAGS=-mod=readonly
flags='-gcflags=all=-l -dwarf=false'
kubernetes=$(go list -m -f '{{.Version}}' k8s.io/kubernetes)
link="-s -w -X k8s.io/component-base/version.gitVersion=$kubernetes"
mkdir -p "$bin"
go build -trimpath -ldflags "$link" "$flags" -o "$bin/" ./cmd/testcluster sigs.k8s.io/gateway-api/conformance/echo-basic
go test -c -trimpath -ldflags "$link" "$flags" -o "$bin/conformance.test" ./suite
echo "$key" >"$bin/key"
