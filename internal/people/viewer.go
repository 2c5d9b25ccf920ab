package people

import (
	"context"
	"fmt"

	"atrium/ent"
	"atrium/ent/user"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/locale"
	"atrium/internal/platform/principal"
)

// The operations on the caller's own language and time zone. Every role may use them. Like the settings of notifications they are each
// person's own matter, so they are of the resource Notification, which access policies do not bind.
var (
	// GetViewer returns the caller's user, and that of the live company to a caller in the sandbox: what people choose holds in both.
	// Returns nil for a caller who is no person.
	GetViewer = op.New("viewer.read", op.Spec{
		Resource: "Notification", Action: op.Read, Summary: "Read one's own language and time zone",
	}, getViewer)

	UpdateViewer = op.New("viewer.update", op.Spec{
		Resource: "Notification", Action: op.Update, LiveOnly: true, Summary: "Choose one's own language and time zone",
	}, updateViewer).WithCheck(func(_ context.Context, _ *op.Tx, in UpdateViewerInput) error { return CheckZone(in.TimeZone) })
)

// UpdateViewerInput holds what a person chooses; null takes it back.
type UpdateViewerInput struct {
	Locale   op.Patch[string] `json:"locale,omitzero" nullable:"true" enum:"en,de" doc:"The language of one's pages and mails."`
	TimeZone op.Patch[string] `json:"timeZone,omitzero" nullable:"true" maxLength:"64" doc:"The zone of the times that one is told, by its IANA name."`
}

func getViewer(ctx context.Context, tx *op.Tx, _ struct{}) (*ent.User, error) {
	if tx.Principal().Type != principal.TypeUser {
		return nil, nil
	}
	u, err := tx.User.Get(tx.Unfiltered(ctx, "everybody knows themselves"), tx.Principal().ID)
	if err == nil && u.LiveUserID != nil {
		u, err = tx.User.Get(principal.System(ctx, "whoever works in the sandbox is a person of the live company"), *u.LiveUserID)
	}
	if err != nil {
		return nil, fmt.Errorf("look the caller up: %w", err)
	}
	return u, nil
}

func updateViewer(ctx context.Context, tx *op.Tx, in UpdateViewerInput) (*ent.User, error) {
	if tx.Principal().Type != principal.TypeUser {
		return nil, apperr.New(apperr.Forbidden, "Only people have a language and a time zone.")
	}
	if err := CheckZone(in.TimeZone); err != nil {
		return nil, err
	}
	before, err := op.Lock(tx, tx.User.Query().Where(user.ID(tx.Principal().ID))).Only(tx.Unfiltered(ctx, "everybody knows themselves"))
	if err != nil {
		return nil, fmt.Errorf("look the caller up: %w", err)
	}
	u := before.Update()
	op.SetOrClear(in.Locale, u.SetLocale, u.ClearLocale)
	op.SetOrClear(in.TimeZone, u.SetTimeZone, u.ClearTimeZone)
	tx.About(before.ID)
	after, err := op.Save(ctx, tx, before, u)
	if err != nil {
		return nil, fmt.Errorf("change the language and the time zone: %w", err)
	}
	return after, nil
}

// CheckZone returns validation_error for a field timeZone that names no zone of the IANA database.
func CheckZone(p op.Patch[string]) error {
	if zone, given := op.Given(p); given {
		if _, err := locale.Zone(zone); err != nil {
			return apperr.InvalidField("timeZone", "must be a name of the IANA time zone database, such as Europe/Berlin")
		}
	}
	return nil
}
