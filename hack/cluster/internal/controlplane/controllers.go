package controlplane

import (
	"context"
	"os"
	"time"

	v1 "k8s.io/api/core/v1"
	discoverycache "k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/controller-manager/pkg/informerfactory"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/certificates/rootcacertpublisher"
	"k8s.io/kubernetes/pkg/controller/deployment"
	"k8s.io/kubernetes/pkg/controller/endpointslice"
	"k8s.io/kubernetes/pkg/controller/garbagecollector"
	"k8s.io/kubernetes/pkg/controller/job"
	"k8s.io/kubernetes/pkg/controller/namespace"
	"k8s.io/kubernetes/pkg/controller/replicaset"
	"k8s.io/kubernetes/pkg/controller/serviceaccount"
	"k8s.io/kubernetes/pkg/controller/statefulset"

	"trickstercache.org/trickster-gateway/hack/cluster/internal/layout"
)

// The garbage collector learns of new kinds only when it looks again.
const garbageSync = 5 * time.Second

// controllers are the parts of kube-controller-manager that workloads,
// Services, namespaces and service accounts need, one by one: its own command
// would link three times as much.
type controllers struct {
	client kubernetes.Interface
	meta   metadata.Interface
	typed  informers.SharedInformerFactory
	bare   metadatainformer.SharedInformerFactory
	start  []func(context.Context)
}

func runControllers(ctx context.Context, s layout.State) error {
	config, err := clientcmd.BuildConfigFromFlags("", s.Kubeconfig())
	if err != nil {
		return err
	}
	config.QPS = -1 // no client-side throttling
	if err := WaitReady(ctx); err != nil {
		return err
	}
	rootCA, err := os.ReadFile(s.Path("ca.crt"))
	if err != nil {
		return err
	}
	c := &controllers{}
	if c.client, err = kubernetes.NewForConfig(config); err != nil {
		return err
	}
	if c.meta, err = metadata.NewForConfig(rest.CopyConfig(config)); err != nil {
		return err
	}
	c.typed = informers.NewSharedInformerFactory(c.client, 0)
	c.bare = metadatainformer.NewSharedInformerFactory(c.meta, 0)
	if err := c.addWorkloads(ctx); err != nil {
		return err
	}
	if err := c.addNamespaced(ctx, rootCA); err != nil {
		return err
	}
	return c.run(ctx)
}

func (c *controllers) addWorkloads(ctx context.Context) error {
	core, apps, batch := c.typed.Core().V1(), c.typed.Apps().V1(), c.typed.Batch().V1()
	deployments, err := deployment.NewDeploymentController(ctx, apps.Deployments(), apps.ReplicaSets(), core.Pods(), c.client)
	if err != nil {
		return err
	}
	jobs, err := job.NewController(ctx, c.client, core.Pods(), batch.Jobs(), nil, nil)
	if err != nil {
		return err
	}
	replicasets := replicaset.NewReplicaSetController(ctx, apps.ReplicaSets(), core.Pods(), c.client, replicaset.BurstReplicas)
	statefulsets := statefulset.NewStatefulSetController(ctx, core.Pods(), apps.StatefulSets(),
		core.PersistentVolumeClaims(), apps.ControllerRevisions(), c.client)
	slices := endpointslice.NewController(ctx, core.Pods(), core.Services(), core.Nodes(),
		c.typed.Discovery().V1().EndpointSlices(), 100, c.client, 0)
	c.start = append(c.start,
		func(ctx context.Context) { deployments.Run(ctx, 5) },
		func(ctx context.Context) { replicasets.Run(ctx, 5) },
		func(ctx context.Context) { jobs.Run(ctx, 2) },
		func(ctx context.Context) { statefulsets.Run(ctx, 2) },
		func(ctx context.Context) { slices.Run(ctx, 5) },
	)
	return nil
}

func (c *controllers) addNamespaced(ctx context.Context, rootCA []byte) error {
	core := c.typed.Core().V1()
	namespaces := namespace.NewNamespaceController(ctx, c.client, c.meta,
		c.client.Discovery().ServerPreferredNamespacedResources, core.Namespaces(), time.Minute, v1.FinalizerKubernetes)
	accounts, err := serviceaccount.NewServiceAccountsController(klog.FromContext(ctx), core.ServiceAccounts(),
		core.Namespaces(), c.client, serviceaccount.DefaultServiceAccountsControllerOptions())
	if err != nil {
		return err
	}
	publisher, err := rootcacertpublisher.NewPublisher(core.ConfigMaps(), core.Namespaces(), c.client, rootCA)
	if err != nil {
		return err
	}
	c.start = append(c.start,
		func(ctx context.Context) { namespaces.Run(ctx, 5) },
		func(ctx context.Context) { accounts.Run(ctx, 2) },
		func(ctx context.Context) { publisher.Run(ctx, 2) },
	)
	return nil
}

func (c *controllers) run(ctx context.Context) error {
	started := make(chan struct{})
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(discoverycache.NewMemCacheClient(c.client.Discovery()))
	garbage, err := garbagecollector.NewGarbageCollector(ctx, c.client, c.meta, mapper,
		garbagecollector.DefaultIgnoredResources(), informerfactory.NewInformerFactory(c.typed, c.bare), started)
	if err != nil {
		return err
	}
	c.typed.Start(ctx.Done())
	c.bare.Start(ctx.Done())
	close(started)
	for _, start := range c.start {
		go start(ctx)
	}
	go garbage.Run(ctx, 5, 30*time.Second)
	garbage.Sync(ctx, c.client.Discovery(), garbageSync) // blocks
	return ctx.Err()
}
