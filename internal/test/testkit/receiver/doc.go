// Package receiver provides the servers that webhooks and other outbound calls reach in tests: real TLS on loopback, a
// well-behaved receiver that records its calls, and misbehaving ones as customers have them. A client reaches them when its
// egress guard allows 127.0.0.0/8 and it trusts CAFile. Tests call it; production code never does.
package receiver
