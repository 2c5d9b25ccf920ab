// Package apitest is what tests judge the doors by.
//
// Serve puts a door on a real TLS listener over a testkit.World, with a caller of every kind: people of each role by
// bearer token and by API key, keys that lack scopes, test keys, another company's owner, and nobody. A Scenario is one
// call and all that may be said about its answer. Whatever a scenario asks for, every answer is also held against what
// the API promises of all answers: the OpenAPI document (ResponseValidator), X-Request-Id, the headers of 401, 405 and 429,
// and the audit entries that a success, a denial and a conflict leave.
//
// Tests alone import it. It imports no door: doors' own tests import it.
package apitest
