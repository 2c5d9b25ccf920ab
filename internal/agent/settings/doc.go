// Package settings holds what decides how an agent behaves, of its draft and of its published versions: its autonomy, its tools, its
// limits, the requests that it takes, and the rights with which it reads and acts. The operations that set them are in package agent.
//
// # Rights
//
// An agent has the role of its published version, but never more than its owner's, and the version's scopes (PrincipalOf). When the
// owner leaves, its open runs are handed over (runs.OwnerLeft). The company's policies apply to it. An agent that sees as the
// requester reads only what the requester may read as well (RequesterOf). Settings take effect when they are published, so a draft
// widens nothing that runs. Only endpointUrl and consultMinutes take effect at once.
//
// # Filters
//
// The filter of an agent is CEL that customers write, and nothing whose cost a customer chooses runs in a transaction: FilterHolds is
// called by jobs, and a filter is compiled before the transaction that saves it.
package settings
