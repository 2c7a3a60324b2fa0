import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ContainerDetails, OwnContainer } from "../../../src/docker/mod.ts";
import {
  requireNotOwnProject,
  requireNotStopped,
  requireNotUs,
  whyOwnProject,
} from "../../../src/prepare/not_us.ts";

const NO_SIGNAL = new AbortController().signal;

type Labels = Readonly<Record<string, string>>;

/**
 * A host on which this process runs in a container with these labels, or in none, and has a namespace of
 * another one.
 */
function host(labels?: Labels, lender?: Labels) {
  const service = labels?.["com.docker.compose.service"] ?? "";
  const container = { id: "own", name: "ours", service, labels };
  const lenders = lender && [{ container: { id: "lender", name: "vpn", labels: lender } }];
  const own = labels && { container, lenders } as unknown as OwnContainer;
  return { own: () => Promise.resolve(own) };
}

const project = host({
  "com.docker.compose.project": "stackwright",
  "com.docker.compose.service": "app",
});
const task = host({
  "com.docker.stack.namespace": "stackwright",
  "com.docker.swarm.service.name": "stackwright_app",
});

const borrowing = host({}, { "com.docker.compose.project": "home" });

describe("requireNotOwnProject()", () => {
  const require = (where: ReturnType<typeof host>, name: string) =>
    requireNotOwnProject(where, { context: "default", name }, NO_SIGNAL);

  it("refuses the project, and the stack, that this process runs in", async () => {
    const refused = { code: "conflict", message: /Stackwright itself runs in \(container ours\)/ };
    await assert.rejects(require(project, "stackwright"), refused);
    await assert.rejects(require(task, "stackwright"), refused);
  });

  it("refuses the project of a container whose network this process has", async () => {
    await assert.rejects(require(borrowing, "home"), {
      code: "conflict",
      message: /home is the project that has the network .* itself uses \(container vpn\)/,
    });
    const key = { context: "default", name: "home" };
    assert.match(await whyOwnProject(borrowing, key, NO_SIGNAL) ?? "", /\(container vpn\)$/);
  });

  it("has nothing against others, or on a host", async () => {
    await require(project, "shop");
    await require(host({}), "shop");
    await require(borrowing, "shop");
    await require(host(), "stackwright");
  });
});

describe("requireNotStopped()", () => {
  const require = (where: ReturnType<typeof host>, service: string) =>
    requireNotStopped(where, [
      { project: "blog", service: "db" },
      { project: "stackwright", service },
    ], NO_SIGNAL);

  it("refuses a job that stops the service that this process is of", async () => {
    const refused = { code: "conflict", message: /Stackwright itself runs in \(container ours\)/ };
    await assert.rejects(require(project, "app"), refused);
    await assert.rejects(require(task, "app"), refused);
    const parts = [{ project: "a", service: "b_c" }];
    const named = host({
      "com.docker.stack.namespace": "a_b",
      "com.docker.swarm.service.name": "a_b_c",
    });
    await assert.rejects(requireNotStopped(named, parts, NO_SIGNAL), refused);
  });

  it("refuses one that stops what runs beside it, such as its way to the engine", async () => {
    const refused = { code: "conflict", message: /it stops stackwright\/proxy, which belongs to/ };
    await assert.rejects(require(project, "proxy"), refused);
    await assert.rejects(require(task, "proxy"), refused);
  });

  it("refuses one that stops the project of a container whose network this process has", async () => {
    const stops = [{ project: "blog", service: "db" }, { project: "home", service: "vpn" }];
    await assert.rejects(requireNotStopped(borrowing, stops, NO_SIGNAL), {
      code: "conflict",
      message: /it stops home\/vpn, which belongs to the project that has the network/,
    });
  });

  it("has nothing against jobs that stop others, or where this process runs in no container", async () => {
    const others = [{ project: "blog", service: "db" }, { project: "stackwrights", service: "db" }];
    await requireNotStopped(project, others, NO_SIGNAL);
    await requireNotStopped(task, others, NO_SIGNAL);
    await requireNotStopped(borrowing, others, NO_SIGNAL);
    await require(host(), "app");
  });
});

describe("requireNotUs()", () => {
  /** Containers with modes of sharing, by their names, of which `us` is this process's. */
  const require = async (container: string, modes: Record<string, Record<string, string>>) => {
    const details = (name: string) =>
      modes[name] && { container: { id: `id of ${name}`, name }, host: modes[name] } as unknown as
        | ContainerDetails
        | undefined;
    const where = {
      own: () => Promise.resolve(details("us")),
      engine: { inspectContainer: (name: string) => Promise.resolve(details(name)) },
    };
    await requireNotUs(where, { stack: "blog", what: "services.spy.pid", container }, NO_SIGNAL);
  };
  const refused = { code: "path_escapes", message: /spy.pid: the container \w+ shares namespaces/ };

  it("refuses our container", async () => {
    const message = /the container us is Stackwright itself, whose/;
    await assert.rejects(require("us", { us: {} }), { code: "path_escapes", message });
  });

  it("refuses one that shares a namespace of ours, over any number of others", async () => {
    const joined = { NetworkMode: "container:us" };
    const shell = { PidMode: "container:log", NetworkMode: "bridge" };
    const log = { PidMode: "container:us" };
    await assert.rejects(require("vpn", { us: {}, vpn: joined }), refused);
    await assert.rejects(require("shell", { us: {}, shell, log }), refused);
  });

  it("refuses the one whose network we joined, and what else joined that", async () => {
    const joined = { NetworkMode: "container:vpn" };
    await assert.rejects(require("vpn", { us: joined, vpn: {} }), refused);
    await assert.rejects(require("web", { us: joined, web: joined, vpn: {} }), refused);
  });

  it("has nothing against others, and ends where they are gone or go round", async () => {
    await require("web", { us: { NetworkMode: "host" }, web: { NetworkMode: "host" } });
    await require("web", {
      us: { PidMode: "container:gone" },
      web: { NetworkMode: "container:away" },
    });
    await require("a", { us: {}, a: { IpcMode: "container:b" }, b: { IpcMode: "container:a" } });
    await require("nobody", { us: {} });
  });
});
