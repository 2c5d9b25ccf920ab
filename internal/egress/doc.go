// Package egress is the HTTP client for calls to addresses that customers choose. Webhook deliveries, workflow callouts, API
// calls and back-channel logout use it. No other code of the product calls such addresses.
//
// A customer must not be able to make the server call addresses that only the server can reach. So the guard checks each
// address at dialling, whatever its name resolved to before, and refuses everything outside the public internet: loopback,
// private, link-local, metadata services, multicast, reserved, and all forms of IPv4 in IPv6. An operator may allow networks
// (Options.Allow). CheckURL refuses early what dialling would refuse anyway.
//
//	URL ─ CheckURL (when saved) ─▶ row ─▶ Client.Do: resolve ─▶ guard on each address ─▶ TLS 1.2+ ─▶ answer, cut to size
//
// The client uses no proxy from the environment, follows no redirects, stores no cookies and unpacks no compressed bodies. It
// ends every call within its time limit, including the last byte of the answer. It never retries, because only the caller knows
// whether a call may be repeated.
package egress
