package signin

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"atrium/internal/identity/pages"
)

// Known browsers.
const (
	deviceLife  = 180 * 24 * time.Hour
	maxAccounts = 5 // accounts that a browser can be known for
)

var deviceAAD = []byte("sign-in/device")

// deviceCookie lists the accounts that have signed in with the browser before.
const deviceCookie = "__Host-atrium_device"

// device is the content of that cookie.
type device struct {
	Nonce    string   `json:"n"`
	Accounts []string `json:"a"`
}

// device returns the content of the browser's cookie; empty if it has none.
func (s *Server) device(r *http.Request) device {
	var d device
	sealed, err := base64.RawURLEncoding.DecodeString(pages.OnlyCookie(r, deviceCookie))
	if err != nil || len(sealed) == 0 {
		return d
	}
	plain, err := s.sealer.Unseal(sealed, deviceAAD)
	if err != nil || json.Unmarshal(plain, &d) != nil {
		return device{} // from another installation, or forged
	}
	return d
}

// browser identifies this browser for the throttle; empty when the account has not signed in here.
func (s *Server) browser(r *http.Request, accountID string) string {
	d := s.device(r)
	if accountID == "" || !slices.Contains(d.Accounts, accountID) {
		return ""
	}
	return d.Nonce + "/" + accountID
}

// know adds the account to those that the browser is known for.
func (s *Server) know(w http.ResponseWriter, r *http.Request, accountID string) {
	d := s.device(r)
	if d.Nonce == "" {
		d.Nonce, _ = pages.NewToken()
	}
	d.Accounts = append([]string{accountID}, slices.DeleteFunc(d.Accounts, func(id string) bool { return id == accountID })...)
	d.Accounts = d.Accounts[:min(len(d.Accounts), maxAccounts)]
	plain, err := json.Marshal(d)
	if err != nil {
		return // strings only: cannot happen
	}
	sealed, err := s.sealer.Seal(plain, deviceAAD)
	if err != nil {
		s.log.WarnContext(r.Context(), "a browser could not be made known", "error", err)
		return
	}
	pages.SetCookie(w, deviceCookie, base64.RawURLEncoding.EncodeToString(sealed), deviceLife)
}
