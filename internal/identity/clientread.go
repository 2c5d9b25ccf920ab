package identity

import (
	"atrium/internal/op"
)

// GetClient reads one OAuth client, without its secret. Like all operations on clients it requires a
// signed-in person.
var GetClient = op.Get("oauthclient.read", op.Spec{
	Resource: "OAuthClient", Action: op.Read, AdminLayer: true, Summary: "Get an OAuth client",
}, loadClient)
