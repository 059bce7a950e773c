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

	clientcmd "k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// writeCredentials creates a certificate authority, a serving certificate for
// the apiserver, a service account signing key and an administrator's kubeconfig.
func writeCredentials(s state) error {
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	ca := certificate(1, pkix.Name{CommonName: "testcluster"})
	ca.IsCA, ca.BasicConstraintsValid, ca.KeyUsage = true, true, x509.KeyUsageCertSign|x509.KeyUsageDigitalSignature
	caDER, err := x509.CreateCertificate(rand.Reader, ca, ca, caKey.Public(), caKey)
	if err != nil {
		return err
	}

	server := certificate(2, pkix.Name{CommonName: "kube-apiserver"})
	server.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	server.IPAddresses = []net.IP{net.ParseIP(apiserverIP), net.ParseIP(nodeIP), net.IPv4(127, 0, 0, 1)}
	server.DNSNames = []string{"localhost", "kubernetes.default.svc", "kubernetes.default.svc." + clusterDomain}

	admin := certificate(3, pkix.Name{CommonName: "admin", Organization: []string{"system:masters"}})
	admin.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}

	saKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	saPub, _ := x509.MarshalPKIXPublicKey(saKey.Public())
	files := map[string][]byte{
		"ca.crt": block("CERTIFICATE", caDER),
		"sa.key": keyPEM(saKey),
		"sa.pub": block("PUBLIC KEY", saPub),
	}
	for name, template := range map[string]*x509.Certificate{"apiserver": server, "admin": admin} {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			return err
		}
		der, err := x509.CreateCertificate(rand.Reader, template, ca, key.Public(), caKey)
		if err != nil {
			return err
		}
		files[name+".crt"], files[name+".key"] = block("CERTIFICATE", der), keyPEM(key)
	}
	for name, data := range files {
		if err := os.WriteFile(s.path(name), data, 0o600); err != nil {
			return err
		}
	}

	config := clientcmdapi.NewConfig()
	config.Clusters["testcluster"] = &clientcmdapi.Cluster{
		Server:                   fmt.Sprintf("https://%s:%d", apiserverIP, apiserverPort),
		CertificateAuthorityData: files["ca.crt"],
	}
	config.AuthInfos["admin"] = &clientcmdapi.AuthInfo{
		ClientCertificateData: files["admin.crt"], ClientKeyData: files["admin.key"],
	}
	config.Contexts["testcluster"] = &clientcmdapi.Context{Cluster: "testcluster", AuthInfo: "admin"}
	config.CurrentContext = "testcluster"
	return clientcmd.WriteToFile(*config, s.path("kubeconfig"))
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
