import assert from "node:assert/strict";
import type { EngineClient } from "../../src/docker/mod.ts";
import { asList, asRecord, asTexts } from "../../src/docker/json.ts";
import type { EngineCall } from "../fakes/engine_calls.ts";
import type { EngineProxy } from "../fakes/engine_proxy.ts";
import type { ComposeCommand } from "../fakes/compose_command.ts";

/** One step of the scenario: what compose is asked, with which model. */
export interface Step {
  readonly title: string;
  readonly args: readonly string[];
  readonly model: string;
  /** Whether the step must leave the engine alone. */
  readonly changesNothing?: boolean;
}

/** What an engine looks like after a step, without what differs by nature (ids, times). */
export interface Observation {
  readonly containers: readonly unknown[];
  readonly networks: readonly unknown[];
  readonly volumes: readonly unknown[];
  /** Mutating calls with ids replaced, sorted: compose works on several containers at once. */
  readonly mutations: readonly string[];
}

const UP = ["up", "-d", "--no-deps", "--no-build", "--pull", "never"];
const NO_SIGNAL = new AbortController().signal;
const HEALTH_ATTEMPTS = 2400;
/** Labels whose values are ids. */
const VOLATILE = ["com.docker.compose.image", "com.docker.compose.replace"];

/** What is done to an engine, step by step. */
export function scenario(image: string): Step[] {
  const first = model(image, { web: "1", extra: true });
  const second = model(image, { web: "2", extra: false });
  return [
    { title: "up", args: [...UP, "db", "web", "side", "extra"], model: first },
    { title: "up again", args: [...UP, "db", "web"], model: first, changesNothing: true },
    { title: "changed service", args: [...UP, "web"], model: second },
    {
      title: "scale up",
      args: [...UP, "--no-recreate", "--scale", "web=3", "web"],
      model: second,
    },
    { title: "force-recreate of one", args: [...UP, "--force-recreate", "db"], model: second },
    { title: "remove orphans", args: [...UP, "--remove-orphans", "db"], model: second },
    { title: "stop", args: ["stop", "side"], model: second },
    { title: "start", args: ["start", "side"], model: second },
    { title: "restart", args: ["restart", "side"], model: second },
    { title: "down", args: ["down", "-v"], model: second },
  ];
}

/** Runs all steps against one engine and returns what it looked like after each. */
export async function play(
  steps: readonly Step[],
  on: {
    readonly compose: ComposeCommand;
    readonly proxy: EngineProxy;
    readonly engine: EngineClient;
    readonly project: string;
  },
): Promise<Map<string, Observation>> {
  const seen = new Map<string, Observation>();
  for (const step of steps) {
    on.proxy.reset();
    const args = ["-p", on.project, "--project-directory", "/", "-f", "-", ...step.args];
    const result = await on.compose.run(on.proxy.host, args, step.model);
    assert.equal(result.code, 0, `${step.title}: ${result.output}`);
    const mutations = on.proxy.calls.filter((call) => call.mutating).map(withoutIds).sort();
    seen.set(step.title, { ...await observe(on.engine, on.project), mutations });
  }
  return seen;
}

async function observe(engine: EngineClient, project: string) {
  const labels = { "com.docker.compose.project": project };
  await settle(engine, labels);
  const containers = await engine.listContainers(labels, NO_SIGNAL);
  const networks = await engine.listNetworks(labels, NO_SIGNAL);
  const volumes = await engine.listVolumes(labels, NO_SIGNAL);
  const joined = await networksOf(engine, project);
  return {
    containers: containers.map(({ id, name, service, state, health, labels }) => ({
      name,
      service,
      state,
      health,
      labels: stable(labels),
      networks: joined.get(id),
    })).sort(byName),
    networks: networks.map(({ name, labels }) => ({ name, labels: stable(labels) })).sort(byName),
    volumes: volumes.map(({ name, labels }) => ({ name, labels: stable(labels) })).sort(byName),
  };
}

/**
 * A real health check needs its time; a fake one does not. And a real engine's list can be a moment
 * behind what it says of one container: a stop returns before the list knows of it.
 */
async function settle(engine: EngineClient, labels: Record<string, string>): Promise<void> {
  for (let attempt = 0; attempt < HEALTH_ATTEMPTS; attempt++) {
    const list = await engine.listContainers(labels, NO_SIGNAL);
    const states = await Promise.all(list.map(({ id }) => stateOf(engine, id)));
    const isTold = list.every(({ state }, at) => state === states[at]);
    if (isTold && list.every((each) => each.health !== "starting")) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.fail(
    "a container never left the state health: starting, or its list never knew its state",
  );
}

async function stateOf(engine: EngineClient, id: string): Promise<string | undefined> {
  const found = await engine.api.json({ method: "GET", path: `/containers/${id}/json` }, NO_SIGNAL);
  return asTexts(asRecord(found)["State"])["Status"];
}

async function networksOf(engine: EngineClient, project: string): Promise<Map<string, string[]>> {
  const filters = { label: [`com.docker.compose.project=${project}`] };
  const query = { all: true, filters };
  const list = await engine.api.json({ method: "GET", path: "/containers/json", query }, NO_SIGNAL);
  return new Map(
    asList(list).map(asRecord).map((entry) => [
      asTexts(entry)["Id"] ?? "",
      Object.keys(asRecord(asRecord(entry["NetworkSettings"])["Networks"])).sort(),
    ]),
  );
}

function stable(labels: Readonly<Record<string, string>>): Record<string, string> {
  const kept = Object.entries(labels).filter(([name]) => !VOLATILE.includes(name));
  return Object.fromEntries(kept.sort());
}

function withoutIds(call: EngineCall): string {
  const path = call.path.replace(/[0-9a-f]{64}/g, "ID").replace(/[0-9a-f]{12}_/g, "ID_");
  return `${call.method} ${path}`;
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : 1;
}

function model(image: string, options: { readonly web: string; readonly extra: boolean }): string {
  const service = { image, command: ["sleep", "100000"], init: true };
  return JSON.stringify({
    services: {
      db: {
        ...service,
        volumes: ["data:/data"],
        healthcheck: { test: ["CMD", "true"], interval: "100ms" },
        networks: { default: null, back: { aliases: ["store"] } },
      },
      web: {
        ...service,
        depends_on: { db: { condition: "service_healthy" } },
        labels: { "stackwright.digest": options.web },
        environment: { PRICE: "5$$" },
      },
      side: { ...service, network_mode: "none", restart: "always" },
      ...(options.extra ? { extra: service } : {}),
    },
    volumes: { data: { labels: { "stackwright.manager": "stackwright" } } },
    networks: { back: { internal: true } },
  });
}
