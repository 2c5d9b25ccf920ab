package people

import (
	"context"
	"fmt"
	"strings"

	"atrium/ent"
	"atrium/ent/externalidentity"
	"atrium/ent/user"
	"atrium/internal/identity/access"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
)

// Provision finds the user for a person whom a configured issuer has authenticated. It creates the member, links the
// identity or changes the role where needed. No door offers it: package issuer runs it as the operator, who configured
// the issuer.
var Provision = op.New("user.provision", op.Spec{
	Resource: "User", Action: op.Update, Summary: "Let in somebody whom the configured issuer vouches for",
}, provision)

// ProvisionInput holds the issuer's claims. No caller can set them.
type ProvisionInput struct {
	Issuer        string         `json:"-"`
	Subject       string         `json:"-"` // the issuer's
	Email         string         `json:"-"` // lower case; may be empty
	EmailVerified bool           `json:"-"`
	Name          string         `json:"-"` // may be empty
	Role          principal.Role `json:"-"` // empty when the issuer does not set it
}

// provision links the subject to the member with the same verified address or, if the company wants that, creates a new
// member. It makes an invited member active. Returns forbidden for a subject without a user and for a deactivated user.
func provision(ctx context.Context, tx *op.Tx, in ProvisionInput) (*ent.User, error) {
	known, err := tx.ExternalIdentity.Query().
		Where(externalidentity.Issuer(in.Issuer), externalidentity.Subject(in.Subject)).Only(ctx)
	var u *ent.User
	switch {
	case err == nil:
		tx.As("user.updated")
		u, err = loadUserToChange(ctx, tx, known.UserID)
	case ent.IsNotFound(err):
		u, err = firstCome(ctx, tx, in)
	}
	if err != nil {
		return nil, fmt.Errorf("find whom the issuer vouches for: %w", err)
	}
	tx.About(u.ID)
	if access.Gone(u.Status) {
		return nil, apperr.New(apperr.Forbidden, "The user is deactivated.")
	}
	if u, err = setStatus(ctx, tx, u, user.StatusActive); err != nil {
		return nil, err
	}
	return followRole(ctx, tx, u, in.Role)
}

// firstCome links a subject that is new here to a user.
func firstCome(ctx context.Context, tx *op.Tx, in ProvisionInput) (*ent.User, error) {
	if in.Email == "" {
		return nil, apperr.New(apperr.Forbidden, "The issuer does not say what the person's address is.")
	}
	id, err := tx.User.Query().Where(user.Email(in.Email)).OnlyID(ctx)
	var u *ent.User
	switch {
	case err == nil && !in.EmailVerified:
		return nil, apperr.New(apperr.Forbidden, "The issuer has not verified the address, which is a member's.")
	case err == nil:
		tx.As("user.linked")
		if u, err = loadUserToChange(ctx, tx, id); err == nil {
			err = isUntied(ctx, tx, u, in.Issuer)
		}
	case ent.IsNotFound(err):
		tx.As("user.created")
		u, err = newcomer(ctx, tx, in)
	}
	if err != nil {
		return nil, err
	}
	tx.ChangedField("issuer", nil, in.Issuer)
	tx.ChangedField("subject", nil, in.Subject)
	if err := tx.ExternalIdentity.Create().SetIssuer(in.Issuer).SetSubject(in.Subject).SetUserID(u.ID).Exec(ctx); err != nil {
		return nil, fmt.Errorf("tie the subject to the user: %w", err)
	}
	return u, nil
}

// isUntied refuses a second subject for a member: if the issuer gives the address to somebody else, that person must not
// get the first one's access.
func isUntied(ctx context.Context, tx *op.Tx, u *ent.User, issuer string) error {
	tied, err := tx.ExternalIdentity.Query().Where(externalidentity.Issuer(issuer), externalidentity.UserID(u.ID)).Exist(ctx)
	if err != nil {
		return fmt.Errorf("look for the member's tie: %w", err)
	}
	if tied {
		return apperr.New(apperr.Forbidden, "The address is a member's whom the issuer knows as another subject.")
	}
	return nil
}

// newcomer creates a member for a person who was not invited.
func newcomer(ctx context.Context, tx *op.Tx, in ProvisionInput) (*ent.User, error) {
	co, err := tx.Company.Get(ctx, tx.Principal().CompanyID)
	if err != nil {
		return nil, fmt.Errorf("read the company: %w", err)
	}
	if !co.JitUsers || co.SandboxOf != nil {
		return nil, apperr.New(apperr.Forbidden, "The person is no member of the company.")
	}
	accountID, err := accountFor(ctx, tx, in)
	if err != nil {
		return nil, err
	}
	name, _, _ := strings.Cut(in.Email, "@")
	if in.Name != "" {
		name = in.Name
	}
	role := user.RoleMember
	if in.Role != "" {
		role = user.Role(in.Role)
	}
	u, err := tx.User.Create().SetAccountID(accountID).SetEmail(in.Email).SetName(name).SetRole(role).SetStatus(user.StatusActive).
		SetAcceptedAt(tx.Now(ctx)).Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("create the user: %w", err)
	}
	tx.ChangedField("email", nil, u.Email)
	tx.ChangedField("name", nil, u.Name)
	tx.ChangedField("role", nil, u.Role)
	tx.ChangedField("status", nil, u.Status)
	tx.AuthorityChanged()
	return u, nil
}

// accountFor returns the account for a newcomer. If the issuer has not verified the address, the newcomer gets an account
// without an address, and only if nobody has proven that the address is theirs; an invitation alone does not count. Returns
// forbidden when the account of a verified address is an import's.
func accountFor(ctx context.Context, tx *op.Tx, in ProvisionInput) (id string, err error) {
	if in.EmailVerified {
		acc, err := accountOf(ctx, tx, in.Email)
		if err != nil {
			return "", err
		}
		if acc.UnprovenSince != nil {
			return "", Unproven()
		}
		return acc.ID, nil
	}
	err = tx.AsSystem(ctx, "provision: make the newcomer's account", func(ctx context.Context) error {
		taken, err := Taken(ctx, tx.Client, in.Email)
		if err != nil {
			return err
		}
		if taken {
			return apperr.New(apperr.Forbidden, "The issuer has not verified the address, which is somebody's already.")
		}
		made, err := tx.Account.Create().Save(ctx)
		if err != nil {
			return fmt.Errorf("make the account: %w", err)
		}
		id = made.ID
		return nil
	})
	return id, err
}

// followRole gives the user the role that the issuer says. The last owner keeps the role: the company would have nobody
// who could give it back.
func followRole(ctx context.Context, tx *op.Tx, before *ent.User, role principal.Role) (*ent.User, error) {
	if role == "" || user.Role(role) == before.Role {
		return before, nil
	}
	if err := mayLeaveOwners(ctx, tx, before); err != nil {
		if apperr.CodeOf(err) == apperr.Conflict {
			return before, nil
		}
		return nil, err
	}
	after, err := before.Update().SetRole(user.Role(role)).Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("set the user's role: %w", err)
	}
	after.Edges = before.Edges
	tx.ChangedField("role", before.Role, after.Role)
	tx.AuthorityChanged()
	return after, nil
}
