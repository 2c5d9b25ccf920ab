package doors

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent/company"
	"atrium/internal/platform/ratelimit"
	"atrium/internal/platform/store"
	"atrium/internal/test/apitest"
)

// A company that has sent the bytes of its plan is refused at both doors, with a length or without, by any of its credentials. Another
// company is not, and neither are calls without a body.
func TestBytesOfACompanyAreLimited(t *testing.T) {
	each(t, func(t *testing.T, s *apitest.Server) {
		s.Write(t, func(ctx context.Context, tx *store.Tx) error {
			return tx.Company.Update().Where(company.ID(s.World.A.Company.ID)).SetBytesPerMinute(ratelimit.MB).Exec(ctx)
		})
		s.World.Store.AuthorityChanged()
		send := func(as apitest.Caller, path string, unsaid bool) (*http.Response, string) {
			body := []byte(`{"query": "{ viewer { role } }", "name": "` + strings.Repeat("x", 700_000) + `"}`)
			var from io.Reader = bytes.NewReader(body)
			if unsaid {
				from = io.MultiReader(from) // whose length the client does not know
			}
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+path, from)
			require.NoError(t, err)
			r.Header = as.Header.Clone()
			r.Header.Set("Content-Type", "application/json")
			res, err := s.HTTP.Do(r)
			require.NoError(t, err)
			defer res.Body.Close()
			answer, err := io.ReadAll(res.Body)
			require.NoError(t, err)
			return res, string(answer)
		}
		res, answer := send(s.A.OwnerKey, "/v1/services", false)
		require.Equal(t, http.StatusBadRequest, res.StatusCode, answer) // the name is too long
		for _, path := range []string{"/v1/services", "/graphql"} {
			for _, unsaid := range []bool{false, true} {
				res, answer := send(s.A.Member, path, unsaid)
				require.Equal(t, http.StatusTooManyRequests, res.StatusCode, answer)
				require.Contains(t, answer, "rate_limit_exceeded")
				require.Contains(t, answer, "more bytes than its plan allows")
				require.Regexp(t, `^[1-9]\d?$`, res.Header.Get("Retry-After"))
				require.Regexp(t, `^"minute-bytes";q=1048576;w=60;qu="content-bytes", "day-bytes";q=\d+;w=86400;qu="content-bytes"$`, res.Header.Get("RateLimit-Policy"))
				require.Regexp(t, `^"minute-bytes";r=\d+;t=\d+$`, res.Header.Get("RateLimit"))
				res, answer = send(s.B.OwnerKey, path, unsaid)
				require.NotEqual(t, http.StatusTooManyRequests, res.StatusCode, answer)
			}
		}
		a := s.Send(t, apitest.Scenario{As: s.A.OwnerKey, Path: "/v1/services"})
		require.Equal(t, http.StatusOK, a.Status)
		require.True(t, json.Valid(a.Body))
	})
}
