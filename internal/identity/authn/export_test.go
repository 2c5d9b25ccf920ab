package authn

import "atrium/internal/platform/store"

// Forget makes the next look at every credential read the database.
func (a *Authenticator) Forget() {
	for i := range a.known {
		a.known[i] = store.AuthorityCache[remembered]{}
	}
}
