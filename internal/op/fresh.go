package op

import (
	"slices"
	"time"

	"atrium/internal/apperr"
	"atrium/internal/id"
	"atrium/internal/principal"
)

// FreshFor is how long a person's proof of who it is counts as recent.
const FreshFor = 15 * time.Minute

// ReasonStale is the reason of a refusal that a new proof would lift: the person has to sign in again.
const ReasonStale = "reauthentication_required"

// provenRecently returns forbidden when one of the verbs that this call asks for takes a recent proof (policies/data.json
// lists them) and the caller is a person who gave none. Sessions and tokens can be left open or be stolen; API keys and the operator
// have nothing to prove again.
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
	err := apperr.New(apperr.Forbidden, "This takes a recent sign-in. Sign in again and repeat it.")
	err.Reason, err.DecisionID = ReasonStale, id.New("dec")
	return err
}
