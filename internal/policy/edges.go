package policy

import (
	"atrium/ent"
	"atrium/ent/accesspolicyversion"
	"atrium/internal/op"
	"atrium/internal/op/paging"
)

// VersionsOf lists the changes of several policies, the newest first. It is for policies that the caller has read.
var VersionsOf = paging.NewChildren("accesspolicy.versions", op.Spec{
	Resource: "AccessPolicy", Action: op.Read, AdminLayer: true,
	Summary: "List the changes of several access policies",
}, accesspolicyversion.Table, accesspolicyversion.FieldPolicyID, func(tx *op.Tx) *ent.AccessPolicyVersionQuery {
	return tx.AccessPolicyVersion.Query()
})
