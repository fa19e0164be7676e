// A framework by mesos-framework: host and port of the master.
// Launches one task, declines what it has no use for, and does what it is told on standard input.
// Writes a JSON array a line: what happened, and to what.
"use strict";
const { Scheduler, Mesos } = require("mesos-framework");
const mesos = Mesos.getMesos();
const say = (...words) => console.log(JSON.stringify(words));
const scheduler = new Scheduler({
    masterUrl: process.argv[2],
    port: Number(process.argv[3]),
    frameworkName: "mesos-framework",
    frameworkFailoverTimeout: 60,
    logging: { level: "error", path: process.argv[4], fileName: "log" },
    tasks: {
        sleeper: {
            priority: 1,
            instances: 1,
            commandInfo: new mesos.CommandInfo(null, null, true, "true", null, null),
            resources: { cpus: 1, mem: 32, ports: 0, disk: 0 },
        },
    },
});
scheduler.on("subscribed", (event) => say("subscribed", event.frameworkId));
scheduler.on("sent_accept", () => say("launched"));
scheduler.on("sent_decline", () => say("declined"));
let first;
scheduler.on("update", ({ status }) => { first ??= status; say("update", status.state); });
scheduler.on("error", (error) => say("error", String(error.message || error)));
scheduler.on("ready", () => scheduler.subscribe());
scheduler.on("sent_teardown", () => { say("torn down"); process.exit(0); });
require("readline").createInterface({ input: process.stdin }).on("line", (order) => {
    if (order === "reconcile") scheduler.reconcile();
    else if (order === "kill") scheduler.kill(first.task_id.value, first.agent_id.value);
    else if (order === "revive") scheduler.revive();
    else scheduler.teardown();
});
