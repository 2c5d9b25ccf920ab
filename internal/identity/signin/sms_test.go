package signin_test

import (
	"errors"
	"net/http"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/factor"
	"atrium/internal/identity/signin"
	"atrium/internal/test/testkit"
)

var sixDigits = regexp.MustCompile(`\b\d{6}\b`)

// code is the code of the last message, which went to the number.
func (p *phone) code(t *testing.T, to string) string {
	t.Helper()
	m, n := p.last()
	require.NotZero(t, n)
	require.Equal(t, to, m.to)
	return sixDigits.FindString(m.text)
}

// wrong is a code of six digits that is another one.
func wrong(code string) string {
	n, _ := strconv.Atoi(code)
	return strconv.Itoa(100_000 + (n+1)%900_000)
}

const number = "+4915123456789"

// telephone gives the user a telephone through the pages.
func (s *site) telephone(u *ent.User) {
	s.t.Helper()
	b := s.browser()
	require.NotEmpty(s.t, b.get(s.web()).signInAs(u).left().Get("code"))
	p := b.get("/account/mfa?add=sms").submit("number", "0049 (151) 2345-6789")
	require.Contains(s.t, p.Find(".notice").Text(), number)
	p = p.submit("code", s.sms.code(s.t, number))
	require.Equal(s.t, "Keep your recovery codes", p.title(), p.html)
	require.Equal(s.t, "Second factor", p.goOn().title())
	s.later(time.Minute)
}

// A number is confirmed before it counts. Then a code goes to it with the password, when there is nothing else, and
// whenever it is asked for.
func TestSMS(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.telephone(s.agent())
		f, err := s.Store.Reader().Factor.Query().Only(s.system())
		require.NoError(t, err)
		require.Equal(t, factor.KindSms, f.Kind)
		require.Equal(t, "Telephone •• 789", f.Name)
		require.NotContains(t, string(f.SecretSealed), "5123")

		_, before := s.sms.last()
		p := s.browser().get(s.web()).signInAs(s.agent())
		m, n := s.sms.last()
		require.Equal(t, before+1, n)
		require.Contains(t, m.text, "\n@example.com #"+sixDigits.FindString(m.text), "for this site's pages only")
		require.Contains(t, p.Find(".notice").Text(), "•• 789")
		require.NotContains(t, p.html, number)

		p = p.submit("phone", f.ID)
		_, n = s.sms.last()
		require.Equal(t, before+1, n, "not twice within half a minute")
		code := s.sms.code(t, number)
		require.Equal(t, http.StatusUnprocessableEntity, p.submit("code", wrong(code)).StatusCode)
		require.Equal(t, []string{"pwd", "sms", "mfa"}, p.submit("code", code).claims().AMR)

		s.later(time.Minute)
		p = s.browser().get(s.web()).signInAs(s.agent())
		require.Equal(t, http.StatusUnprocessableEntity, p.submit("code", code).StatusCode, "used")
		s.later(time.Minute)
		p = p.submit("phone", f.ID)
		require.NotEqual(t, code, s.sms.code(t, number))
		require.NotEmpty(t, p.submit("code", s.sms.code(t, number)).left().Get("code"))
	})
}

// A code in a message is good for ten minutes and five tries.
func TestSMSCodesEnd(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.telephone(s.agent())
		p := s.browser().get(s.web()).signInAs(s.agent())
		code := s.sms.code(t, number)
		for range 5 {
			require.Equal(t, http.StatusUnprocessableEntity, p.submit("code", wrong(code)).StatusCode)
		}
		require.Equal(t, http.StatusUnprocessableEntity, p.submit("code", code).StatusCode, "the sixth")

		s.later(10 * time.Minute)
		p = s.browser().get(s.web()).signInAs(s.agent())
		s.later(10*time.Minute + time.Second)
		require.Equal(t, http.StatusUnprocessableEntity, p.submit("code", s.sms.code(t, number)).StatusCode, "too old")
	})
}

// Messages cost money and disturb people: an account is sent few, and so is a number.
func TestSMSAreThrottled(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.telephone(s.agent())
		f, err := s.Store.Reader().Factor.Query().Only(s.system())
		require.NoError(t, err)
		p := s.browser().get(s.web()).signInAs(s.agent())
		_, sent := s.sms.last()
		for range 10 {
			s.later(31 * time.Second)
			p = p.submit("phone", f.ID)
			if p.StatusCode == http.StatusTooManyRequests {
				break
			}
		}
		require.Positive(t, p.paused())
		_, now := s.sms.last()
		require.LessOrEqual(t, now-sent, 5)

		b := s.browser()
		require.NotEmpty(t, b.get(s.web()).signInAs(s.A.Users["member"]).left().Get("code"))
		// Enrolments count apart: who enrols the number keeps nobody from signing in with it, and is bounded as well.
		p = b.get("/account/mfa?add=sms").submit("number", number)
		require.Equal(t, http.StatusOK, p.StatusCode)
		for range 10 {
			s.later(31 * time.Second)
			if p = b.get("/account/mfa?add=sms&other").submit("number", number); p.StatusCode == http.StatusTooManyRequests {
				break
			}
		}
		require.Positive(t, p.paused())
	})
}

func TestEnrolNumber(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		b := s.browser()
		require.NotEmpty(t, b.get(s.web()).signInAs(s.agent()).left().Get("code"))
		p := b.get("/account/mfa?add=sms")
		for _, bad := range []string{"", "0151 23456789", "+49", "+49151x23456789", "+0123456789", "+12345678901234567"} {
			p = p.submit("number", bad)
			require.Equal(t, http.StatusUnprocessableEntity, p.StatusCode, bad)
			require.Equal(t, bad, p.Find("#number").AttrOr("value", ""))
			require.Equal(t, "true", p.Find("#number").AttrOr("aria-invalid", ""))
		}
		_, n := s.sms.last()
		require.Zero(t, n)

		s.sms.err = errors.New("down")
		p = p.submit("number", number)
		require.Equal(t, http.StatusBadGateway, p.StatusCode)
		require.Contains(t, p.alert(), "could not be sent")
		s.sms.err = nil
		s.later(time.Minute)
		p = b.get("/account/mfa?add=sms&other").submit("number", number)
		p = p.submit("code", wrong(s.sms.code(t, number)))
		require.Equal(t, http.StatusUnprocessableEntity, p.StatusCode)
		p = b.get(p.Find("a[href*=other]").AttrOr("href", ""))
		require.Equal(t, 1, p.Find("#number").Length())
		s.later(time.Minute)
		p = p.submit("number", "+15551234567")
		p = p.submit("code", s.sms.code(t, "+15551234567"))
		require.Equal(t, "Keep your recovery codes", p.title())
	})
}

// Without a provider, telephones are not offered, and forms for them lead nowhere.
func TestNoSMS(t *testing.T) {
	t.Parallel()
	s := serve(t, testkit.SQLiteWorld(t), func(o *signin.Options) { o.SMS = nil })
	b := s.browser()
	require.NotEmpty(t, b.get(s.web()).signInAs(s.agent()).left().Get("code"))
	p := b.get("/account/mfa?add=sms")
	require.Zero(t, p.Find("#number").Length())
	_, fields := p.form("code")
	fields.Set("number", number)
	require.Equal(t, "Add a second factor", b.post("/account/mfa/sms", fields).title())
}
