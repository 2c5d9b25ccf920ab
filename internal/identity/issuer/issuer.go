package issuer

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"atrium/internal/platform/principal"
	"atrium/internal/platform/text"
)

// Issuer is the provider that the operator configured. Safe for concurrent use.
type Issuer struct {
	*Remote
	options Options
}

// New returns the configured issuer, without calling it. The error says which option is invalid.
func New(o Options, now func() time.Time) (*Issuer, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if len(o.Scopes) == 0 {
		o.Scopes = []string{oidc.ScopeOpenID, "email", "profile"}
	}
	return &Issuer{Remote: NewRemote(o.Issuer, o.Algorithms, o.Transport, now), options: o}, nil
}

// Options returns the options that the issuer was created with, completed by the default scopes.
func (i *Issuer) Options() Options { return i.options }

// Subject is the person that a verified token speaks for, with the claims that Atrium uses.
type Subject struct {
	Issuer, Subject string
	Company         string // id or slug; empty when neither token nor configuration names one
	Email           string // lower case; empty when the token names none
	EmailVerified   bool
	Name            string
	Role            principal.Role // empty when the token does not decide the role

	ClientID        string
	Scopes          []string
	Methods         []string  // amr
	AuthenticatedAt time.Time // auth_time; zero when the token lacks it
	IssuedAt        time.Time
	ExpiresAt       time.Time

	accessToken string // for the issuer's userinfo endpoint
}

// Issued reports whether the token's iss claim is the issuer. It verifies nothing.
func (i *Issuer) Issued(token string) bool {
	var c struct {
		Issuer string `json:"iss"`
	}
	return part(token, 1, &c) == nil && c.Issuer == i.issuer
}

// AccessToken verifies an access token for this installation's audience. Returns ErrToken for any other token, including ID
// tokens of the issuer, and ErrUnavailable when the issuer's keys are not cached and cannot be read.
func (i *Issuer) AccessToken(ctx context.Context, raw string) (*Subject, error) {
	t, err := i.verify(ctx, raw, i.options.Audience)
	if err != nil {
		return nil, err
	}
	c, err := claimsOf(t)
	if err != nil {
		return nil, err
	}
	if err := i.isAccessToken(raw, c); err != nil {
		return nil, err
	}
	return i.subject(t, c, raw)
}

// isAccessToken refuses tokens that the issuer signed for another purpose. Where the issuer does not mark its access tokens,
// claims that only ID tokens have mark an ID token. When the audience is the client itself, this check is left out, because
// such an issuer issues ID tokens only.
func (i *Issuer) isAccessToken(raw string, c claims) error {
	var header struct {
		Type string `json:"typ"`
	}
	if err := part(raw, 0, &header); err != nil {
		return err
	}
	marked := false
	switch typ := strings.TrimPrefix(strings.ToLower(header.Type), "application/"); typ {
	case "at+jwt":
		marked = true
	case "", "jwt":
	default:
		return fmt.Errorf("%w: its type is %q", ErrToken, typ)
	}
	for claim, means := range map[string]string{"token_use": "access", "typ": "Bearer"} {
		switch v, given := c[claim].(string); {
		case given && v == means:
			marked = true
		case given:
			return fmt.Errorf("%w: its %s is %q", ErrToken, claim, v)
		}
	}
	if marked || i.options.Audience == i.options.ClientID {
		return nil
	}
	for _, claim := range []string{"nonce", "at_hash", "c_hash", "s_hash", "events"} {
		if _, given := c[claim]; given {
			return fmt.Errorf("%w: it is no access token, it has a %s", ErrToken, claim)
		}
	}
	return nil
}

// SignedIn returns the subject of an ID token that IDToken has verified. accessToken was issued together with it.
func (i *Issuer) SignedIn(t *oidc.IDToken, accessToken string) (*Subject, error) {
	c, err := claimsOf(t)
	if err != nil {
		return nil, err
	}
	return i.subject(t, c, accessToken)
}

