// Package savedreply keeps texts that staff answer requests with, and writes them for a request: {{requester.name}} and others stand
// for what they name. The list of these stands in fill.go alone; a text with an unknown one is refused.
//
// A reply is for its author ("me"), for the members of a team ("team") or for the company ("company"): see package audience. Creating
// one of the last two takes the right savedreply.share. Members, who answer nobody, have no right to replies. Access policies do not
// apply to replies; whom a reply is written for is read by the caller's own rights.
//
// The replies of a team are deleted with the team. A person may save at most 200. GraphQL calls the operations.
package savedreply
