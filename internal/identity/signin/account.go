package signin

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"atrium/ent"
	"atrium/ent/company"
	"atrium/ent/factor"
	"atrium/ent/signin"
	"atrium/ent/user"
	"atrium/internal/gate"
	"atrium/internal/identity/mfa"
	"atrium/internal/identity/pages"
	"atrium/internal/platform/locale"
	"atrium/internal/platform/store"
	"atrium/internal/platform/text"
)

// factorsData is the data of /account/mfa.
type factorsData struct {
	Email     string
	Factors   []factorRow
	Ways      []enrolWay
	CodesLeft int
	Forms     string // base path of the forms
	Rename    string // the factor that is being renamed
}

// factorRow is one factor of the list.
type factorRow struct {
	ID, Name, Kind string
	About          locale.Text // when it was added and last used
}

var kindWords = map[factor.Kind]locale.Text{
	factor.KindTotp: locale.Say("Authenticator app"), factor.KindSms: locale.Say("Text message"), factor.KindPasskey: locale.Say("Passkey"),
}

// ownPlace returns /account/mfa for a person who is signed in with a recent proof. It sends everybody else to the
// sign-in, and returns nil.
func (s *Server) ownPlace(w http.ResponseWriter, r *http.Request) *place {
	row, err := s.signIns.Current(r.Context(), r)
	if err != nil {
		s.Broken(w, r, err)
		return nil
	}
	g := &goal{page: PathFactors}
	if row == nil || !s.signIns.Fresh(row) || r.Method == http.MethodGet && !g.fresh(row.AuthenticatedAt, s.signIns.now()) {
		http.Redirect(w, r, g.At(PathSignIn), http.StatusSeeOther)
		return nil
	}
	return &place{base: PathFactors, back: PathFactors, signIn: row}
}

// showFactors lists the account's factors, or shows how to enrol the first one.
func (s *Server) showFactors(w http.ResponseWriter, r *http.Request) {
	at := s.ownPlace(w, r)
	if at == nil {
		return
	}
	if len(s.open(at.signIn).Codes) > 0 {
		s.keepPage(w, r, at)
		return
	}
	all, err := s.factors(r.Context(), at.signIn.AccountID)
	switch {
	case err != nil:
		s.Broken(w, r, err)
	case len(all) == 0 || r.URL.Query().Has("add"):
		s.enrolPage(w, r, at, pages.Page{}, http.StatusOK)
	default:
		s.factorsPage(w, r, at, all, pages.Page{}, http.StatusOK)
	}
}

// factorsPage lists the account's factors.
func (s *Server) factorsPage(w http.ResponseWriter, r *http.Request, at *place, all []*ent.Factor, p pages.Page, status int) {
	email, err := s.email(r.Context(), at.signIn)
	if err != nil {
		s.Broken(w, r, err)
		return
	}
	left, err := mfa.CodesLeft(s.signIns.system(r.Context()), s.store.Reader(), at.signIn.AccountID)
	if err != nil {
		s.Broken(w, r, err)
		return
	}
	data := factorsData{Email: email, CodesLeft: left, Forms: at.base, Rename: r.URL.Query().Get("rename")}
	data.Ways, _ = s.ways(at, "")
	reader := s.Printer(r)
	for _, f := range all {
		row := factorRow{ID: f.ID, Name: f.Name, Kind: reader.T(kindWords[f.Kind])}
		if row.About = locale.Say("Added %s, not used yet", reader.Date(f.CreatedAt)); f.LastUsedAt != nil {
			row.About = locale.Say("Added %s, last used %s", reader.Date(f.CreatedAt), reader.Date(*f.LastUsedAt))
		}
		data.Factors = append(data.Factors, row)
	}
	p.Body, p.Title, p.Wide, p.Data = "factors", locale.Say("Second factor"), true, data
	if p.Intro.Empty() {
		p.Intro = locale.Say("What you prove yourself with besides your password.")
	}
	s.Render(w, r, status, p)
}

// ownFactor returns the factor that a form names. If it is not the person's, ownFactor answers the request and returns
// nil.
func (s *Server) ownFactor(w http.ResponseWriter, r *http.Request) (*place, *ent.Factor) {
	at := s.ownPlace(w, r)
	if at == nil {
		return nil, nil
	}
	all, err := s.factors(r.Context(), at.signIn.AccountID)
	if err != nil {
		s.Broken(w, r, err)
		return nil, nil
	}
	i := slices.IndexFunc(all, func(f *ent.Factor) bool { return f.ID == r.PostFormValue("factor") })
	if i < 0 {
		http.Redirect(w, r, at.back, http.StatusSeeOther)
		return nil, nil
	}
	return at, all[i]
}

