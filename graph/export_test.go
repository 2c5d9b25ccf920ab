package graph

import (
	"context"
	"strconv"
	"time"
)

// Timing holds the intervals of streams, for tests.
type Timing struct{ KeepAlive, Recheck, Trouble, Write time.Duration }

// Hasten sets the intervals that are not zero. Call it before the first stream.
func (s *Server) Hasten(t Timing) {
	for to, v := range map[*time.Duration]time.Duration{
		&s.timing.keepAlive: t.KeepAlive, &s.timing.recheck: t.Recheck, &s.timing.maxFailure: t.Trouble, &s.timing.write: t.Write,
	} {
		if v != 0 {
			*to = v
		}
	}
}

// OpenStreams returns how many streams are open.
func (s *Server) OpenStreams() int {
	s.streams.mu.Lock()
	defer s.streams.mu.Unlock()
	return s.streams.open
}

// HoldStreams keeps all streams from reading until release is called.
func (s *Server) HoldStreams() (release func()) {
	var leave []func()
	for i := range readers {
		done, _ := s.streams.reading.Take(context.Background(), strconv.Itoa(i))
		leave = append(leave, done)
	}
	return func() {
		for _, done := range leave {
			done()
		}
	}
}
