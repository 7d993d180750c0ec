package rest

import (
	"net/http"
	"time"
)

// recorder notes the status of an answer, and when its headers were sent.
type recorder struct {
	http.ResponseWriter
	now     func() time.Time
	timeout time.Duration // for the client to accept a piece; 0: for ever
	status  int
	at      time.Time
}

func (w *recorder) WriteHeader(status int) {
	if w.status == 0 {
		w.status, w.at = status, w.now()
		w.limit()
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *recorder) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	w.limit()
	return w.ResponseWriter.Write(b)
}

// limit bounds how long the client may take to accept what is written next. The time that a handler took before does not
// count: what it answers at its own deadline must still be heard.
func (w *recorder) limit() {
	if w.timeout > 0 {
		_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Now().Add(w.timeout)) // a test recorder has none
	}
}

// forget lifts the limit that the request before has left on the same connection: net/http writes to it by itself too.
func (w *recorder) forget() {
	if w.timeout > 0 {
		_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Time{}) // a test recorder has none
	}
}

// Flush makes streaming handlers of other packages work.
func (w *recorder) Flush() {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if f, ok := w.ResponseWriter.(http.Flusher); ok {
		f.Flush()
	}
}

// Unwrap is for http.ResponseController.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *recorder) headersAfter(start time.Time) time.Duration {
	if w.status == 0 {
		return w.now().Sub(start)
	}
	return w.at.Sub(start)
}
