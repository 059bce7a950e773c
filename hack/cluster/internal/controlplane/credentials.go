package controlplane

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"trickstercache.org/trickster-gateway/hack/cluster/internal/layout"
)

// authority is the cluster's certificate authority.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	pem         []byte
}

// WriteCredentials creates a certificate authority, a serving certificate for
// the API server, a service account signing key and an administrator's kubeconfigs.
func WriteCredentials(s layout.State) error {
	ca, err := newAuthority()
	if err != nil {
		return err
	}
	server := certificate(2, pkix.Name{CommonName: "kube-apiserver"})
	server.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	server.IPAddresses = []net.IP{net.ParseIP(layout.APIServiceIP), net.ParseIP(layout.NodeIP), net.IPv4(127, 0, 0, 1)}
	server.DNSNames = []string{"localhost", "kubernetes.default.svc", "kubernetes.default.svc." + layout.ClusterDomain}

	admin := certificate(3, pkix.Name{CommonName: "admin", Organization: []string{"system:masters"}})
	admin.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}

	files := map[string][]byte{"ca.crt": ca.pem}
	for name, template := range map[string]*x509.Certificate{"apiserver": server, "admin": admin} {
		if files[name+".crt"], files[name+".key"], err = ca.issue(template); err != nil {
			return err
		}
	}
	if files["sa.pub"], files["sa.key"], err = signingKey(); err != nil {
		return err
	}
	for name, data := range files {
		if err := os.WriteFile(s.Path(name), data, 0o600); err != nil {
			return err
		}
	}
	if err := writeKubeconfig(s.Kubeconfig(), layout.NodeIP, layout.APIServerPort, files); err != nil {
		return err
	}
	return writeKubeconfig(s.RelayKubeconfig(), layout.APIServiceIP, layout.APIServicePort, files)
}

func newAuthority() (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	ca := certificate(1, pkix.Name{CommonName: "testcluster"})
	ca.IsCA, ca.BasicConstraintsValid, ca.KeyUsage = true, true, x509.KeyUsageCertSign|x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, ca, ca, key.Public(), key)
	if err != nil {
		return nil, err
	}
	return &authority{certificate: ca, key: key, pem: block("CERTIFICATE", der)}, nil
}

func (a *authority) issue(template *x509.Certificate) (cert, key []byte, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, private.Public(), a.key)
	if err != nil {
		return nil, nil, err
	}
	return block("CERTIFICATE", der), keyPEM(private), nil
}

// signingKey returns the pair with which service account tokens are signed and checked.
func signingKey() (public, private []byte, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	return block("PUBLIC KEY", der), keyPEM(key), err
}

func writeKubeconfig(path, host string, port int, files map[string][]byte) error {
	config := clientcmdapi.NewConfig()
	config.Clusters["testcluster"] = &clientcmdapi.Cluster{
		Server:                   fmt.Sprintf("https://%s:%d", host, port),
		CertificateAuthorityData: files["ca.crt"],
	}
	config.AuthInfos["admin"] = &clientcmdapi.AuthInfo{
		ClientCertificateData: files["admin.crt"], ClientKeyData: files["admin.key"],
	}
	config.Contexts["testcluster"] = &clientcmdapi.Context{Cluster: "testcluster", AuthInfo: "admin"}
	config.CurrentContext = "testcluster"
	return clientcmd.WriteToFile(*config, path)
}

func certificate(serial int64, subject pkix.Name) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: subject, KeyUsage: x509.KeyUsageDigitalSignature,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(1, 0, 0),
	}
}

func block(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

func keyPEM(key crypto.PrivateKey) []byte {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		panic(err) // only for key types that this file does not use
	}
	return block("PRIVATE KEY", der)
}
