package op

import (
	"slices"
	"time"

	"atrium/internal/platform/apperr"
	"atrium/internal/platform/id"
	"atrium/internal/platform/principal"
)

// FreshFor is how long a person's sign-in counts as recent.
const FreshFor = 15 * time.Minute

// ReasonStale is the reason of a refusal that ends once the person signs in again.
const ReasonStale = "reauthentication_required"

// provenRecently returns forbidden when one of the call's verbs requires a recent sign-in (policies/data.json lists them) and the
// caller is a person whose sign-in is older than FreshFor. A session or token may be left open or stolen; API keys and the operator
// have no sign-in to repeat.
func (tx *Tx) provenRecently(now time.Time, verbs []string) error {
	if !slices.ContainsFunc(verbs, tx.engine.Authz.TakesRecentProof) {
		return nil
	}
	switch p := tx.principal; p.Method {
	case principal.MethodAPIKey, principal.MethodLocal:
		return nil
	case principal.MethodBearer:
		if p.ClientID == principal.OperatorClient {
			return nil
		}
	}
	if proven := tx.principal.AuthenticatedAt; !proven.IsZero() && now.Sub(proven) <= FreshFor {
		return nil
	}
	err := apperr.New(apperr.Forbidden, "This requires a recent sign-in. Sign in again and repeat it.")
	err.Reason, err.DecisionID = ReasonStale, id.New("dec")
	return err
}
