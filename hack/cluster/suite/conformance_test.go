// Package suite runs the official Gateway API conformance suite.
package suite

import (
	"encoding/json"
	"os"
	"testing"

	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/gateway-api/conformance"
	"sigs.k8s.io/gateway-api/conformance/tests"
	"sigs.k8s.io/gateway-api/conformance/utils/suite"
	"sigs.k8s.io/gateway-api/pkg/features"
)

// inventory is one test of the suite: its name, and for each profile that it
// counts for, whether as a core or an extended test.
type inventory struct {
	Test     string                 `json:"test"`
	Features []features.FeatureName `json:"features"`
	Profiles map[string]string      `json:"profiles"`
	Parallel bool                   `json:"parallel"`
}

var profiles = []suite.ConformanceProfile{
	suite.GatewayHTTPConformanceProfile, suite.GatewayTLSConformanceProfile, suite.GatewayTCPConformanceProfile,
	suite.GatewayUDPConformanceProfile, suite.GatewayGRPCConformanceProfile,
}

func TestConformance(t *testing.T) { conformance.RunConformance(t) }

// TestInventory writes all tests of the suite to the file that INVENTORY names.
func TestInventory(t *testing.T) {
	path := os.Getenv("INVENTORY")
	if path == "" {
		t.Skip("INVENTORY is not set")
	}
	var all []inventory
	for _, test := range tests.ConformanceTests {
		all = append(all, inventory{test.ShortName, test.Features, profilesOf(test.Features), test.Parallel})
	}
	data, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// profilesOf follows the suite's own rule: a test belongs to a profile that
// knows all its features, and is a core test when all of them are core.
func profilesOf(needed []features.FeatureName) map[string]string {
	result := map[string]string{}
	for _, p := range profiles {
		wanted := sets.New(needed...)
		switch {
		case p.CoreFeatures.IsSuperset(wanted):
			result[string(p.Name)] = "core"
		case p.CoreFeatures.Union(p.ExtendedFeatures).IsSuperset(wanted):
			result[string(p.Name)] = "extended"
		}
	}
	return result
}
