package account

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"atrium/ent"
	entrequest "atrium/ent/request"
	"atrium/ent/user"
	"atrium/internal/desk/request"
	"atrium/internal/identity/access"
	"atrium/internal/identity/pages"
	"atrium/internal/notify/notice"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/locale"
	"atrium/internal/platform/principal"
)

// ratingOf is the additional data under which links' tokens are sealed.
const ratingOf = "rate"

// ratingForm is the data of the page.
type ratingForm struct {
	Token, About string
	Satisfaction int // 1 to 5; 0 for not yet
	Comment      string
}

// Choices are the answers, from the best on.
func (ratingForm) Choices() []ratingChoice { return ratingChoices }

type ratingChoice struct {
	Value int
	Text  locale.Text
}

var ratingChoices = []ratingChoice{
	{5, locale.Say("Very satisfied")}, {4, locale.Say("Satisfied")}, {3, locale.Say("Neither")}, {2, locale.Say("Dissatisfied")}, {1, locale.Say("Very dissatisfied")},
}

// rated is the request that a link leads to, and its requester.
type rated struct {
	user    *ent.User
	request *ent.Request
}

// readRating reads the token of a link. Returns not_found for one that is not whole, or whose request or person is gone. Whoever writes by
// mail alone is invited for ever.
func (s *Server) readRating(ctx context.Context, token string) (at rated, err error) {
	gone := apperr.New(apperr.NotFound, "There is no such request.")
	company, userID, requestID, ok := s.mails.unseal(token, ratingOf)
	if !ok {
		return at, gone
	}
	ctx = s.system(ctx)
	at.user, err = s.store.Reader().User.Query().Where(user.CompanyID(company), user.ID(userID), access.Here()).Only(ctx)
	if err == nil {
		at.request, err = s.store.Reader().Request.Query().Where(entrequest.CompanyID(company), entrequest.ID(requestID), entrequest.RequesterID(userID)).Only(ctx)
	}
	switch {
	case ent.IsNotFound(err):
		return at, gone
	case err != nil:
		return at, fmt.Errorf("read what is rated: %w", err)
	}
	return at, nil
}

// showRate shows the form. Opening the link rates nothing, because programs that check mails follow links.
func (s *Server) showRate(w http.ResponseWriter, r *http.Request) {
	token := r.URL.Query().Get("token")
	at, err := s.readRating(r.Context(), token)
	if err != nil {
		s.noRating(w, r, err)
		return
	}
	form := ratingForm{Token: token, Satisfaction: op.Or(at.request.Satisfaction, 0), Comment: op.Or(at.request.SatisfactionComment, "")}
	s.ratePage(w, r, http.StatusOK, at, form, nil)
}

func (s *Server) ratePage(w http.ResponseWriter, r *http.Request, status int, at rated, form ratingForm, faults map[string]locale.Text) {
	form.About = notice.Named(at.request)
	s.Render(w, r, status, pages.Page{Body: "rate", Title: locale.Say("How did we do?"), Data: form, Faults: faults})
}

// postRate keeps what the form says, as the requester. The token is the permission.
func (s *Server) postRate(w http.ResponseWriter, r *http.Request) {
	form := ratingForm{Token: r.PostFormValue("token"), Comment: strings.TrimSpace(r.PostFormValue("comment"))}
	at, err := s.readRating(r.Context(), form.Token)
	if err != nil {
		s.noRating(w, r, err)
		return
	}
	form.Satisfaction, _ = strconv.Atoi(r.PostFormValue("satisfaction"))
	if form.Satisfaction < 1 || form.Satisfaction > 5 {
		s.ratePage(w, r, http.StatusUnprocessableEntity, at, form, map[string]locale.Text{"satisfaction": locale.Say("Choose one of the five.")})
		return
	}
	ctx := principal.With(r.Context(), notice.PrincipalOf(at.user))
	in := request.RateInput{ByID: op.ByID{ID: at.request.ID}, Satisfaction: form.Satisfaction, Comment: &form.Comment}
	if _, _, err := op.Run(ctx, s.engine, request.Rate, in, nil); err != nil {
		s.noRating(w, r, err)
		return
	}
	s.Message(w, r, http.StatusOK, locale.Say("Thank you"), locale.Say("Your rating is saved. For seven days the same link changes it."), s.home())
}

// noRating answers when nothing can be rated.
func (s *Server) noRating(w http.ResponseWriter, r *http.Request, err error) {
	switch apperr.CodeOf(err) {
	case apperr.NotFound:
		s.brokenLink(w, r)
	case apperr.Forbidden, apperr.Conflict, apperr.Validation:
		s.Message(w, r, http.StatusConflict, locale.Say("This cannot be rated any more"),
			locale.Say("The request is gone, or it was rated more than seven days ago."), s.home())
	default:
		s.Broken(w, r, err)
	}
}
