// A framework by mesos-go: host:port of the master, id of a framework to take over or "-".
// Reserves, launches one task upon the reservation, and does what it is told on standard input.
// Writes a JSON array a line: what happened, and to what.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"time"

	mesos "github.com/mesos/mesos-go/api/v1/lib"
	"github.com/mesos/mesos-go/api/v1/lib/extras/scheduler/callrules"
	"github.com/mesos/mesos-go/api/v1/lib/extras/scheduler/controller"
	"github.com/mesos/mesos-go/api/v1/lib/extras/scheduler/eventrules"
	"github.com/mesos/mesos-go/api/v1/lib/extras/store"
	"github.com/mesos/mesos-go/api/v1/lib/httpcli"
	"github.com/mesos/mesos-go/api/v1/lib/httpcli/httpsched"
	"github.com/mesos/mesos-go/api/v1/lib/resources"
	"github.com/mesos/mesos-go/api/v1/lib/scheduler"
	"github.com/mesos/mesos-go/api/v1/lib/scheduler/calls"
	"github.com/mesos/mesos-go/api/v1/lib/scheduler/events"
)

var (
	role     = "ads"
	shell    = "true"
	timeout  = 60.0
	refuse   = calls.RefuseSeconds(1000 * time.Second)
	speaking sync.Mutex
)

func say(words ...string) {
	speaking.Lock()
	defer speaking.Unlock()
	line, _ := json.Marshal(words)
	fmt.Println(string(line))
}

func reserved() mesos.Resources {
	of := mesos.Resources{resources.NewCPUs(1).Resource, resources.NewMemory(32).Resource}
	for i := range of {
		of[i].AllocationInfo = &mesos.Resource_AllocationInfo{Role: &role}
		of[i].Reservations = []mesos.Resource_ReservationInfo{
			{Type: mesos.Resource_ReservationInfo_DYNAMIC.Enum(), Role: &role},
		}
	}
	return of
}

// operations reserve on the agent of an offer and launch there.
func operations(offer mesos.Offer) calls.OfferOperations {
	of := reserved()
	task := mesos.TaskInfo{
		Name: "t", TaskID: mesos.TaskID{Value: "t"}, AgentID: offer.AgentID,
		Command: &mesos.CommandInfo{Value: &shell}, Resources: of,
	}
	return calls.OfferOperations{calls.OpReserve(of...), calls.OpLaunch(task)}
}

func main() {
	address, known := os.Args[1], os.Args[2]
	ids := store.DecorateSingleton(store.NewInMemorySingleton())
	info := &mesos.FrameworkInfo{
		User: "u", Name: "mesos-go", Roles: []string{role}, FailoverTimeout: &timeout,
		Capabilities: []mesos.FrameworkInfo_Capability{
			{Type: mesos.FrameworkInfo_Capability_MULTI_ROLE},
			{Type: mesos.FrameworkInfo_Capability_RESERVATION_REFINEMENT},
		},
	}
	if known != "-" {
		ids.Set(known)
		info.ID = &mesos.FrameworkID{Value: known}
	}
	frameworkID := store.GetIgnoreErrors(ids)
	caller := callrules.WithFrameworkID(frameworkID).Caller(httpsched.NewCaller(httpcli.New(
		httpcli.Endpoint("http://"+address+"/api/v1/scheduler"),
		httpcli.Do(httpcli.With(httpcli.Timeout(0))),
	)))
	call := func(call *scheduler.Call) {
		if err := calls.CallNoData(context.Background(), caller, call); err != nil {
			say("error", err.Error())
		}
	}
	agent := ""
	handler := eventrules.New(
		controller.TrackSubscription(ids, time.Minute),
		controller.AckStatusUpdates(caller),
		controller.LiftErrors(),
	).Handle(events.Handlers{
		scheduler.Event_SUBSCRIBED: events.HandlerFunc(func(_ context.Context, e *scheduler.Event) error {
			say("subscribed", e.GetSubscribed().GetFrameworkID().GetValue())
			return nil
		}),
		scheduler.Event_OFFERS: events.HandlerFunc(func(_ context.Context, e *scheduler.Event) error {
			for _, offer := range e.GetOffers().GetOffers() {
				if agent != "" || known != "-" {
					call(calls.Decline(offer.ID).With(refuse))
					say("declined")
					continue
				}
				agent = offer.AgentID.Value
				call(calls.Accept(operations(offer).WithOffers(offer.ID)).With(refuse))
				say("launched")
			}
			return nil
		}),
		scheduler.Event_UPDATE: events.HandlerFunc(func(_ context.Context, e *scheduler.Event) error {
			status := e.GetUpdate().GetStatus()
			say("update", status.State.String())
			return nil
		}),
	})
	once := make(chan struct{}, 1)
	once <- struct{}{}
	close(once)
	go controller.Run(context.Background(), info, caller, controller.WithEventHandler(handler),
		controller.WithFrameworkID(frameworkID), controller.WithRegistrationTokens(once))
	for orders := bufio.NewScanner(os.Stdin); orders.Scan(); {
		switch orders.Text() {
		case "reconcile":
			call(calls.Reconcile(calls.ReconcileTasks(map[string]string{"t": agent})))
		case "kill":
			call(calls.Kill("t", agent))
		case "suppress":
			call(calls.Suppress())
		case "revive":
			call(calls.Revive())
		default:
			call(&scheduler.Call{Type: scheduler.Call_TEARDOWN})
			say("torn down")
		}
	}
}
