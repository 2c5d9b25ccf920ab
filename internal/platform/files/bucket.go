package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// Bucket is a Store in a bucket of an S3-compatible server, which several nodes share.
type Bucket struct {
	client *minio.Client
	name   string
	prefix string // of all keys: empty, or with a slash at its end
}

// The patience with a server of a bucket. A call that fails for a moment is repeated, at most bucketTries times in all.
const (
	bucketTries = 3
	bucketCheck = 15 * time.Second // until a server that does not answer is refused
)

// NewBucket returns the store of an address s3://BUCKET/PREFIX?endpoint=URL&region=NAME. PREFIX, endpoint (Amazon's when not given) and
// region may be left out. Credentials are those of the environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN), of the
// file ~/.aws/credentials, or of the machine's role.
func NewBucket(address string) (*Bucket, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "s3" || u.Host == "" || u.User != nil || u.Fragment != "" {
		return nil, errors.New("must look like s3://BUCKET/PREFIX?endpoint=URL&region=NAME, with credentials in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
	}
	q := u.Query()
	for name := range q {
		if name != "endpoint" && name != "region" {
			return nil, fmt.Errorf("has no parameter %q: endpoint and region are known", name)
		}
	}
	host, secure := "s3.amazonaws.com", true
	if at := q.Get("endpoint"); at != "" {
		e, err := url.Parse(at)
		if err != nil || e.Host == "" || (e.Scheme != "https" && e.Scheme != "http") || strings.Trim(e.Path, "/") != "" {
			return nil, errors.New("must have an endpoint like https://HOST:PORT")
		}
		host, secure = e.Host, e.Scheme == "https"
	}
	transport, err := minio.DefaultTransport(secure)
	if err != nil {
		return nil, fmt.Errorf("prepare calls of the bucket: %w", err)
	}
	transport.ResponseHeaderTimeout = 30 * time.Second
	client, err := minio.New(host, &minio.Options{
		Creds: credentials.NewChainCredentials([]credentials.Provider{
			&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}, &credentials.IAM{Client: &http.Client{Timeout: bucketCheck}},
		}),
		Secure: secure, Region: q.Get("region"), Transport: transport, MaxRetries: bucketTries,
	})
	if err != nil {
		return nil, fmt.Errorf("must name a server: %w", err)
	}
	b := &Bucket{client: client, name: u.Host, prefix: strings.Trim(u.Path, "/")}
	if b.prefix != "" {
		b.prefix += "/"
	}
	return b, nil
}

// Check returns an error unless the server answers, knows the credentials and has the bucket.
func (b *Bucket) Check(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, bucketCheck)
	defer stop()
	there, err := b.client.BucketExists(ctx, b.name)
	if err != nil {
		return fmt.Errorf("look at the bucket %s: %w", b.name, err)
	}
	if !there {
		return fmt.Errorf("there is no bucket %s", b.name)
	}
	return nil
}

func (b *Bucket) at(key string) (string, error) {
	if !valid(key) {
		return "", fmt.Errorf("files: %q is no key", key)
	}
	return b.prefix + key, nil
}

// Put sends the spool's file. The server shows it once it is complete.
func (b *Bucket) Put(ctx context.Context, key string, s *Spooled) error {
	to, err := b.at(key)
	if err != nil {
		return err
	}
	if _, err := b.client.FPutObject(ctx, b.name, to, s.path, minio.PutObjectOptions{ContentType: "application/octet-stream"}); err != nil {
		return fmt.Errorf("send the file to the bucket: %w", err)
	}
	s.Discard()
	return nil
}

// Open looks the object of a key up. Its bytes are read while ctx lives.
func (b *Bucket) Open(ctx context.Context, key string) (Stored, error) {
	at, err := b.at(key)
	if err != nil {
		return nil, err
	}
	about, err := b.client.StatObject(ctx, b.name, at, minio.StatObjectOptions{})
	if missing(err) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("look the file up in the bucket: %w", err)
	}
	return &object{ctx: ctx, b: b, at: at, size: about.Size}, nil
}

func missing(err error) bool { return minio.ToErrorResponse(err).Code == minio.NoSuchKey }

// Delete removes the object of a key.
func (b *Bucket) Delete(ctx context.Context, key string) error {
	at, err := b.at(key)
	if err != nil {
		return err
	}
	if err := b.client.RemoveObject(ctx, b.name, at, minio.RemoveObjectOptions{}); err != nil && !missing(err) {
		return fmt.Errorf("remove the file from the bucket: %w", err)
	}
	return nil
}

// List calls each with the keys of all objects below the prefix.
func (b *Bucket) List(ctx context.Context, each func(key string, at time.Time) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop() // ends the listing of which the rest is not wanted
	for o := range b.client.ListObjects(ctx, b.name, minio.ListObjectsOptions{Prefix: b.prefix, Recursive: true}) {
		if o.Err != nil {
			return fmt.Errorf("list the bucket: %w", o.Err)
		}
		key := strings.TrimPrefix(o.Key, b.prefix)
		if !valid(key) {
			continue
		}
		if err := each(key, o.LastModified); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// object is a stored file that is read by one answer of the server as long as it is read in order, whatever the size of the reads, and
// by another one from wherever else it is read.
type object struct {
	ctx  context.Context // of Open: io.ReaderAt takes none
	b    *Bucket
	at   string
	size int64

	mu   sync.Mutex
	body io.ReadCloser // nil before the first read
	next int64         // where body goes on
}

func (o *object) Size() int64 { return o.size }

// ReadAt reads len(p) bytes from off.
func (o *object) ReadAt(p []byte, off int64) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if off >= o.size {
		return 0, io.EOF
	}
	if o.body == nil || o.next != off {
		if err := o.seek(off); err != nil {
			return 0, err
		}
	}
	n, err := io.ReadFull(o.body, p[:min(int64(len(p)), o.size-off)])
	o.next += int64(n)
	switch {
	case err != nil:
		return n, errors.Join(fmt.Errorf("read the file from the bucket: %w", err), o.drop())
	case n < len(p):
		return n, io.EOF
	}
	return n, nil
}

// seek asks for the object from a position on.
func (o *object) seek(off int64) error {
	if err := o.drop(); err != nil {
		return err
	}
	var opts minio.GetObjectOptions
	if err := opts.SetRange(off, o.size-1); err != nil {
		return fmt.Errorf("read the file from the bucket: %w", err)
	}
	body, _, _, err := minio.Core{Client: o.b.client}.GetObject(o.ctx, o.b.name, o.at, opts)
	if err != nil {
		return fmt.Errorf("read the file from the bucket: %w", err)
	}
	o.body, o.next = body, off
	return nil
}

func (o *object) drop() error {
	if o.body == nil {
		return nil
	}
	body := o.body
	o.body = nil
	return body.Close()
}

// Close ends what is being read.
func (o *object) Close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.drop()
}