// postRename renames a factor.
func (s *Server) postRename(w http.ResponseWriter, r *http.Request) {
	at, f := s.ownFactor(w, r)
	if f == nil {
		return
	}
	name := strings.Join(strings.Fields(text.Cut(r.PostFormValue("name"), 400)), " ")
	if name == "" || utf8.RuneCountInString(name) > 100 {
		s.again(w, r, at, pages.Page{Error: locale.Say("A name has 1 to 100 characters.")}, http.StatusUnprocessableEntity)
		return
	}
	err := s.signIns.write(r.Context(), func(ctx context.Context, tx *store.Tx) error {
		return tx.Factor.Update().Where(factor.ID(f.ID)).SetName(name).Exec(ctx)
	})
	if err != nil {
		s.Broken(w, r, fmt.Errorf("rename a factor: %w", err))
		return
	}
	http.Redirect(w, r, at.back, http.StatusSeeOther)
}

// postRemove removes a factor, unless it is the last one and a company requires one.
func (s *Server) postRemove(w http.ResponseWriter, r *http.Request) {
	at, f := s.ownFactor(w, r)
	if f == nil {
		return
	}
	var needed bool
	err := s.signIns.write(r.Context(), func(ctx context.Context, tx *store.Tx) error {
		if err := mfa.Lock(ctx, tx, f.AccountID); err != nil {
			return err
		}
		n, err := tx.Factor.Query().Where(factor.AccountID(f.AccountID)).Count(ctx)
		if err != nil {
			return fmt.Errorf("count the factors: %w", err)
		}
		if needed, err = required(ctx, tx, f.AccountID); err != nil || needed && n <= 1 {
			return err
		}
		needed = false
		return s.removeFactor(ctx, tx, gate.Origin(w, r), f)
	})
	switch {
	case err != nil:
		s.Broken(w, r, fmt.Errorf("remove a factor: %w", err))
	case needed:
		s.again(w, r, at, pages.Page{Error: locale.Say("Your company requires a second factor. Add another one before you remove this one.")}, http.StatusConflict)
	default:
		http.Redirect(w, r, at.back, http.StatusSeeOther)
	}
}

// required reports whether one of the account's companies requires a second factor.
func required(ctx context.Context, tx *store.Tx, accountID string) (bool, error) {
	var ids []string
	err := tx.User.Query().Where(user.AccountID(accountID), user.StatusEQ(user.StatusActive), user.LiveUserIDIsNil()).
		Limit(maxMemberships).Select(user.FieldCompanyID).Scan(ctx, &ids)
	if err != nil {
		return false, fmt.Errorf("look for the account's companies: %w", err)
	}
	yes, err := tx.Company.Query().Where(company.IDIn(ids...), company.MfaRequired(true)).Exist(ctx)
	if err != nil {
		return false, fmt.Errorf("ask the companies: %w", err)
	}
	return yes, nil
}

// postRenewCodes replaces the recovery codes.
func (s *Server) postRenewCodes(w http.ResponseWriter, r *http.Request) {
	at := s.ownPlace(w, r)
	if at == nil {
		return
	}
	all, err := s.factors(r.Context(), at.signIn.AccountID)
	if err != nil || len(all) == 0 {
		s.moved(w, r, &goal{page: PathFactors}, errOr(err, errMoved))
		return
	}
	err = s.signIns.write(r.Context(), func(ctx context.Context, tx *store.Tx) error {
		if err := mfa.Lock(ctx, tx, at.signIn.AccountID); err != nil {
			return err
		}
		codes, err := mfa.RenewCodes(ctx, tx, at.signIn.AccountID)
		if err != nil {
			return err
		}
		p := s.open(at.signIn)
		p.Codes = codes
		sealed, err := sealPending(s.sealer, at.signIn.ID, p)
		if err != nil {
			return err
		}
		if err := tx.SignIn.Update().Where(signin.ID(at.signIn.ID), signin.EndedAtIsNil()).SetPending(sealed).Exec(ctx); err != nil {
			return err
		}
		return s.tell(ctx, tx, at.signIn.AccountID, CodesRenewed)
	})
	if err != nil {
		s.Broken(w, r, fmt.Errorf("renew the recovery codes: %w", err))
		return
	}
	http.Redirect(w, r, at.back, http.StatusSeeOther)
}

// postSignOut signs the browser out, and ends everything that came from its sign-in.
func (s *Server) postSignOut(w http.ResponseWriter, r *http.Request) {
	row, err := s.signIns.begun(r.Context(), r)
	if err == nil && row != nil {
		err = s.provider.EndSignIn(r.Context(), row.ID)
	}
	if err != nil {
		s.Broken(w, r, err)
		return
	}
	pages.DropCookie(w, signInCookie)
	pages.NewFormCookie(w)
	s.Message(w, r, http.StatusOK, locale.Say("You are signed out"), locale.Say("Here, and in the applications that you used with this sign-in."), s.home())
}

// again shows the list again.
func (s *Server) again(w http.ResponseWriter, r *http.Request, at *place, p pages.Page, status int) {
	all, err := s.factors(r.Context(), at.signIn.AccountID)
	if err != nil {
		s.Broken(w, r, err)
		return
	}
	s.factorsPage(w, r, at, all, p, status)
}

func errOr(err, other error) error {
	if err != nil {
		return err
	}
	return other
}
