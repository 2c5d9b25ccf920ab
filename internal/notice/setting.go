// Package notice keeps how people are told of what happens to them.
package notice

import (
	"context"
	"fmt"
	"maps"

	"atrium/ent"
	"atrium/ent/user"
	"atrium/internal/apperr"
	"atrium/internal/op"
	"atrium/internal/principal"
)

// Mention is the kind of the mails to people whom a comment mentions.
const Mention = "mention"

// The channels of a kind.
const (
	channelNow   = "now" // unless somebody chose another one
	channelNever = "never"
)

// What each person decides for itself.
var (
	GetSettings = op.New("notification.read", op.Spec{
		Resource: "NotificationSetting", Action: op.Read,
		Summary: "Read how one is told of what happens",
	}, func(ctx context.Context, tx *op.Tx, _ struct{}) ([]*Setting, error) {
		if tx.Principal().Type != principal.TypeUser {
			return []*Setting{}, nil
		}
		u, err := loadSelf(ctx, tx)
		if err != nil {
			return nil, err
		}
		return []*Setting{{Mention, channelOf(u, Mention)}}, nil
	})

	UpdateSettings = op.New("notification.update", op.Spec{
		Resource: "NotificationSetting", Action: op.Update,
		Summary: "Choose how one is told of what happens",
	}, updateSettings)
)

// Setting says by which channel a person is told of a kind of event.
type Setting struct {
	Kind    string `json:"kind" enum:"mention" doc:"Of what one is told."`
	Channel string `json:"channel" enum:"now,never" doc:"How."`
}

// Muted tells whether the person switched mails of the kind off.
func Muted(u *ent.User, kind string) bool { return channelOf(u, kind) == channelNever }

func channelOf(u *ent.User, kind string) string {
	if c, ok := u.Notifications[kind]; ok {
		return c
	}
	return channelNow
}

// PrincipalOf returns an active user as a caller with all scopes of the role.
func PrincipalOf(u *ent.User) *principal.Principal {
	return &principal.Principal{
		CompanyID: u.CompanyID, Type: principal.TypeUser, ID: u.ID, Name: u.Name, Email: u.Email, Role: principal.Role(u.Role),
		Scopes: principal.AllScopes, Method: principal.MethodSession,
	}
}

// loadSelf loads the person who calls, whatever policies hide of users.
func loadSelf(ctx context.Context, tx *op.Tx) (*ent.User, error) {
	if tx.Principal().Type != principal.TypeUser {
		return nil, apperr.New(apperr.Forbidden, "Notification settings are a person's own.")
	}
	u, err := op.Lock(tx, tx.User.Query().Where(user.ID(tx.Principal().ID))).Only(tx.Unfiltered(ctx, "everybody knows themselves"))
	if err != nil {
		return nil, fmt.Errorf("look the caller up: %w", err)
	}
	return u, nil
}

func updateSettings(ctx context.Context, tx *op.Tx, in Setting) (*Setting, error) {
	before, err := loadSelf(ctx, tx)
	if err != nil {
		return nil, err
	}
	settings := maps.Clone(before.Notifications)
	if settings == nil {
		settings = map[string]string{}
	}
	settings[in.Kind] = in.Channel
	if err := before.Update().SetNotifications(settings).Exec(ctx); err != nil {
		return nil, fmt.Errorf("keep the setting: %w", err)
	}
	tx.About(before.ID)
	tx.ChangedField(in.Kind, channelOf(before, in.Kind), in.Channel)
	return &in, nil
}
