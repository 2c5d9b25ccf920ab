package notice

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"atrium/ent"
	"atrium/ent/comment"
	"atrium/ent/notification"
	"atrium/ent/request"
	"atrium/ent/user"
	"atrium/internal/desk/mention"
	"atrium/internal/notify/mail"
	"atrium/internal/op"
	"atrium/internal/platform/locale"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
)

// within is how long after a mail about a request everything else that happens to it waits, to be told to its reader by one mail.
const within = 2 * time.Minute

// lookBack is how far back Send looks for mails that wait. A mail that waits for longer is late, because nobody works jobs.
const lookBack = time.Hour

// held is a mail that waits (the column held), in its reader's language.
type held struct {
	Paragraphs []string `json:"paragraphs"`
	Quote      string   `json:"quote,omitempty"`
	Markdown   bool     `json:"markdown,omitempty"`
	Comment    string   `json:"comment,omitempty"` // the comment that it tells of, whose body is quoted as it is by then
	Decide     bool     `json:"decide,omitempty"`
	Note       bool     `json:"note,omitempty"`
	Rate       bool     `json:"rate,omitempty"`
	Named      bool     `json:"named,omitempty"`
	Asks       string   `json:"asks,omitempty"`
}

// hold returns a mail as the column keeps it.
func (n Note) hold(told op.Told) ([]byte, error) {
	h := held{Comment: n.CommentID, Decide: n.Decide, Note: n.Confidential, Rate: n.Rate, Named: n.Named, Asks: n.Asks}
	for _, e := range told.Events {
		h.Paragraphs = append(h.Paragraphs, e.Paragraphs...)
		if n.CommentID == "" {
			h.Quote, h.Markdown = e.Quote, e.Markdown
		}
	}
	out, err := json.Marshal(h)
	if err != nil {
		return nil, fmt.Errorf("write the mail that waits: %w", err)
	}
	return out, nil
}

