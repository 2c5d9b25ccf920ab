package request_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/desk/request"
	"atrium/internal/desk/sla"
	"atrium/internal/platform/locale"
)

// What people are told of a request's clock, in both languages and in their zone.
func TestNoticeTexts(t *testing.T) {
	t.Parallel()
	due := time.Date(2026, 11, 28, 13, 5, 0, 0, time.UTC)
	german := locale.Printer{Language: "de", Zone: "Europe/Berlin"}
	for _, c := range []struct {
		notice                            request.NoticeArgs
		subject, text, betreff, inDeutsch string
	}{
		{
			request.NoticeArgs{Occasion: "warning", Late: request.Late{Target: sla.Resolution, DueAt: due, Near: true}},
			"Due soon: #7 Laptop", "This request asks for your attention. It is due to be completed by 28 November 2026, 13:05 UTC, which is soon.",
			"Bald fällig: #7 Laptop", "Diese Anfrage braucht Ihre Aufmerksamkeit. Sie sollte bis 28. November 2026, 14:05 Uhr MEZ abgeschlossen sein; das ist bald.",
		},
		{
			request.NoticeArgs{Occasion: "breached", Late: request.Late{Target: sla.Response, DueAt: due, Phase: "Prüfung\n"}},
			"Late: #7 Laptop", "This request asks for your attention. You are accountable for its phase “Prüfung”. It should have had a first response by 28 November 2026, 13:05 UTC.",
			"Überfällig: #7 Laptop", "Diese Anfrage braucht Ihre Aufmerksamkeit. Sie sind für ihre Phase „Prüfung“ verantwortlich. " +
				"Sie hätte bis 28. November 2026, 14:05 Uhr MEZ eine erste Antwort haben sollen.",
		},
		{
			request.NoticeArgs{Occasion: "escalated"},
			"Please look at: #7 Laptop", "This request asks for your attention. It has been waiting for long.",
			"Bitte ansehen: #7 Laptop", "Diese Anfrage braucht Ihre Aufmerksamkeit. Sie wartet schon lange.",
		},
		{
			request.NoticeArgs{Occasion: "escalated", What: "It should have been accepted by 2026-11-28 13:05 UTC."}, // of the release before
			"Please look at: #7 Laptop", "This request asks for your attention. It should have been accepted by 2026-11-28 13:05 UTC.",
			"Bitte ansehen: #7 Laptop", "Diese Anfrage braucht Ihre Aufmerksamkeit. It should have been accepted by 2026-11-28 13:05 UTC.",
		},
	} {
		subject, text := request.TextOf(c.notice, locale.Printer{})
		require.Equal(t, []string{c.subject, c.text}, []string{subject, text})
		subject, text = request.TextOf(c.notice, german)
		require.Equal(t, []string{c.betreff, c.inDeutsch}, []string{subject, text})
	}
}
