package identity

import (
	"atrium/internal/op"
)

// GetClient reads one OAuth client, without its secret. It takes a person, like all operations on clients.
var GetClient = op.Get("oauthclient.read", op.Spec{
	Resource: "OAuthClient", Action: op.Read, AdminLayer: true, Summary: "Get an OAuth client",
}, loadClient)
