// Package signing keeps the secrets that sign messages: deliveries to the receivers of webhooks, pushes to agents, and calls of
// inbound webhooks, which it opens for the verification.
//
// A secret is whsec_ and 32 random bytes in base64, as in Standard Webhooks. It is shown in the answer that creates it and
// sealed in its row, for that row alone. Each row has three columns for it: secret_sealed, previous_sealed, previous_until. A
// rotation keeps the old secret valid for a while, so that neither side must change at the same moment: we sign with both, and
// accept both.
package signing
