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

// Redis starts a redis-server of the test's own, on a free loopback port, in a temporary folder and without
// persistence, and returns its URL (redis://:password@127.0.0.1:port/0) once it answers. It is killed when the
// test ends. The test fails when redis-server is not installed or does not answer within 10 s; it never skips.
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

// startRedis makes one attempt at one port.
func startRedis(tb testing.TB, program string) (url string, err error) {
	dir := tb.TempDir()
	log, err := os.Create(filepath.Join(dir, "log")) // a folder of ours
	if err != nil {
		return "", err
	}
	defer func() { _ = log.Close() }() // the child has its own

	port, err := freePort()
	if err != nil {
		return "", err
	}
	// The password tells our server from another that won the race for the port.
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
		_ = cmd.Wait() // killed, or its log says why it ended
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

// awaitRedis returns once the server answers to the password, or an error when it ends or 10 s have passed.
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

// freePort returns a loopback port that was free a moment ago.
func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().(*net.TCPAddr).Port, nil
}
