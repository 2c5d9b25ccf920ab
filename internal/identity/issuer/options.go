package issuer

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/coreos/go-oidc/v3/oidc"

	"atrium/internal/platform/principal"
)

// Options say which issuer is trusted, and how its tokens map to users.
type Options struct {
	Issuer         string            // https://…, as in the iss of its tokens
	Audience       string            // the aud that its access tokens must have
	RequiredClaims map[string]string // further claims that its tokens must have: claim → value; a list must contain the value
	Algorithms     []string          // the signature algorithms that are accepted; empty: all asymmetric ones

	// The company of a subject. Without either option, a known subject belongs to the company of its user. A new one belongs to
	// the only company that its verified address is a member of, or to the only company of the installation. A person who signs
	// in to the web application may name the company.
	Company      string // of all subjects: id or slug
	CompanyClaim string // the claim with the company of a subject: id or slug

	// The role of a subject. RoleClaim decides the role when the token has it; otherwise the role stays as it is.
	RoleClaim string
	RoleMap   map[string]string // value of the claim → owner, admin, agent or member

	// The sign-in to the web application. Without ClientID, people sign in through the embedded provider.
	ClientID     string
	ClientSecret string
	Scopes       []string // empty: openid, email and profile

	Transport http.RoundTripper // nil: http.DefaultTransport
}

// SignsIn reports whether people sign in to the web application through the issuer.
func (o *Options) SignsIn() bool { return o.ClientID != "" }

// asymmetric lists the asymmetric signature algorithms: with them, a party that can verify cannot sign.
var asymmetric = []string{
	oidc.RS256, oidc.RS384, oidc.RS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.PS256, oidc.PS384, oidc.PS512, oidc.EdDSA,
}

// roles that a mapping may give, weakest first.
var roles = []principal.Role{principal.Member, principal.Agent, principal.Admin, principal.Owner}

// check returns what is wrong with the options, as a message for the operator.
func (o *Options) check() error {
	if !validURL(o.Issuer) {
		return errors.New("the issuer must be an https address without query or fragment")
	}
	if o.Audience == "" {
		return errors.New("the audience that the issuer's tokens must name is missing")
	}
	if o.Company != "" && o.CompanyClaim != "" {
		return errors.New("name one company or a claim that names it, not both")
	}
	if (o.RoleClaim == "") != (len(o.RoleMap) == 0) {
		return errors.New("the claim of roles and their mapping go together")
	}
	for value, role := range o.RoleMap {
		if !slices.Contains(roles, principal.Role(role)) {
			return fmt.Errorf("the role of %q must be owner, admin, agent or member", value)
		}
	}
	for _, alg := range o.Algorithms {
		if !slices.Contains(asymmetric, alg) {
			return fmt.Errorf("the algorithm must be one of %s", strings.Join(asymmetric, ", "))
		}
	}
	return nil
}

// validURL reports whether s may be the address of a provider: https, or http on a loopback address for tests.
func validURL(s string) bool {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || strings.Contains(s, "#") {
		return false
	}
	if u.Scheme == "https" {
		return true
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return u.Scheme == "http" && err == nil && ip.IsLoopback()
}