// subject reads the claims of a token whose signature, issuer, audience and times are verified.
func (i *Issuer) subject(t *oidc.IDToken, c claims, accessToken string) (*Subject, error) {
	for name, want := range i.options.RequiredClaims {
		if !slices.Contains(c.texts(name), want) {
			return nil, fmt.Errorf("%w: its claim %s is not what it must be", ErrToken, name)
		}
	}
	if t.Subject == "" || len(t.Subject) > 255 || text.Plain(t.Subject) != t.Subject {
		return nil, fmt.Errorf("%w: it names nobody", ErrToken)
	}
	s := &Subject{
		Issuer: i.issuer, Subject: t.Subject, Company: i.options.Company, ClientID: c.text("azp"), Methods: c.texts("amr"),
		IssuedAt: t.IssuedAt, ExpiresAt: t.Expiry, accessToken: accessToken, Role: i.role(c),
	}
	if s.ClientID == "" {
		s.ClientID = c.text("client_id")
	}
	if i.options.CompanyClaim != "" {
		if s.Company = c.text(i.options.CompanyClaim); s.Company == "" || text.Plain(s.Company) != s.Company {
			return nil, fmt.Errorf("%w: it names no company", ErrToken)
		}
	}
	for _, claim := range []string{"scope", "scp"} {
		for _, text := range c.texts(claim) {
			s.Scopes = append(s.Scopes, strings.Fields(text)...)
		}
	}
	if at := c.number("auth_time"); at > 0 {
		s.AuthenticatedAt = time.Unix(at, 0).UTC()
	}
	s.about(c)
	return s, nil
}

// about reads the claims about the person from a token or from the userinfo endpoint.
func (s *Subject) about(c claims) {
	if email := strings.ToLower(strings.TrimSpace(c.text("email"))); email != "" && len(email) <= text.MaxEmail && text.Plain(email) == email && strings.Count(email, "@") == 1 {
		s.Email, s.EmailVerified = email, c.text("email_verified") == "true"
	}
	for _, claim := range []string{"name", "preferred_username"} {
		if name := strings.TrimSpace(text.Plain(c.text(claim))); name != "" && s.Name == "" {
			s.Name = string([]rune(name)[:min(len([]rune(name)), 200)])
		}
	}
}

// role returns the highest role that the values of RoleClaim map to; member when they map to none; empty when the token lacks
// the claim.
func (i *Issuer) role(c claims) principal.Role {
	if i.options.RoleClaim == "" || c.value(i.options.RoleClaim) == nil {
		return ""
	}
	best := 0
	for _, value := range c.texts(i.options.RoleClaim) {
		best = max(best, slices.Index(roles, principal.Role(i.options.RoleMap[value])))
	}
	return roles[best]
}

// complete reads the person's address from the userinfo endpoint when the token lacks it, as most access tokens do. It leaves
// the subject unchanged when the issuer refuses, and returns ErrUnavailable when the issuer does not answer.
func (i *Issuer) complete(ctx context.Context, s *Subject) error {
	if s.Email != "" || s.accessToken == "" {
		return nil
	}
	m, err := i.Metadata(ctx)
	if err != nil {
		return err
	}
	if m.provider.UserInfoEndpoint() == "" {
		return nil
	}
	info, err := m.provider.UserInfo(i.Context(ctx), oauth2.StaticTokenSource(&oauth2.Token{AccessToken: s.accessToken}))
	if err != nil {
		if _, lost := errors.AsType[*url.Error](err); lost {
			return fmt.Errorf("%w: %w", ErrUnavailable, err)
		}
		return nil // for example, the token is not meant for this endpoint
	}
	if info.Subject != s.Subject {
		return fmt.Errorf("%w: the issuer speaks of somebody else", ErrToken)
	}
	var c claims
	if err := info.Claims(&c); err != nil {
		return fmt.Errorf("ask about the person: %w", err)
	}
	s.about(c)
	return nil
}

// part decodes the n-th part of a token as JSON. It verifies nothing.
func part(token string, n int, into any) error {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return fmt.Errorf("%w: malformed", ErrToken)
	}
	raw, err := base64.RawURLEncoding.DecodeString(parts[n])
	if err != nil {
		return fmt.Errorf("%w: malformed", ErrToken)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return errors.Join(ErrToken, err)
	}
	return nil
}
