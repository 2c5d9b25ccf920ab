// Package receiver is what webhooks and other outbound calls arrive at in tests: servers with real TLS on loopback, the
// well-behaved one that keeps what it got and the ones that customers have, too. A client reaches them when its egress
// guard allows 127.0.0.0/8 and it trusts CAFile.
package receiver
