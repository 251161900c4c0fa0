// Runs the program of this folder against the emulator of the service. It needs `pulumi`, and costs nothing.
package main

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
)

// startEmulator returns the address of an emulator without instances, which runs until the test ends.
func startEmulator(t *testing.T) string {
	t.Helper()
	command := exec.Command("pulumi", "plugin", "run", "--kind", "resource", "compute", "--",
		"emulator", "--provisioning-seconds", "0", "--port", "0")
	stdout, err := command.StdoutPipe()
	check(t, err)
	// The emulator ends with its stdin.
	stdin, err := command.StdinPipe()
	check(t, err)
	check(t, command.Start())
	t.Cleanup(func() {
		stdin.Close()
		command.Process.Kill()
		command.Wait()
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	check(t, err)
	return regexp.MustCompile(`http://[\w.:]+`).FindString(line)
}

// newStack returns a stack of the program. Its state is new, as the emulator is.
func newStack(t *testing.T, emulator string) auto.Stack {
	t.Helper()
	stack, err := auto.NewStackLocalSource(t.Context(), "test", ".", auto.EnvVars(map[string]string{
		"COMPUTE_BASE_URL":         emulator + "/v2",
		"COMPUTE_API_TOKEN":        "sk_test_emulator",
		"PULUMI_BACKEND_URL":       "file://" + filepath.ToSlash(t.TempDir()),
		"PULUMI_CONFIG_PASSPHRASE": "test",
	}))
	check(t, err)
	return stack
}

// get returns what the emulator answers to a test: its instances or its requests.
func get[T any](t *testing.T, emulator, path string) []T {
	t.Helper()
	response, err := http.Get(emulator + "/control/" + path)
	check(t, err)
	defer response.Body.Close()
	var items []T
	check(t, json.NewDecoder(response.Body).Decode(&items))
	return items
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestTheSecondRunMakesNoServer(t *testing.T) {
	emulator := startEmulator(t)
	stack := newStack(t, emulator)
	check(t, stack.SetConfig(t.Context(), "count", auto.ConfigValue{Value: "2"}))
	for range 2 {
		_, err := stack.Up(t.Context())
		check(t, err)
	}
	posts := 0
	for _, request := range get[struct{ Method string }](t, emulator, "requests") {
		if request.Method == http.MethodPost {
			posts++
		}
	}
	if instances := len(get[any](t, emulator, "instances")); instances != 2 || posts != 2 {
		t.Errorf("%d instances and %d creates, not 2 and 2", instances, posts)
	}
}
