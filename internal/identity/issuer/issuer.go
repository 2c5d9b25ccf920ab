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

	"atrium/internal/principal"
)

// Issuer is the provider that the operator has configured. Safe for concurrent use.
type Issuer struct {
	*Remote
	options Options
}

// New returns the configured issuer; it is asked nothing yet. The error says which option is no good.
func New(o Options, now func() time.Time) (*Issuer, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if len(o.Scopes) == 0 {
		o.Scopes = []string{oidc.ScopeOpenID, "email", "profile"}
	}
	return &Issuer{Remote: NewRemote(o.Issuer, o.Algorithms, o.Transport, now), options: o}, nil
}

// Options returns what the issuer was made with.
func (i *Issuer) Options() Options { return i.options }

// Subject is whom a verified token of the issuer speaks for, and what else it says that Atrium asks about.
type Subject struct {
	Issuer, Subject string
	Company         string // id or slug; empty when neither token nor configuration names one
	Email           string // lower case; empty when the token names none
	EmailVerified   bool
	Name            string
	Role            principal.Role // empty when the token leaves the role alone

	ClientID        string
	Scopes          []string
	Methods         []string  // amr
	AuthenticatedAt time.Time // auth_time; zero when the issuer does not say
	IssuedAt        time.Time
	ExpiresAt       time.Time

	accessToken string // by which the issuer can be asked for the rest
}

// Issued reports whether a token says of itself that it comes from the issuer. Nothing of it was verified.
func (i *Issuer) Issued(token string) bool {
	var c struct {
		Issuer string `json:"iss"`
	}
	return part(token, 1, &c) == nil && c.Issuer == i.issuer
}

// AccessToken verifies an access token for this installation's audience. Returns ErrToken for every other token, the ID
// tokens of the issuer included, and ErrUnavailable when its keys are not known and cannot be had.
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

// isAccessToken refuses what the issuer signed for another purpose. Issuers without a mark for access tokens of their own
// are told apart by what only ID tokens hold, unless the audience is the client itself: such an issuer gives out nothing
// else.
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

// SignedIn returns whom an ID token speaks for, which IDToken has verified; accessToken came with it.
func (i *Issuer) SignedIn(t *oidc.IDToken, accessToken string) (*Subject, error) {
	c, err := claimsOf(t)
	if err != nil {
		return nil, err
	}
	return i.subject(t, c, accessToken)
}

// subject reads the claims of a token whose signature, issuer, audience and time are good.
func (i *Issuer) subject(t *oidc.IDToken, c claims, accessToken string) (*Subject, error) {
	for name, want := range i.options.RequiredClaims {
		if !slices.Contains(c.texts(name), want) {
			return nil, fmt.Errorf("%w: its claim %s is not what it must be", ErrToken, name)
		}
	}
	if t.Subject == "" || len(t.Subject) > 255 {
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
		if s.Company = c.text(i.options.CompanyClaim); s.Company == "" {
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

// about reads what a token or the userinfo endpoint says about the person.
func (s *Subject) about(c claims) {
	if email := strings.ToLower(strings.TrimSpace(c.text("email"))); email != "" && len(email) <= 254 && strings.Count(email, "@") == 1 {
		s.Email, s.EmailVerified = email, c.text("email_verified") == "true"
	}
	for _, claim := range []string{"name", "preferred_username"} {
		if name := strings.TrimSpace(strings.ToValidUTF8(c.text(claim), "")); name != "" && s.Name == "" {
			s.Name = string([]rune(name)[:min(len([]rune(name)), 200)])
		}
	}
}

// role returns the mightiest role that the token's claim is mapped to, member when it is mapped to none, and nothing when
// the token does not have the claim.
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

// complete asks the issuer about a person of whom the token does not give the address, as access tokens seldom do. An
// issuer that will not tell leaves the subject as it is; one that does not answer is ErrUnavailable.
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
		return nil // such as a token that was not given for that
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

// part decodes the n-th part of a token; nothing of it was verified.
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
