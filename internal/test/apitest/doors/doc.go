// Package doors tests the APIs together. An operation that is called through REST and GraphQL by every kind of caller has the
// same outcome; policies, agents' rights and attacks are tried at all of them. It holds only tests, the only ones that know
// several APIs, and nothing imports it.
package doors
