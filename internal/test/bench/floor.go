package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strconv"
	"time"

	"atrium/internal/platform/clock"
	"atrium/internal/platform/id"
)

// floorDB is the hand-written SQL of one database.
type floorDB interface {
	get(ctx context.Context, id string) (*floorRequest, error)
	list(ctx context.Context, query string) ([]*floorRequest, error)
	create(ctx context.Context, rows [3][]any) error
	close() error
}

// floorRequest is a request in the product's JSON shape. JSON columns are passed through as they are stored.
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

// stamp is a time that marshals as in the API.
type stamp time.Time

// MarshalJSON writes RFC 3339 in UTC with milliseconds.
func (s stamp) MarshalJSON() ([]byte, error) {
	return time.Time(s).UTC().AppendFormat(make([]byte, 0, 26), `"`+clock.Format+`"`), nil
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

// floorServer serves three routes: get, list and create.
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
	mux.HandleFunc("GET /v1/requests/{id}", func(w http.ResponseWriter, r *http.Request) {
		row, err := db.get(r.Context(), r.PathValue("id"))
		answer(w, http.StatusOK, map[string]any{"data": row}, err)
	})
	mux.HandleFunc("GET /v1/requests", func(w http.ResponseWriter, r *http.Request) {
		rows, err := db.list(r.Context(), r.URL.RawQuery)
		answer(w, http.StatusOK, map[string]any{"data": rows, "pagination": map[string]int{"page": 1, "pageSize": 20}}, err)
	})
	mux.HandleFunc("POST /v1/requests", f.create)
	return serveHTTPS(ctx, cfg, mux)
}

func (f *floorServer) create(w http.ResponseWriter, r *http.Request) {
	var in floorCreate
	err := json.NewDecoder(r.Body).Decode(&in)
	if err != nil {
		answer(w, 0, nil, err)
		return
	}
	now := time.Now().UTC()
	row := &floorRequest{
		ID: id.New("req"), ServiceID: in.ServiceID, OfferingID: in.OfferingID, Title: in.Title, Description: in.Description,
		Status: "PENDING", Priority: in.Priority, CreatedBy: f.w.Main.OwnerID, CreatedAt: stamp(now), UpdatedAt: stamp(now),
	}
	var errs [4]error
	var payload, changes []byte
	row.Fields, errs[0] = json.Marshal(in.Fields)
	row.Tags, errs[1] = json.Marshal(in.Tags)
	payload, errs[2] = json.Marshal(map[string]any{"event": "request.created", "timestamp": stamp(now), "data": map[string]string{
		"id": row.ID, "serviceId": row.ServiceID, "title": row.Title, "status": row.Status, "priority": row.Priority, "createdBy": row.CreatedBy,
	}})
	type change struct {
		From any `json:"from"`
		To   any `json:"to"`
	}
	changes, errs[3] = json.Marshal(map[string]change{
		"createdBy": {To: row.CreatedBy}, "description": {To: row.Description}, "fields": {To: row.Fields}, "offeringId": {To: row.OfferingID},
		"priority": {To: row.Priority}, "serviceId": {To: row.ServiceID}, "status": {To: row.Status}, "tags": {To: row.Tags}, "title": {To: row.Title},
	})
	ip, _, _ := net.SplitHostPort(r.RemoteAddr)
	company := f.w.Main.CompanyID
	if err = errors.Join(errs[:]...); err == nil {
		err = f.db.create(r.Context(), [3][]any{
			{row.ID, now, now, company, row.ServiceID, row.OfferingID, row.Title, row.Description, row.Status, row.Priority, 3, string(row.Fields), string(row.Tags), row.CreatedBy},
			{id.New("evt"), now, now, company, "request.created", row.ID, string(payload)},
			{id.New("aud"), now, now, company, "api_key", row.CreatedBy, "First live key", "request.created", "Request", row.ID, "allowed", ip, r.UserAgent(), id.New("rid"), string(changes)},
		})
	}
	w.Header().Set("Location", "/v1/requests/"+row.ID)
	answer(w, http.StatusCreated, map[string]any{"data": row}, err)
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
