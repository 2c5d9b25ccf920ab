package company_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/op"
	"atrium/internal/people/company"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
)

// Changing whether members need a second factor requires a recent sign-in. Other settings do not.
func TestMFARuleTakesARecentProof(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		admin := w.As(w.A, principal.Admin)
		w.Clock.SetOffset(op.FreshFor + time.Minute)
		for _, required := range []bool{true, false} {
			_, _, err := op.Run(admin, w.Engine, company.Update, company.UpdateInput{MfaRequired: op.SetTo(required)}, nil)
			require.Equal(t, op.ReasonStale, apperr.From(err).Reason)
		}
		testkit.Run(t, w, admin, company.Update, company.UpdateInput{Name: op.SetTo("Acme")})
		testkit.Run(t, w, w.As(w.A, principal.Admin), company.Update, company.UpdateInput{MfaRequired: op.SetTo(true)})
	})
}
