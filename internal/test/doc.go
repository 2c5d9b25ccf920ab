// Package test has no code of its own. Its rooms serve tests and benchmarks, and nothing that ships imports them:
//
//	apitest  scenarios for REST, GraphQL and MCP, which must give the same caller the same answer
//	bench    the minimal server that `make bench` compares with
//	testkit  databases, companies and nodes for tests, and the rules of imports
package test
