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

	"atrium/internal/principal"
)

// Options say which issuer is trusted, and how what it says becomes a user.
type Options struct {
	Issuer         string            // https://…, as in its tokens' iss
	Audience       string            // that its access tokens must name
	RequiredClaims map[string]string // what its tokens must say besides: claim → value; a list must hold the value
	Algorithms     []string          // that its tokens may be signed with; all asymmetric ones when empty

	// Whose company it is. Without either, a subject that is known belongs where it is known, and a new one to the only
	// company that its verified address is a member of, or to the only one there is; whoever signs in to the web
	// application may say which.
	Company      string // everybody's: id or slug
	CompanyClaim string // the claim that holds each one's: id or slug

	// What role the issuer gives. A token that has RoleClaim decides the role; one that lacks it leaves it alone.
	RoleClaim string
	RoleMap   map[string]string // value of the claim → owner, admin, agent or member

	// How people sign in to the web application. Without ClientID they do so by the embedded provider.
	ClientID     string
	ClientSecret string
	Scopes       []string // openid, email and profile when empty

	Transport http.RoundTripper // nil: http.DefaultTransport
}

// SignsIn reports whether people sign in to the web application through the issuer.
func (o *Options) SignsIn() bool { return o.ClientID != "" }

// asymmetric are the algorithms by which somebody who can verify cannot sign.
var asymmetric = []string{
	oidc.RS256, oidc.RS384, oidc.RS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.PS256, oidc.PS384, oidc.PS512, oidc.EdDSA,
}

// roles that a mapping may give, weakest first.
var roles = []principal.Role{principal.Member, principal.Agent, principal.Admin, principal.Owner}

// check returns what is wrong with the options, in the words of the flags' reader.
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

// validURL reports whether s is an address that a provider may have: https, or http on a loopback address, as for trying
// things out.
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
