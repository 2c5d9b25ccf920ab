package authn

// Forget makes the next look at every credential read the database.
func (a *Authenticator) Forget() {
	a.mu.Lock()
	a.clear()
	a.mu.Unlock()
}
