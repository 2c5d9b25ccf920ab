package notice

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"atrium/ent"
	"atrium/ent/company"
	"atrium/ent/user"
	"atrium/internal/identity/access"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
)

// The kinds of notices.
const (
	Mention   = "mention"
	Progress  = "progress"
	Receipt   = "receipt" // of rows it is progress
	Assigned  = "assigned"
	Approval  = "approval"
	Consulted = "consulted"
	Informed  = "informed"
	Incident  = "incident"
	Warning   = "warning"
	Breached  = "breached"
)

// Kinds lists all kinds, in the order of the settings.
var Kinds = []string{Mention, Progress, Receipt, Assigned, Approval, Consulted, Informed, Incident, Warning, Breached}

// The channels of a kind.
const (
	channelNow    = "now" // the default, but of receipts
	channelDigest = "digest"
	channelNever  = "never"
)

// The operations on the caller's own settings.
var (
	GetSettings = op.New("notification.settings", op.Spec{
		Resource: "Notification", Action: op.Read,
		Summary: "Read how one is told of what happens",
	}, func(ctx context.Context, tx *op.Tx, _ struct{}) ([]*Setting, error) {
		if tx.Principal().Type != principal.TypeUser {
			return []*Setting{}, nil
		}
		u, err := loadSelf(ctx, tx)
		if err != nil {
			return nil, err
		}
		c, err := tx.Company.Get(ctx, u.CompanyID)
		if err != nil {
			return nil, fmt.Errorf("read the company: %w", err)
		}
		out := make([]*Setting, len(Kinds))
		for i, kind := range Kinds {
			out[i] = &Setting{kind, channelIn(c, u, kind)}
		}
		return out, nil
	})

	UpdateSettings = op.New("notification.update", op.Spec{
		Resource: "Notification", Action: op.Update,
		Summary: "Choose how one is told of what happens",
	}, updateSettings)
)

// Setting is the channel by which a person gets notices of a kind.
type Setting struct {
	Kind    string `json:"kind" enum:"mention,progress,receipt,assigned,approval,consulted,informed,incident,warning,breached" doc:"Of what one is told."`
	Channel string `json:"channel" enum:"now,digest,never" doc:"By mail at once, by one mail a day (not for receipts), or by none."`
}

// channelOf returns how a person gets notices of a kind other than Receipt.
func channelOf(u *ent.User, kind string) string {
	if c, ok := u.Notifications[kind]; ok {
		return c
	}
	return channelNow
}

// channelIn returns how a person of a company gets notices of a kind. Who has chosen nothing gets receipts as the company has it: those who
// work at the desk get none unless everybody does.
func channelIn(c *ent.Company, u *ent.User, kind string) string {
	_, chosen := u.Notifications[kind]
	if kind == Receipt && !chosen && (c.Receipts == company.ReceiptsNone || c.Receipts == company.ReceiptsMembers && u.Role != user.RoleMember) {
		return channelNever
	}
	return channelOf(u, kind)
}

// PrincipalOf returns an active user as a principal with all scopes.
func PrincipalOf(u *ent.User) *principal.Principal {
	return &principal.Principal{
		CompanyID: u.CompanyID, Type: principal.TypeUser, ID: u.ID, Name: u.Name, Email: u.Email, Role: principal.Role(u.Role),
		Scopes: principal.AllScopes, Method: principal.MethodSession,
	}
}

// AsWhom returns a person or a service account as the principal of work that goes on without them, with the rights that they have now;
// nil if they are gone, or the service account is disabled.
func AsWhom(ctx context.Context, db *ent.Client, id string) (*principal.Principal, error) {
	if strings.HasPrefix(id, "usr_") {
		u, err := db.User.Get(ctx, id)
		if err != nil || access.Gone(u.Status) {
			return nil, ent.MaskNotFound(err)
		}
		return PrincipalOf(u), nil
	}
	sa, err := db.ServiceAccount.Get(ctx, id)
	if err != nil || !sa.Enabled {
		return nil, ent.MaskNotFound(err)
	}
	return &principal.Principal{
		CompanyID: sa.CompanyID, Type: principal.TypeServiceAccount, ID: sa.ID, Name: sa.Name, Role: principal.Role(sa.Role),
		Scopes: principal.AllScopes, Method: principal.MethodAPIKey,
	}, nil
}

// loadSelf loads and locks the calling user, even if policies hide users.
func loadSelf(ctx context.Context, tx *op.Tx) (*ent.User, error) {
	if tx.Principal().Type != principal.TypeUser {
		return nil, apperr.New(apperr.Forbidden, "Notifications are a person's own.")
	}
	u, err := op.Lock(tx, tx.User.Query().Where(user.ID(tx.Principal().ID))).Only(tx.Unfiltered(ctx, "everybody knows themselves"))
	if err != nil {
		return nil, fmt.Errorf("look the caller up: %w", err)
	}
	return u, nil
}

func updateSettings(ctx context.Context, tx *op.Tx, in Setting) (*Setting, error) {
	if in.Kind == Receipt && in.Channel == channelDigest {
		return nil, apperr.InvalidField("channel", "must be now or never for receipts")
	}
	before, err := loadSelf(ctx, tx)
	if err != nil {
		return nil, err
	}
	c, err := tx.Company.Get(ctx, before.CompanyID)
	if err != nil {
		return nil, fmt.Errorf("read the company: %w", err)
	}
	if err := set(ctx, before, in); err != nil {
		return nil, err
	}
	tx.About(before.ID)
	tx.ChangedField(in.Kind, channelIn(c, before, in.Kind), in.Channel)
	return &in, nil
}

// set stores settings. u was loaded in the same transaction.
func set(ctx context.Context, u *ent.User, list ...Setting) error {
	settings := maps.Clone(u.Notifications)
	if settings == nil {
		settings = map[string]string{}
	}
	for _, in := range list {
		settings[in.Kind] = in.Channel
	}
	if err := u.Update().SetNotifications(settings).Exec(ctx); err != nil {
		return fmt.Errorf("keep the settings: %w", err)
	}
	return nil
}

// SwitchOff sets a kind's channel to never for a user. For Digest it does so for all kinds whose channel is digest. It does
// nothing for a user who is not found. ctx must reach the user's company.
func SwitchOff(ctx context.Context, tx *store.Tx, userID, kind string) error {
	u, err := store.Lock(tx, tx.User.Query().Where(user.ID(userID))).Only(ctx)
	if err != nil {
		return ent.MaskNotFound(err)
	}
	var off []Setting
	for _, k := range Kinds {
		if k == kind || kind == Digest && channelOf(u, k) == channelDigest {
			off = append(off, Setting{k, channelNever})
		}
	}
	return set(ctx, u, off...)
}
