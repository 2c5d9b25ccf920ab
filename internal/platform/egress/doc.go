// Package egress is the HTTP client for calls to addresses that customers choose. Webhook deliveries, calls of workflows,
// pushes to agents, companies' models and back-channel logout use it. No other code of the product calls such addresses. Guard.DialContext
// connects for another protocol, such as IMAP.
//
// A customer must not be able to make the server call addresses that only the server can reach. So the guard checks each
// address at dialling, whatever its name resolved to before, and refuses everything outside the public internet: loopback,
// private, link-local, metadata services, multicast, reserved, and all forms of IPv4 in IPv6. An operator may allow networks
// (Options.Allow). CheckURL refuses early what dialling would refuse anyway.
//
//	URL ─ CheckURL (when saved) ─▶ row ─▶ Client.Do: resolve ─▶ guard on each address ─▶ TLS 1.2+ ─▶ answer, cut to size
//
// Hosts are the hosts to which a company lets something be sent; those who call compare them.
//
// The client uses no proxy from the environment, follows no redirects, stores no cookies and unpacks no compressed bodies.
// Client.Do ends every call within its time limit (30 s by default), including the last byte of the answer; who takes the bare
// client by HTTP sets a deadline and limits the body itself. The client never retries, because only the caller knows whether a
// call may be repeated. It speaks HTTP/1.1 only, because over HTTP/2 the transport would repeat a call by itself.
package egress
