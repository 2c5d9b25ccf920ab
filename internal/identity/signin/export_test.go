package signin

import "net/http"

// What tests of the package's outside look at.
var (
	AccountLimit = accountLimit
	DeviceLimit  = deviceLimit
	AddressLimit = addressLimit
)

// Limit is how many failures in a row are borne.
type Limit = limit

// Pause, After and Most show a limit.
func (l limit) Pause(failures int) int { return int(l.pause(failures).Seconds()) }

// After is the number of the failure that brings the first pause.
func (l limit) After() int { return l.after }

// AccountKey and AddressKey name counters.
func AccountKey(email string) string { return accountKey(email) }

// AddressKey names the counter of a request's address.
func AddressKey(r *http.Request) string { return addressKey(r) }
