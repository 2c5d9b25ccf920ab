package provider

import (
	"context"
	"net/http"
	"net/url"
	"slices"

	"atrium/internal/identity"
	"atrium/internal/identity/access"
	"atrium/internal/platform/locale"
	"atrium/internal/platform/store"
)

// logout is a request to the end-session endpoint (OpenID Connect RP-Initiated Logout 1.0).
type logout struct {
	SignInID string // from the id_token_hint; empty without one
	ClientID string
	Return   string // the registered address to redirect to afterwards; empty for none
	State    string
	Hidden   url.Values // the parameters, as hidden fields of the confirmation form
}

// endSession signs a person out. With a valid id_token_hint it does so at once. Without one it asks the person first, because
// any page can send a browser here.
func (p *Provider) endSession(w http.ResponseWriter, r *http.Request) {
	params, ok := p.readParams(w, r)
	if !ok {
		return
	}
	out, fault, err := p.readLogout(r.Context(), params)
	if err != nil {
		p.errorPage(w, r, err)
		return
	}
	if !fault.Empty() {
		p.message(w, r, http.StatusBadRequest, locale.Say("You are still signed in"), fault)
		return
	}
	id := out.SignInID
	if id == "" {
		current, err := p.signedIn(r.Context(), r)
		if err != nil {
			p.errorPage(w, r, err)
			return
		}
		if current != nil && !confirmed(r) {
			p.render(w, r, Page{
				Status: http.StatusOK, Title: locale.Say("Sign out?"),
				Text:   locale.Say("You will be signed out here, and in the applications that you use with this sign-in."),
				Action: p.prefix + pathEndSession, Hidden: out.Hidden, FormTo: identity.FormAction(out.Return), // without the query of the original request
			})
			return
		}
		if current != nil {
			id = current.ID
		}
	}
	if err := p.EndSignIn(r.Context(), id); err != nil {
		p.errorPage(w, r, err)
		return
	}
	if out.Return == "" {
		p.message(w, r, http.StatusOK, locale.Say("You are signed out"), locale.Say("You can close this window."))
		return
	}
	params = url.Values{}
	if out.State != "" {
		params.Set("state", out.State)
		out.Return = withQuery(out.Return, params)
	}
	http.Redirect(w, r, out.Return, http.StatusSeeOther)
}

// confirmed reports whether the person submitted the form of the confirmation page, from that page.
func confirmed(r *http.Request) bool {
	return r.Method == http.MethodPost && r.PostForm.Get("confirm") == "yes" && new(http.CrossOriginProtection).Check(r) == nil
}

// readLogout reads the parameters. fault is the error message for the person when they are not valid, else empty.
func (p *Provider) readLogout(ctx context.Context, params url.Values) (out logout, fault locale.Text, err error) {
	malformed := locale.Say("The application that sent you here did not say properly what it wants.")
	for name, values := range params {
		if len(values) > 1 || !clean(name) || !clean(values[0]) {
			return out, malformed, nil
		}
	}
	out = logout{ClientID: params.Get("client_id"), Return: params.Get("post_logout_redirect_uri"), State: params.Get("state"), Hidden: url.Values{}}
	if len(out.State) > maxText || len(out.Return) > maxText {
		return out, malformed, nil
	}
	for _, name := range []string{"client_id", "post_logout_redirect_uri", "state"} {
		if v := params.Get(name); v != "" {
			out.Hidden.Set(name, v)
		}
	}
	if token := params.Get("id_token_hint"); token != "" {
		h, err := p.readHint(ctx, token, out.ClientID)
		if err != nil {
			return out, malformed, nil // any error: an invalid hint is ignored as a whole
		}
		out.SignInID, out.ClientID = h.SignInID, h.ClientID
	}
	if out.ClientID == "" && out.Return == "" {
		return out, locale.Text{}, nil
	}
	c, err := p.client(ctx, out.ClientID)
	if err != nil {
		return out, locale.Text{}, err
	}
	if c == nil || out.Return != "" && !slices.Contains(c.postLogout, out.Return) {
		return out, locale.Say("The application that sent you here asked to continue to an address that is not registered for it."), nil
	}
	return out, locale.Text{}, nil
}

// EndSignIn ends a sign-in together with its grants and sessions. It does nothing for an empty id and for a sign-in that has
// already ended.
func (p *Provider) EndSignIn(ctx context.Context, id string) error {
	if id == "" {
		return nil
	}
	return p.store.Write(p.global(ctx), func(ctx context.Context, tx *store.Tx) error {
		_, err := access.End(ctx, access.In(tx, p.queue), access.SignIn(id), access.SignedOut)
		return err
	})
}
