package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	_ "net/http/pprof" // profiles of the product, fetched by the parent
	"os"
	"time"

	"atrium/graph"
	"atrium/internal/gate"
	"atrium/internal/gate/tlsfront"
	"atrium/internal/identity"
	"atrium/internal/identity/authn"
	"atrium/internal/platform/ratelimit"
	lifecycle "atrium/internal/platform/run"
	"atrium/rest"
)

// serveRole is the main function of a child process. conf is the world as JSON. The process ends when its stdin is closed, so
// that it never outlives the bench.
func serveRole(role, conf string) error {
	w := &world{}
	if err := json.Unmarshal([]byte(conf), w); err != nil {
		return fmt.Errorf("read the world: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		_, _ = os.Stdin.Read(make([]byte, 1))
		cancel()
	}()
	files, err := tlsfront.CertFiles(w.Cert, w.Key)
	if err != nil {
		return err
	}
	if role == "floor" {
		return serveFloor(ctx, w, files.TLSConfig())
	}
	return serveProduct(ctx, w, files.TLSConfig())
}

// serveProduct serves the product's API wired as the command wires it: real front, authentication and rate limits.
func serveProduct(ctx context.Context, w *world, cfg *tls.Config) (err error) {
	lifecycle.TuneGC() // as serve does
	e, closeEngine, err := w.engine(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeEngine()) }()
	front, err := tlsfront.Listen("127.0.0.1:0", cfg)
	if err != nil {
		return err
	}
	base := "https://" + front.Addr().String()
	auth := authn.New(e.Store, identity.NewTokens(identity.NewKeys(e.Store, e.Sealer), base, base, e.Store.Clock().Now))
	limiter := ratelimit.NewMemory()
	counts, err := ratelimit.NewDayCounts(ctx, e.Store, limiter)
	if err != nil {
		return err
	}
	g := gate.New(gate.Options{Authn: auth, Limiter: limiter, Clock: e.Store.Clock(), Log: e.Log})
	api, err := rest.New(rest.Options{Engine: e, Gate: g, Log: e.Log, BaseURL: base})
	if err != nil {
		return err
	}
	graphql := graph.New(graph.Options{Engine: e, Gate: g, Log: e.Log, BaseURL: base})
	background := make(chan error, 2)
	go func() { background <- auth.Run(ctx, e.Log) }()
	go func() { background <- counts.Run(ctx, e.Log) }()
	profiles, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("open the port of profiles: %w", err)
	}
	go func() { _ = http.Serve(profiles, nil) }() // loopback, ends with the process
	fmt.Println("ready", base, "http://"+profiles.Addr().String())
	srv := &http.Server{
		Handler: g.Front(bothDoors(api, graphql)), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, WriteTimeout: time.Minute, IdleTimeout: 2 * time.Minute,
	}
	err = front.Serve(ctx, srv)
	return errors.Join(err, <-background, <-background)
}

// bothDoors sends /graphql to graphql and all other paths to rest.
func bothDoors(rest, graphql http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/graphql" {
			graphql.ServeHTTP(w, r)
			return
		}
		rest.ServeHTTP(w, r)
	})
}

// serveHTTPS serves h with plain net/http until ctx ends.
func serveHTTPS(ctx context.Context, cfg *tls.Config, h http.Handler) error {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	cfg = cfg.Clone()
	cfg.NextProtos = []string{"http/1.1"}
	srv := &http.Server{Handler: h, TLSConfig: cfg, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		<-ctx.Done()
		_ = srv.Close()
	}()
	fmt.Println("ready", "https://"+ln.Addr().String(), "-")
	if err := srv.ServeTLS(ln, "", ""); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}
