// Package egress is the one way out: the HTTP client for calls to addresses that customers choose. Webhook deliveries,
// workflow callouts, API calls and back-channel logout go through it; nothing else of the product calls addresses that customers choose.
//
// What customers write must not make the server call what only the server can reach. So the guard looks at the address
// at the moment of dialling, whatever a name resolved to when it was saved or a minute ago, and refuses everything that
// is not on the public internet: loopback, private, link-local, metadata services, multicast, reserved, IPv4 in IPv6 in
// all its forms. An operator may open networks (Options.Allow). CheckURL refuses early what would be refused anyway.
//
//	URL ─ CheckURL (when saved) ─▶ row ─▶ Client.Do: resolve ─▶ guard on each address ─▶ TLS 1.2+ ─▶ answer, cut to size
//
// The client takes no proxy from the environment, follows no redirect, keeps no cookie, undoes no compression and ends
// every call, the last byte of its answer included, within its time limit. It never retries: the caller
// knows what a second call would mean.
package egress
