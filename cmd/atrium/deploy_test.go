package main_test

import (
	"bytes"
	"net/http"
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/yaml"
)

// The deployment examples use only what exists: every metric appears on the metrics page of a freshly started server, every
// variable and flag is one of serve's, and Kubernetes' own types decode the manifests completely.
func TestDeployFiles(t *testing.T) {
	t.Parallel()
	read := func(name string) string {
		text, err := os.ReadFile("deploy/" + name)
		require.NoError(t, err)
		return string(text)
	}
	n := onSQLite(t).serve("--no-demo")
	page, err := send(http.DefaultClient, "GET", n.admin+"/metrics", "", "")
	require.NoError(t, err)
	for _, name := range []string{"prometheus-rules.yaml", "grafana.json"} {
		names := regexp.MustCompile(`\b(atrium|process|go)_[a-z_]+`).FindAllString(read(name), -1)
		require.Greater(t, len(names), 5, name)
		for _, metric := range names {
			require.Contains(t, page.body, "\n"+metric, name)
		}
	}
	help := n.ok("serve", "--help")
	for _, name := range []string{"compose.yaml", "kubernetes.yaml", "Containerfile", "atrium.service"} {
		for _, variable := range regexp.MustCompile(`\bATRIUM_[A-Z_]+`).FindAllString(read(name), -1) {
			if variable != "ATRIUM_MASTER_KEY" && variable != "ATRIUM_DB_PASSWORD" { // the first is not a flag, so that no list of processes shows it; the second is PostgreSQL's
				require.Contains(t, help, "$"+variable, name)
			}
		}
	}
	for _, name := range []string{"kubernetes.yaml", "atrium.service"} { // the other files also contain flags of other programs
		for _, flag := range regexp.MustCompile(`--[a-z]+(-[a-z]+)*\b`).FindAllString(read(name), -1) {
			require.Contains(t, help, flag, name)
		}
	}
	var anything map[string]any
	require.NoError(t, yaml.UnmarshalStrict([]byte(read("compose.yaml")), &anything))
	require.NoError(t, yaml.UnmarshalStrict([]byte(read("prometheus-rules.yaml")), &anything))
	for _, one := range bytes.Split([]byte(read("kubernetes.yaml")), []byte("\n---\n")) {
		var kind struct{ Kind string }
		require.NoError(t, yaml.Unmarshal(one, &kind))
		into, known := map[string]any{
			"Deployment": &appsv1.Deployment{}, "Service": &corev1.Service{}, "PersistentVolumeClaim": &corev1.PersistentVolumeClaim{}, "PodDisruptionBudget": &policyv1.PodDisruptionBudget{},
			"NetworkPolicy": &networkingv1.NetworkPolicy{},
		}[kind.Kind]
		require.True(t, known, kind.Kind)
		require.NoError(t, yaml.UnmarshalStrict(one, into), kind.Kind)
	}
}
