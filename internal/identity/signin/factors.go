package signin

import (
	"context"

	"atrium/ent"
	"atrium/ent/auditentry"
	"atrium/internal/identity/mfa"
	"atrium/internal/op/audit"
	"atrium/internal/platform/store"
)

// The methods of a proof, as the claim amr names them (RFC 8176).
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

// addFactor stores a new factor in the transaction, writes audit entries and notifies the person. A first factor brings
// recovery codes.
func (s *Server) addFactor(ctx context.Context, tx *store.Tx, from audit.Origin, f *ent.FactorCreate, accountID string) (codes []string, err error) {
	made, codes, err := mfa.Add(ctx, tx, f, accountID)
	if err != nil {
		return nil, err
	}
	return codes, s.changedFactors(ctx, tx, from, accountID, "factor.created", audit.Change{To: made.Kind}, FactorAdded)
}

// removeFactor removes a factor in the transaction, writes audit entries and notifies the person.
func (s *Server) removeFactor(ctx context.Context, tx *store.Tx, from audit.Origin, f *ent.Factor) error {
	removed, err := mfa.Remove(ctx, tx, f)
	if err != nil || !removed {
		return err
	}
	return s.changedFactors(ctx, tx, from, f.AccountID, "factor.deleted", audit.Change{From: f.Kind}, FactorRemoved)
}

// changedFactors writes audit entries in the account's companies about a changed factor, and mails the person a notice.
func (s *Server) changedFactors(ctx context.Context, tx *store.Tx, from audit.Origin, accountID, action string, change audit.Change, notice string) error {
	e := event{action: action, resource: "User", outcome: auditentry.OutcomeAllowed, changes: map[string]audit.Change{"factor": change}}
	if err := auditAll(ctx, tx, from, accountID, e); err != nil {
		return err
	}
	return s.tell(ctx, tx, accountID, notice)
}

// tell notifies the person by mail, if a notifier is set.
func (s *Server) tell(ctx context.Context, tx *store.Tx, accountID, kind string) error {
	if s.notify == nil {
		return nil
	}
	return s.notify(ctx, tx, accountID, kind)
}
