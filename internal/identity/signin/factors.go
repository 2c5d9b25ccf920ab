package signin

import (
	"context"

	"atrium/ent"
	"atrium/ent/auditentry"
	"atrium/internal/audit"
	"atrium/internal/identity/mfa"
	"atrium/internal/store"
)

// How a person proved who it is, as the claim amr names it (RFC 8176).
const (
	methodPassword = "pwd"
	methodOTP      = "otp"
	methodSMS      = "sms"
	methodKey      = "hwk"
	methodMFA      = "mfa"
)

// factors returns the account's factors, the oldest first.
func (s *Server) factors(ctx context.Context, accountID string) ([]*ent.Factor, error) {
	return mfa.Factors(s.signIns.system(ctx), s.store.Reader(), accountID)
}

// addFactor keeps a new factor in the transaction, and tells the log and the person. A first factor brings recovery codes.
func (s *Server) addFactor(ctx context.Context, tx *store.Tx, from audit.Origin, f *ent.FactorCreate, accountID string) (codes []string, err error) {
	made, codes, err := mfa.Add(ctx, tx, f, accountID)
	if err != nil {
		return nil, err
	}
	return codes, s.changedFactors(ctx, tx, from, accountID, "factor.created", audit.Change{To: made.Kind}, FactorAdded)
}

// removeFactor takes a factor from its account in the transaction, and tells the log and the person.
func (s *Server) removeFactor(ctx context.Context, tx *store.Tx, from audit.Origin, f *ent.Factor) error {
	removed, err := mfa.Remove(ctx, tx, f)
	if err != nil || !removed {
		return err
	}
	return s.changedFactors(ctx, tx, from, f.AccountID, "factor.deleted", audit.Change{From: f.Kind}, FactorRemoved)
}

// changedFactors writes into the logs of the account's companies that a factor has changed, and mails the person a notice.
func (s *Server) changedFactors(ctx context.Context, tx *store.Tx, from audit.Origin, accountID, action string, change audit.Change, notice string) error {
	e := event{action: action, resource: "User", outcome: auditentry.OutcomeAllowed, changes: map[string]audit.Change{"factor": change}}
	if err := auditAll(ctx, tx, from, accountID, e); err != nil {
		return err
	}
	return s.tell(ctx, tx, accountID, notice)
}

// tell tells the person by mail, when somebody does that.
func (s *Server) tell(ctx context.Context, tx *store.Tx, accountID, kind string) error {
	if s.notify == nil {
		return nil
	}
	return s.notify(ctx, tx, accountID, kind)
}
