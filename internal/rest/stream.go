package rest

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/ctxd/ctxd/internal/eventlog"
)

// stream is the answer of GET /v1/events.
type stream struct {
	s     *Server
	ctx   context.Context
	query eventlog.Query
	level eventlog.Level
	leave func()
}

// VisitStreamEventsResponse writes Server-Sent Events until the client, the token or the server ends it (http.md E5–E7).
func (st *stream) VisitStreamEventsResponse(w http.ResponseWriter) error {
	defer st.leave()
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	out := &sseWriter{w: w, control: http.NewResponseController(w)}
	if err := out.flush(); err != nil || of(st.ctx).method == http.MethodHead {
		return nil
	}
	st.s.Meter.StreamsActive.Add(1)
	st.s.Meter.StreamsTotal.Add(1)
	defer st.s.Meter.StreamsActive.Add(-1)
	ctx, cancel := st.s.lifetime(st.ctx)
	defer cancel()
	st.run(ctx, out)
	return nil
}

// run hands batches from the follower to the writer, and fills silence with comments. One goroutine writes; the other
// follows, and waits until what it has given is written.
func (st *stream) run(ctx context.Context, out *sseWriter) {
	ctx, cancel := context.WithCancel(ctx)
	batches, written := make(chan eventlog.Batch), make(chan struct{})
	done := make(chan error, 1)
	go func() {
		done <- st.s.Log.Follow(ctx, st.query, st.level, func(b eventlog.Batch) error {
			select {
			case batches <- b:
			case <-ctx.Done():
				return ctx.Err()
			}
			select {
			case <-written:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}()
	err := st.write(ctx, out, batches, written, done)
	cancel()
	if err == nil {
		err = <-done
	}
	if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, errClientGone) {
		st.s.Logger.Error("event stream ended", "request_id", of(st.ctx).id, "cause", err)
	}
}

var errClientGone = errors.New("the client takes no more")

func (st *stream) write(ctx context.Context, out *sseWriter, batches <-chan eventlog.Batch, written chan<- struct{}, done chan error) error {
	silence := time.NewTicker(st.s.KeepAlive)
	defer silence.Stop()
	for {
		select {
		case b := <-batches:
			if err := out.batch(b); err != nil {
				return err
			}
			st.count(b)
			silence.Reset(st.s.KeepAlive)
			select {
			case written <- struct{}{}:
			case <-ctx.Done():
				return nil
			}
		case <-silence.C:
			if err := out.comment("keep-alive"); err != nil {
				return err
			}
		case err := <-done:
			done <- err
			return nil
		case <-ctx.Done():
			return nil
		}
	}
}

func (st *stream) count(b eventlog.Batch) {
	if b.Live {
		st.s.Meter.EventsBroadcast.Add(int64(len(b.Frames)))
	} else {
		st.s.Meter.EventsReplayed.Add(int64(len(b.Frames)))
	}
}

// sseWriter frames events (http.md E7): id, event, data, in this order, with LF.
type sseWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
	buf     []byte
}

func (o *sseWriter) batch(b eventlog.Batch) error {
	o.buf = o.buf[:0]
	if b.Backfill != nil {
		data, err := json.Marshal(b.Backfill)
		if err != nil {
			return err
		}
		o.buf = append(o.buf, "event: backfill\ndata: "...)
		o.buf = append(append(o.buf, data...), "\n\n"...)
	}
	for _, f := range b.Frames {
		o.buf = strconv.AppendInt(append(o.buf, "id: "...), f.ID, 10)
		o.buf = append(append(o.buf, "\nevent: "...), f.Kind...)
		o.buf = append(append(o.buf, "\ndata: "...), f.Data...)
		o.buf = append(o.buf, "\n\n"...)
	}
	return o.send()
}

func (o *sseWriter) comment(text string) error {
	o.buf = append(append(append(o.buf[:0], ": "...), text...), "\n\n"...)
	return o.send()
}

func (o *sseWriter) send() error {
	if _, err := o.w.Write(o.buf); err != nil {
		return errors.Join(errClientGone, err)
	}
	return o.flush()
}

func (o *sseWriter) flush() error {
	if err := o.control.Flush(); err != nil {
		return errors.Join(errClientGone, err)
	}
	return nil
}
