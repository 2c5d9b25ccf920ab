// Package apitest is the test harness of the APIs.
//
// Serve runs an API on a real TLS listener over a testkit.World, with a caller of every kind: users of each role by bearer token
// and by API key, keys that lack scopes, test keys, another company's owner, and a caller without a credential. A Scenario is one
// call and the expectations on its answer. Every answer is also checked against what the API promises of all answers: the OpenAPI
// document (ResponseValidator), X-Request-Id, the headers of 401, 405 and 429, and the audit entries that a success, a denial and
// a conflict leave.
//
// Only tests import it. It imports no API package: the tests of those import it, and pass their handler to Serve.
package apitest
