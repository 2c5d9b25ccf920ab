package testkit

import (
	"bufio"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Redis starts a redis-server for this test, on a free loopback port, in a temporary folder and without persistence. It returns
// the URL (redis://:password@127.0.0.1:port/0) once the server answers. The server is killed when the test ends. The test fails
// when redis-server is not installed or does not answer within 10 s; it never skips.
func Redis(tb testing.TB) string {
	tb.Helper()
	program, err := exec.LookPath("redis-server")
	if err != nil {
		tb.Fatal("This test needs the program redis-server, which is not on PATH: " +
			"install it (apt-get install redis-server, or brew install redis) and run the test again.")
	}
	var last error
	for range 5 { // another process may take the free port before redis-server does
		url, err := startRedis(tb, program)
		if err == nil {
			return url
		}
		last = err
	}
	tb.Fatalf("redis-server does not start: %v", last)
	return ""
}

// startRedis makes one attempt on one port.
func startRedis(tb testing.TB, program string) (url string, err error) {
	dir := tb.TempDir()
	log, err := os.Create(filepath.Join(dir, "log")) // inside the test's own folder
	if err != nil {
		return "", err
	}
	defer func() { _ = log.Close() }() // the child has its own descriptor

	port, err := freePort()
	if err != nil {
		return "", err
	}
	// The password distinguishes our server from another one that took the port first.
	password := rand.Text()
	cmd := exec.Command(program, "--bind", "127.0.0.1", "--port", strconv.Itoa(port), "--requirepass", password,
		"--dir", dir, "--save", "", "--appendonly", "no", "--daemonize", "no")
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return "", err
	}
	exited := make(chan struct{})
	go func() {
		defer close(exited)
		_ = cmd.Wait() // it was killed, or its log says why it ended
	}()
	stop := func() {
		_ = cmd.Process.Kill()
		<-exited
	}

	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	if err := awaitRedis(address, password, exited); err != nil {
		stop()
		text, _ := os.ReadFile(log.Name())
		return "", fmt.Errorf("%w; its log:\n%s", err, text)
	}
	tb.Cleanup(stop)
	return "redis://:" + password + "@" + address + "/0", nil
}

// awaitRedis returns nil once the server accepts the password, or an error when it exits or after 10 s.
func awaitRedis(address, password string, exited <-chan struct{}) error {
	deadline := time.After(10 * time.Second)
	for {
		err := pingRedis(address, password)
		if err == nil {
			return nil
		}
		select {
		case <-exited:
			return fmt.Errorf("it ended before it answered")
		case <-deadline:
			return fmt.Errorf("it does not answer: %w", err)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func pingRedis(address, password string) error {
	conn, err := net.DialTimeout("tcp", address, time.Second)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(time.Second)); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(conn, "AUTH %s\r\n", password); err != nil {
		return err
	}
	answer, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		return err
	}
	if !strings.HasPrefix(answer, "+OK") {
		return fmt.Errorf("it answered %q", strings.TrimSpace(answer))
	}
	return nil
}

// freePort returns a loopback port that was free when it checked.
func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().(*net.TCPAddr).Port, nil
}
