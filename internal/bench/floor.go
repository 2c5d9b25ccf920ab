package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"atrium/internal/id"
)

// floorDB is the hand-written SQL of one dialect.
type floorDB interface {
	get(ctx context.Context, id string) (*floorRequest, error)
	list(ctx context.Context, f floorFilter) ([]*floorRequest, error)
	create(ctx context.Context, rows *floorRows) error
	close() error
}

// floorFilter is what the floor's list knows: what the workloads ask for.
type floorFilter struct {
	service    string
	statuses   []string
	byPriority bool // else newest first
	limit      int
}

// floorRequest is the product's answer, made by hand: what needs no look inside is passed through as it is stored.
type floorRequest struct {
	ID          string          `json:"id"`
	ServiceID   string          `json:"serviceId"`
	OfferingID  string          `json:"offeringId"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Status      string          `json:"status"`
	Priority    string          `json:"priority"`
	Fields      json.RawMessage `json:"fields"`
	Tags        json.RawMessage `json:"tags"`
	CreatedBy   string          `json:"createdBy"`
	AssigneeID  *string         `json:"assigneeId"`
	TeamID      *string         `json:"teamId"`
	ExecutionID *string         `json:"executionId"`
	AcceptedAt  *stamp          `json:"acceptedAt"`
	CompletedAt *stamp          `json:"completedAt"`
	CancelledAt *stamp          `json:"cancelledAt"`
	SLA         *struct{}       `json:"sla"`
	CreatedAt   stamp           `json:"createdAt"`
	UpdatedAt   stamp           `json:"updatedAt"`
}

// stamp writes a time as the API does.
type stamp time.Time

// MarshalJSON writes RFC 3339 in UTC with milliseconds.
func (s stamp) MarshalJSON() ([]byte, error) {
	b := make([]byte, 0, 26)
	return time.Time(s).UTC().AppendFormat(b, `"2006-01-02T15:04:05.000Z"`), nil
}

func stampOrNil(t *time.Time) *stamp {
	if t == nil {
		return nil
	}
	s := stamp(*t)
	return &s
}

// floorCreate is the body of a create.
type floorCreate struct {
	ServiceID   string            `json:"serviceId"`
	OfferingID  string            `json:"offeringId"`
	Title       string            `json:"title"`
	Description string            `json:"description"`
	Priority    string            `json:"priority"`
	Fields      map[string]any    `json:"fields"`
	Tags        map[string]string `json:"tags"`
}

// floorRows are the three rows of a create, as the product writes them.
type floorRows struct {
	now     time.Time
	plain   bool // one round trip per statement
	request *floorRequest
	rank    int
	eventID string
	payload []byte
	auditID string
	changes []byte
	ip      string
	agent   string
	rid     string
	fields  []byte
	tags    []byte
	company string
	owner   string
	keyID   string
	keyName string
}

// floorServer answers three routes.
type floorServer struct {
	db floorDB
	w  *world
}

func serveFloor(ctx context.Context, w *world, cfg *tls.Config) (err error) {
	open := openFloorSQLite
	if w.Dialect == "postgres" {
		open = openFloorPostgres
	}
	db, err := open(ctx, w)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.close()) }()
	f := &floorServer{db: db, w: w}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/requests/{id}", f.get)
	mux.HandleFunc("GET /v1/requests", f.list)
	mux.HandleFunc("POST /v1/requests", f.create)
	return serveHTTPS(ctx, cfg, mux)
}

func (f *floorServer) get(w http.ResponseWriter, r *http.Request) {
	row, err := f.db.get(r.Context(), r.PathValue("id"))
	answer(w, http.StatusOK, map[string]any{"data": row}, err)
}

func (f *floorServer) list(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	filter := floorFilter{service: q.Get("serviceId"), byPriority: q.Get("sort") == "-priority", limit: 20}
	if s := q.Get("status"); s != "" {
		filter.statuses = strings.Split(s, ",")
	}
	rows, err := f.db.list(r.Context(), filter)
	answer(w, http.StatusOK, struct {
		Data       []*floorRequest `json:"data"`
		Pagination any             `json:"pagination"`
	}{rows, struct {
		Page     int `json:"page"`
		PageSize int `json:"pageSize"`
	}{1, filter.limit}}, err)
}

var ranks = map[string]int{"LOW": 1, "MEDIUM": 2, "HIGH": 3, "URGENT": 4}

func (f *floorServer) create(w http.ResponseWriter, r *http.Request) {
	var in floorCreate
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		answer(w, 0, nil, err)
		return
	}
	rows, err := f.rows(&in, r)
	if err == nil {
		err = f.db.create(r.Context(), rows)
	}
	if err != nil {
		answer(w, 0, nil, err)
		return
	}
	w.Header().Set("Location", "/v1/requests/"+rows.request.ID)
	answer(w, http.StatusCreated, map[string]any{"data": rows.request}, nil)
}

// rows makes the rows of a create.
func (f *floorServer) rows(in *floorCreate, r *http.Request) (*floorRows, error) {
	now := time.Now().UTC()
	if in.Priority == "" {
		in.Priority = "MEDIUM"
	}
	rows := &floorRows{
		now: now, plain: r.URL.RawQuery == "plain", rank: ranks[in.Priority], company: f.w.Main.CompanyID, owner: f.w.Main.OwnerID,
		eventID: id.New("evt"), auditID: id.New("aud"), rid: id.New("rid"), keyID: f.w.Main.OwnerID, keyName: "First live key",
		agent: r.UserAgent(),
		request: &floorRequest{
			ID: id.New("req"), ServiceID: in.ServiceID, OfferingID: in.OfferingID, Title: in.Title, Description: in.Description,
			Status: "PENDING", Priority: in.Priority, CreatedBy: f.w.Main.OwnerID, CreatedAt: stamp(now), UpdatedAt: stamp(now),
		},
	}
	rows.ip, _, _ = net.SplitHostPort(r.RemoteAddr)
	q := rows.request
	var err error
	if rows.fields, err = json.Marshal(in.Fields); err != nil {
		return nil, err
	}
	if rows.tags, err = json.Marshal(in.Tags); err != nil {
		return nil, err
	}
	q.Fields, q.Tags = rows.fields, rows.tags
	rows.payload, err = json.Marshal(floorEvent{"request.created", stamp(now), floorEventData{q.ID, q.ServiceID, q.Title, q.Status, q.Priority, q.CreatedBy}})
	if err != nil {
		return nil, err
	}
	rows.changes, err = json.Marshal(floorChanges{
		CreatedBy: to(q.CreatedBy), Description: to(q.Description), Fields: to(q.Fields), OfferingID: to(q.OfferingID), Priority: to(q.Priority),
		ServiceID: to(q.ServiceID), Status: to(q.Status), Tags: to(q.Tags), Title: to(q.Title),
	})
	return rows, err
}

type floorEvent struct {
	Event     string         `json:"event"`
	Timestamp stamp          `json:"timestamp"`
	Data      floorEventData `json:"data"`
}

type floorEventData struct {
	ID        string `json:"id"`
	ServiceID string `json:"serviceId"`
	Title     string `json:"title"`
	Status    string `json:"status"`
	Priority  string `json:"priority"`
	CreatedBy string `json:"createdBy"`
}

// floorChange is one field of the audit entry's diff.
type floorChange[T any] struct {
	From *T `json:"from"`
	To   T  `json:"to"`
}

func to[T any](v T) floorChange[T] { return floorChange[T]{To: v} }

type floorChanges struct {
	CreatedBy   floorChange[string]          `json:"createdBy"`
	Description floorChange[string]          `json:"description"`
	Fields      floorChange[json.RawMessage] `json:"fields"`
	OfferingID  floorChange[string]          `json:"offeringId"`
	Priority    floorChange[string]          `json:"priority"`
	ServiceID   floorChange[string]          `json:"serviceId"`
	Status      floorChange[string]          `json:"status"`
	Tags        floorChange[json.RawMessage] `json:"tags"`
	Title       floorChange[string]          `json:"title"`
}

// answer sends JSON, or 500 with the error's text.
func answer(w http.ResponseWriter, status int, body any, err error) {
	var b []byte
	if err == nil {
		b, err = json.Marshal(body)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(b)))
	w.WriteHeader(status)
	_, _ = w.Write(b)
}

// The statements, with ? for SQLite; PostgreSQL's are made of them by numbered.
const (
	floorColumns = "id, service_id, offering_id, title, description, status, priority, fields, tags, created_by, assignee_id, team_id, accepted_at, completed_at, cancelled_at, created_at, updated_at"

	floorInsertRequest = "INSERT INTO requests (id, created_at, updated_at, company_id, service_id, offering_id, title, description, status, priority, priority_rank, fields, tags, created_by) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
	floorInsertEvent   = "INSERT INTO events (id, created_at, updated_at, company_id, type, subject_id, payload) VALUES (?,?,?,?,?,?,?)"
	floorInsertAudit   = "INSERT INTO audit_entries (id, created_at, updated_at, company_id, actor_type, actor_id, actor_name, action, resource_type, resource_id, outcome, ip, user_agent, request_id, changes) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
)

// listSQL returns the statement for a filter and its arguments behind the company's id.
func (f floorFilter) listSQL() (string, []any) {
	var b strings.Builder
	var args []any
	b.WriteString("SELECT " + floorColumns + " FROM requests WHERE company_id = ?")
	if f.service != "" {
		b.WriteString(" AND service_id = ?")
		args = append(args, f.service)
	}
	switch len(f.statuses) {
	case 0:
	case 1:
		b.WriteString(" AND status = ?")
		args = append(args, f.statuses[0])
	default:
		b.WriteString(" AND status IN (?" + strings.Repeat(", ?", len(f.statuses)-1) + ")")
		for _, s := range f.statuses {
			args = append(args, s)
		}
	}
	if f.byPriority {
		b.WriteString(" ORDER BY priority_rank DESC, created_at DESC, id DESC LIMIT 20")
	} else {
		b.WriteString(" ORDER BY created_at DESC, id DESC LIMIT 20")
	}
	return b.String(), args
}

func (r *floorRows) requestArgs() []any {
	q := r.request
	return []any{q.ID, r.now, r.now, r.company, q.ServiceID, q.OfferingID, q.Title, q.Description, q.Status, q.Priority, r.rank, r.fields, r.tags, q.CreatedBy}
}

func (r *floorRows) eventArgs() []any {
	return []any{r.eventID, r.now, r.now, r.company, "request.created", r.request.ID, r.payload}
}

func (r *floorRows) auditArgs() []any {
	return []any{r.auditID, r.now, r.now, r.company, "api_key", r.keyID, r.keyName, "request.created", "Request", r.request.ID, "allowed", r.ip, r.agent, r.rid, r.changes}
}
