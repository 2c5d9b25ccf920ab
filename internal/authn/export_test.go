package authn

// Forget makes the next look at every credential read the database.
func (a *Authenticator) Forget() {
	a.mu.Lock()
	clear(a.known)
	a.mu.Unlock()
}
