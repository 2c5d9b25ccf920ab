package people_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent/auditentry"
	"atrium/internal/op"
	"atrium/internal/people"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/locale"
	"atrium/internal/platform/principal"
)

// Everybody chooses their own language and time zone, and takes them back; admins set those of others. Without a choice the company's
// hold.
func TestLanguageAndTimeZone(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		as := w.AsUser(w.member)
		u := must(as, w, people.UpdateViewer, people.UpdateViewerInput{Locale: op.SetTo("de"), TimeZone: op.SetTo("Europe/Berlin")})
		require.Equal(t, w.member.ID, u.ID)
		u = must(as, w, people.GetViewer, struct{}{})
		require.Equal(t, locale.Printer{Language: "de", Zone: "Europe/Berlin"}, op.ReaderOf(u, w.A.Company))
		entry := w.Store.Reader().AuditEntry.Query().Where(auditentry.Action("viewer.updated")).OnlyX(w.asOwner)
		require.Equal(t, u.ID, *entry.ResourceID)

		refused(w.AsUser(w.member), w, apperr.Forbidden, people.UpdateUser, people.UpdateUserInput{ByID: byID(u.ID), Locale: op.SetTo("en")})
		u = must(w.asAdmin, w, people.UpdateUser, people.UpdateUserInput{ByID: byID(u.ID), Locale: op.SetTo("en"), TimeZone: op.Clear[string]()})
		require.Equal(t, locale.Printer{Language: "en", Zone: "UTC"}, op.ReaderOf(u, w.A.Company))

		for _, zone := range []string{"Local", "Berlin", "", "../etc/localtime"} {
			require.Equal(t, []string{"timeZone"}, fields(refused(as, w, apperr.Validation, people.UpdateViewer, people.UpdateViewerInput{TimeZone: op.SetTo(zone)})), zone)
			err := refused(w.asAdmin, w, apperr.Validation, people.UpdateUser, people.UpdateUserInput{ByID: byID(u.ID), TimeZone: op.SetTo(zone)})
			require.Equal(t, []string{"timeZone"}, fields(err), zone)
		}
		for _, lang := range []string{"fr", "de-DE", "DE", ""} {
			require.Equal(t, []string{"locale"}, fields(refused(as, w, apperr.Validation, people.UpdateViewer, people.UpdateViewerInput{Locale: op.SetTo(lang)})), lang)
		}
		u = must(as, w, people.UpdateViewer, people.UpdateViewerInput{Locale: op.Clear[string]()})
		require.Nil(t, u.Locale)
		key := w.As(w.A, principal.Owner)
		p, _ := principal.From(key)
		robot := *p
		robot.Type = principal.TypeServiceAccount
		require.Nil(t, must(principal.With(key, &robot), w, people.GetViewer, struct{}{}), "no person")
		refused(principal.With(key, &robot), w, apperr.Forbidden, people.UpdateViewer, people.UpdateViewerInput{Locale: op.SetTo("de")})
	})
}

// What a person has chosen goes with them.
func TestErasureForgetsTheLanguage(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		must(w.AsUser(w.member), w, people.UpdateViewer, people.UpdateViewerInput{Locale: op.SetTo("de"), TimeZone: op.SetTo("Europe/Berlin")})
		u := must(w.asOwner, w, people.ErasePerson, people.ErasePersonInput{UserID: w.member.ID, Reason: "asked"})
		require.Nil(t, u.Locale)
		require.Nil(t, u.TimeZone)
	})
}
