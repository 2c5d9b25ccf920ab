package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"time"

	"atrium/internal/identity/issuer"
	"atrium/internal/platform/egress"
)

// issuerFlags configure an external OpenID provider whose tokens are accepted.
type issuerFlags struct {
	OIDCIssuer         string            `name:"oidc-issuer" help:"Another issuer of access tokens, as in their iss."`
	OIDCAudience       string            `name:"oidc-audience" help:"The audience that its access tokens must name."`
	OIDCRequiredClaims map[string]string `name:"oidc-required-claims" help:"What its tokens must say besides, as claim=value;…"`
	OIDCAlgorithms     []string          `name:"oidc-algorithms" help:"Algorithms that its tokens may be signed with (default: the asymmetric ones)."`
	OIDCCompany        string            `name:"oidc-company" help:"The company of everybody whom it vouches for: id or slug."`
	OIDCCompanyClaim   string            `name:"oidc-company-claim" help:"The claim that names each one's company instead."`
	OIDCRoleClaim      string            `name:"oidc-role-claim" help:"The claim that --oidc-role-map makes roles of."`
	OIDCRoleMap        map[string]string `name:"oidc-role-map" help:"Roles by the claim's values, as value=role;…"`
	OIDCClientID       string            `name:"oidc-client-id" help:"The client as which people sign in to the web application there; the built-in provider is off then."`
	OIDCClientSecret   string            `name:"oidc-client-secret" help:"The client's secret."`
	OIDCScopes         []string          `name:"oidc-scopes" help:"What the client asks for (default: openid, email, profile)."`
}

// issuerOptions returns the options of the external issuer; nil without one. caFile holds additional CAs to trust.
func (f issuerFlags) issuerOptions(caFile string) (*issuer.Options, error) {
	if f.OIDCIssuer == "" {
		if f.OIDCAudience != "" || f.OIDCClientID != "" {
			return nil, errors.New("--oidc-audience and --oidc-client-id need --oidc-issuer")
		}
		if f.OIDCCompany != "" || f.OIDCCompanyClaim != "" {
			return nil, errors.New("--oidc-company and --oidc-company-claim need --oidc-issuer")
		}
		return nil, nil // no external issuer
	}
	roots, err := egress.Roots(caFile)
	if err != nil {
		return nil, fmt.Errorf("--egress-ca: %w", err)
	}
	return &issuer.Options{
		Issuer: f.OIDCIssuer, Audience: f.OIDCAudience, RequiredClaims: f.OIDCRequiredClaims, Algorithms: f.OIDCAlgorithms,
		Company: f.OIDCCompany, CompanyClaim: f.OIDCCompanyClaim, RoleClaim: f.OIDCRoleClaim, RoleMap: f.OIDCRoleMap,
		ClientID: f.OIDCClientID, ClientSecret: f.OIDCClientSecret, Scopes: f.OIDCScopes,
		// The operator chose the address, so it may be private, unlike addresses that companies choose.
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
			TLSHandshakeTimeout: 10 * time.Second, ResponseHeaderTimeout: 10 * time.Second, IdleConnTimeout: time.Minute, ForceAttemptHTTP2: true,
		},
	}, nil
}
