package lint

import "github.com/namegate/namegate/internal/rules"

// clusterOnly says of each rule that no set of manifests can break for certain what it would take to know.
var clusterOnly = map[*rules.Rule]string{
	rules.DNSClassExists:     "a class that is not in the input may be in the cluster",
	rules.SecretAccess:       "what a user may read is known to the cluster",
	rules.IdentityImmutable:  "there is no older version of an object in the input",
	rules.ParentLabelChanged: "there is no older version of an object in the input",
	rules.ZoneAbsent:         "a Zone that is not in the input may be in the cluster",
	rules.TargetAbsent:       "a target that is not in the input may be in the cluster",
	rules.GlueAbsent:         "an address that is not in the input may be in the cluster",
	rules.ApexNSAbsent:       "an NS record that is not in the input may be in the cluster",
}

// ClusterOnly returns why the linter never says a rule, which only a cluster can decide. It is empty for all other rules.
func ClusterOnly(rule *rules.Rule) string { return clusterOnly[rule] }