// waits returns until when the mails of a note wait, by the ids of their readers: of those who got a mail about the request not long
// ago, or for whom one waits already. The lock has two notes of one moment see each other.
func (n Note) waits(ctx context.Context, tx *op.Tx, people []*ent.User, now time.Time) (map[string]time.Time, error) {
	if n.RequestID == nil || n.Receipt || !n.MailAt.IsZero() {
		return nil, nil
	}
	var ids []string
	for _, u := range people {
		if channelOf(u, n.Kind) == channelNow && u.MailState != user.MailStateBOUNCED {
			ids = append(ids, u.ID)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	if err := tx.LockName(ctx, "notices/"+*n.RequestID); err != nil {
		return nil, err
	}
	rows, err := tx.Notification.Query().Where(
		notification.UserIDIn(ids...), notification.RequestID(*n.RequestID), notification.CreatedAtGT(now.Add(-lookBack)),
		notification.Or(notification.MailedAtGT(now.Add(-within)), notification.And(notification.HeldNotNil(), notification.DigestAtNotNil())),
	).Select(notification.FieldUserID, notification.FieldMailedAt, notification.FieldDigestAt).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("look for mails about the request: %w", err)
	}
	return wake(ctx, tx, rows, now)
}

// wake returns until when mails wait, by the rows that make them wait, and has the job run then. A mail joins others that wait.
func wake(ctx context.Context, tx *op.Tx, rows []*ent.Notification, now time.Time) (map[string]time.Time, error) {
	out, joins := map[string]time.Time{}, map[string]bool{}
	for _, row := range rows {
		at, joining := now.Add(within), false
		switch {
		case row.DigestAt != nil && row.DigestAt.After(now):
			at, joining = *row.DigestAt, true
		case row.DigestAt == nil && row.MailedAt != nil: // without, the others are being mailed at this moment
			at = row.MailedAt.Add(within)
		}
		if !joins[row.UserID] && (joining || at.After(out[row.UserID])) {
			out[row.UserID], joins[row.UserID] = at, joining
		}
	}
	woken := map[time.Time]bool{}
	for id, at := range out {
		if joins[id] {
			continue
		}
		at = at.Truncate(time.Second).Add(time.Second) // so that one run serves many readers
		out[id] = at
		if woken[at] {
			continue
		}
		woken[at] = true
		// A second later, so that no run of the same second is over before this transaction.
		if err := tx.Insert(ctx, MailsArgs{Company: tx.Principal().CompanyID, Second: at.Unix()}, at.Add(time.Second)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// The most that one mail tells: events, characters of what people wrote in all of them, and characters that each may have at least.
const (
	maxEvents = 20
	maxQuotes = 2 * MaxQuote
	minQuote  = 300
)

// maxHeld is how many notifications one run takes for one mail.
const maxHeld = 100

// waiting are a person's mails about a request that are due, as they were found before the transaction.
type waiting struct {
	request *ent.Request
	all     []string         // ids of the notifications
	told    map[string]event // what the person may read of them
	mails   map[string]held
}

// event is one of what a mail tells.
type event struct {
	op.Happening
	at   time.Time // notices of one moment may be given in any order
	note bool      // it tells what not everybody may read who reads the request
}

// grouped mails a person what has happened to a request since the last mail about it, and takes it out of what is due. Who does not get
// it is whoever has read the notification meanwhile, may not read the request or the comment any more, or wants no mails of the kind now.
func (d *digester) grouped(ctx context.Context, n *ent.Notification, now time.Time) error {
	w, err := d.waiting(outside(ctx, d.engine, n.CompanyID), n, now)
	if err != nil {
		return err
	}
	return d.engine.Work(ctx, n.CompanyID, worker, func(ctx context.Context, tx *op.Tx) error { return w.mail(ctx, tx, n.UserID, now) })
}

// waiting reads what is due for the reader of a notification about its request, and asks what the person may read of it.
func (d *digester) waiting(ctx context.Context, of *ent.Notification, now time.Time) (*waiting, error) {
	db := d.engine.Store.Reader()
	u, err := db.User.Get(ctx, of.UserID)
	if err != nil {
		return nil, fmt.Errorf("read the user: %w", err)
	}
	list, err := dueFor(db.Notification.Query(), u.ID, now).Where(notification.HeldNotNil(), notification.RequestID(op.Or(of.RequestID, ""))).
		WithRequest().Limit(maxHeld).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read what waits: %w", err)
	}
	w, err := waitingOf(list)
	if err != nil || w.request == nil {
		return w, err
	}
	if list, err = d.stillFor(ctx, u, w, list); err != nil {
		return nil, err
	}
	comments, err := d.comments(ctx, u, list, w.mails)
	if err != nil {
		return nil, err
	}
	names, err := namesIn(ctx, db, comments)
	if err != nil {
		return nil, err
	}
	w.tell(list, comments, names)
	return w, nil
}

// stillFor returns those of the notifications that the person may still be told: who reads the request by their role, or is named by it and
// hidden from it by no policy, and for whom waits what asks them.
func (d *digester) stillFor(ctx context.Context, u *ent.User, w *waiting, list []*ent.Notification) (still []*ent.Notification, err error) {
	reads, db := map[bool]bool{}, d.engine.Store.Reader() // by whether it names them
	for _, n := range list {
		h := w.mails[n.ID]
		if _, known := reads[h.Named]; !known {
			readers, err := ReadersOutside(ctx, d.engine, u.CompanyID, worker, []*ent.User{u}, d.reads.Request, w.request, h.Named)
			if err != nil {
				return nil, err
			}
			reads[h.Named] = len(readers) > 0
		}
		is := reads[h.Named]
		if is && h.Asks != "" {
			asked, err := Asked(ctx, db, h.Asks)
			if err != nil {
				return nil, err
			}
			if is, err = db.User.Query().Where(user.ID(u.ID), asked).Exist(ctx); err != nil {
				return nil, fmt.Errorf("ask whom it waits for: %w", err)
			}
		}
		if is {
			still = append(still, n)
		}
	}
	return still, nil
}

// waitingOf returns what waits, of which nothing is told yet.
func waitingOf(list []*ent.Notification) (*waiting, error) {
	w := &waiting{told: map[string]event{}, mails: map[string]held{}}
	for _, n := range list {
		w.all, w.request = append(w.all, n.ID), n.Edges.Request
		var h held
		if err := json.Unmarshal(n.Held, &h); err != nil {
			return nil, fmt.Errorf("read the mail that waits: %w", err)
		}
		w.mails[n.ID] = h
	}
	return w, nil
}

// namesIn returns the names of those whom comments mention.
func namesIn(ctx context.Context, db *ent.Client, comments map[string]*ent.Comment) (mention.Names, error) {
	texts := make([]string, 0, len(comments))
	for _, c := range comments {
		texts = append(texts, c.Body)
	}
	return mention.Read(ctx, db, texts...)
}

// tell notes what the person may read of the mails, which are not those of comments that are missing.
func (w *waiting) tell(list []*ent.Notification, comments map[string]*ent.Comment, names mention.Names) {
	for _, n := range list {
		h := w.mails[n.ID]
		e := event{op.Happening{Paragraphs: h.Paragraphs, Quote: h.Quote, Markdown: h.Markdown}, n.CreatedAt, h.Note}
		if h.Comment != "" {
			c, ok := comments[h.Comment]
			if !ok {
				continue
			}
			e.Markdown = c.Format == comment.FormatMarkdown
			e.Quote, e.at, e.note = Quoted(c.Body, e.Markdown, names), c.CreatedAt, c.Visibility == comment.VisibilityInternal
		}
		w.told[n.ID] = e
	}
}

// comments returns those of the comments that mails tell of that the person may read as they are now, by their ids.
func (d *digester) comments(ctx context.Context, u *ent.User, list []*ent.Notification, mails map[string]held) (map[string]*ent.Comment, error) {
	var ids []string
	for _, n := range list {
		if id := mails[n.ID].Comment; id != "" {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	rows, err := d.engine.Store.Reader().Comment.Query().Where(comment.IDIn(ids...)).WithRequest().All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the comments: %w", err)
	}
	out, tx := map[string]*ent.Comment{}, d.engine.Outside(principal.Worker(u.CompanyID, worker))
	for _, c := range rows {
		readers, err := Readers(ctx, tx, []*ent.User{u}, func(ctx context.Context, who *principal.Principal) (bool, error) {
			return tx.ReadableBy(ctx, who, d.reads.Comment, c, verbsOf(c)...)
		})
		if err != nil {
			return nil, fmt.Errorf("ask who may read it: %w", err)
		}
		if len(readers) > 0 {
			out[c.ID] = c
		}
	}
	return out, nil
}

// mail takes what was found out of what is due, and mails what is unread of it, if the person has not left. Whoever came by mail alone is
// invited still. Two runs of the job may overlap: the second waits for the person's row, and finds nothing left.
func (w *waiting) mail(ctx context.Context, tx *op.Tx, userID string, now time.Time) error {
	mine := []*ent.Notification{}
	u, err := op.Lock(tx, tx.User.Query().Where(user.ID(userID), user.StatusIn(user.StatusActive, user.StatusInvited))).Only(ctx)
	if err == nil {
		mine, err = dueFor(tx.Notification.Query(), userID, now).Where(notification.IDIn(w.all...), notification.HeldNotNil()).All(ctx)
	}
	if ent.MaskNotFound(err) != nil {
		return fmt.Errorf("read what waits: %w", err)
	}
	if err := tx.Notification.Update().Where(notification.IDIn(w.all...)).ClearDigestAt().ClearHeld().Exec(ctx); err != nil {
		return fmt.Errorf("take out what waited: %w", err)
	}
	mine = slices.DeleteFunc(mine, func(n *ent.Notification) bool {
		_, reads := w.told[n.ID]
		return !reads || channelOf(u, string(n.Kind)) == channelNever
	})
	if len(mine) == 0 || u.MailState == user.MailStateBOUNCED {
		return nil
	}
	slices.SortStableFunc(mine, func(a, b *ent.Notification) int { return w.told[a.ID].at.Compare(w.told[b.ID].at) })
	ids := make([]string, len(mine))
	for i, n := range mine {
		ids[i] = n.ID
	}
	if err := tx.Notification.Update().Where(notification.IDIn(ids...)).SetMailedAt(now).Exec(ctx); err != nil {
		return fmt.Errorf("keep when it was mailed: %w", err)
	}
	c, err := tx.Company.Get(ctx, u.CompanyID)
	if err != nil {
		return fmt.Errorf("read the company: %w", err)
	}
	told := w.letter(op.ReaderOf(u, c), mine)
	told.Kind = kindOf(u, mine)
	return tx.Mail(func(m op.Mailer, db *store.Tx) error { return m.Tell(ctx, db, u, told) })
}

// letter returns the mail of these notifications.
func (w *waiting) letter(p locale.Printer, list []*ent.Notification) op.Told {
	out := op.Told{Language: p.Language, Subject: Named(w.request), Page: pageOf(&w.request.ID, nil), Thread: w.request.ID}
	shown := list[:min(len(list), maxEvents)]
	for _, n := range shown {
		e := w.told[n.ID].Happening
		out.Note = out.Note || w.told[n.ID].note
		e.Quote = mail.Quote(e.Quote, max(minQuote, min(MaxQuote, maxQuotes/len(shown))))
		out.Events = append(out.Events, e)
	}
	if len(list) > len(shown) {
		out.Events = append(out.Events, op.Happening{Paragraphs: []string{p.T(locale.Say("and more"))}})
	}
	for _, n := range list {
		out.Decide = out.Decide || w.mails[n.ID].Decide
		if w.mails[n.ID].Rate && w.request.Status == request.StatusCOMPLETED {
			out.Rate = w.request.ID
		}
	}
	return out
}
