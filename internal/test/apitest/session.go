package apitest

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/internal/identity/authn"
	"atrium/internal/platform/store"
)

// Session signs a user in to the web application, and returns a caller with the session's cookie and the header that such calls
// need.
func (s *Server) Session(tb testing.TB, u *ent.User) Caller {
	tb.Helper()
	raw := make([]byte, 32)
	_, err := rand.Read(raw)
	require.NoError(tb, err)
	value := base64.RawURLEncoding.EncodeToString(raw)
	hash := sha256.Sum256([]byte(value))
	now := s.World.Clock.Now()
	s.Write(tb, func(ctx context.Context, tx *store.Tx) error {
		return tx.Session.Create().SetCompanyID(u.CompanyID).SetUserID(u.ID).SetTokenHash(hash[:]).SetMethods([]string{"pwd"}).
			SetAuthenticatedAt(now).SetLastSeenAt(now).SetExpiresAt(now.Add(time.Hour)).Exec(ctx)
	})
	return Caller{
		Name:   string(u.Role) + "'s session",
		Header: http.Header{"Cookie": {authn.SessionCookie + "=" + value}, "X-Requested-With": {"test"}},
		UserID: u.ID, Company: u.CompanyID, Value: value,
	}
}
