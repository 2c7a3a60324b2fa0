import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { clashes, externalObject, inOrder, sideImages } from "../../src/compose/mod.ts";
import { keptDependents } from "../../src/deploy/kept_services.ts";
import { requireNoStrangers } from "../../src/deploy/new_networks.ts";
import {
  type HostPort,
  type ObservedContainer,
  type ReleaseService,
  type ServicePlan,
  withFollowers,
} from "../../src/model/mod.ts";
import { runningContainer } from "../fakes/memory_engine.ts";
import { releaseOf, serviceOf } from "./deploy/releases.ts";

const MANY = 400;
const at = Array.from({ length: MANY }, (_, index) => index);
const names = at.map((index) => `s${index}`);
const containers = names.map((name) => runningContainer("shop", name));

/** A value of each of many, and how often one was looked at. */
function counted<T>(values: readonly T[]) {
  let looks = 0;
  const look = (index: number) => {
    looks++;
    return values[index] as T;
  };
  return { look, looks: () => looks };
}

/** Each depends on the next one and shares something with it, so that the last is found last. */
function chain() {
  const next = (index: number) => index + 1 < MANY ? [`s${index + 1}`] : [];
  const follows = counted(
    at.map((index) =>
      Object.fromEntries(next(index).map((name) => [name, `shares the ipc namespace of ${name}`]))
    ),
  );
  const dependsOn = counted(at.map(next));
  const services = at.map((index): ReleaseService => ({
    ...serviceOf(`s${index}`),
    get follows() {
      return follows.look(index);
    },
    get dependsOn() {
      return dependsOn.look(index);
    },
  }));
  return { services, looks: () => follows.looks() + dependsOn.looks() };
}

describe("hundreds of services", () => {
  it("are not all looked at again for each that one follows", () => {
    const { services, looks } = chain();
    const plans = names.map((name, index): ServicePlan => ({
      name,
      action: index === MANY - 1 ? "recreate" : "keep",
      because: [],
    }));
    const planned = withFollowers(plans, services, { containers });
    assert.ok(planned.every(({ action }) => action === "recreate"));
    assert.equal(planned[0]?.because[0], "shares the ipc namespace of s1, and s1 is replaced");
    assert.ok(looks() <= 4 * MANY, String(looks()));
  });

  it("are not all looked at again for each that one depends on", () => {
    const { services, looks } = chain();
    const kept = keptDependents(new Set([`s${MANY - 1}`]), services, { containers });
    assert.equal(kept.size, MANY - 1);
    assert.equal(kept.get("s0"), "s1");
    assert.ok(looks() <= 4 * MANY, String(looks()));
  });

  it("are not all compared with all that hold ports", () => {
    const ports = (protocol: string): HostPort[] =>
      at.map((index) => ({ address: "", port: 1000 + index, protocol }));
    const hostPorts = counted(at.map((index) => ports(index === 7 ? "tcp" : "udp")));
    const others = at.map((index): ObservedContainer => ({
      ...runningContainer("other", `s${index}`),
      get hostPorts() {
        return hostPorts.look(index);
      },
    }));
    const services = Object.fromEntries(
      names.map((name, index) => [name, { ports: [{ published: String(1000 + index) }] }]),
    );
    const found = clashes({ services }, names, others);
    assert.equal(found.length, 20);
    assert.match(found[0] ?? "", /^service s0 needs port 1000\/tcp, which container .*s7/);
    assert.ok(hostPorts.looks() <= 3 * MANY, String(hostPorts.looks()));
  });

  it("are told of the first clashes, where each clashes with all containers there are", () => {
    const others = Array.from({ length: 50_000 }, (_, index): ObservedContainer => ({
      ...runningContainer("other", "web"),
      hostPorts: [{ address: `10.1.${index >> 8}.${index % 256}`, port: 80, protocol: "tcp" }],
    }));
    const services = Object.fromEntries(
      names.map((name) => [name, { ports: [{ published: "80" }] }]),
    );
    assert.equal(clashes({ services }, names, others).length, 20);
  });

  it("are not all looked through for each network that is made anew", () => {
    const networkIds = counted(at.map(() => names));
    const members = containers.map((each, index): ObservedContainer => ({
      ...each,
      get networkIds() {
        return networkIds.look(index);
      },
    }));
    const networks = names.map((id) => ({ key: id, name: id, id, changed: ["driver"] }));
    const services = names.map((name) => ({ name, action: "recreate" as const, because: [] }));
    requireNoStrangers(networks, members, { release: releaseOf("a", []), services });
    assert.ok(networkIds.looks() <= 3 * MANY, String(networkIds.looks()));
  });

  it("are looked through once for configs that somebody else makes", () => {
    const configs = Object.fromEntries(names.map((name) => [name, { external: true }]));
    const uses = counted(at.map(() => [{ source: `s${MANY - 1}` }]));
    const services = Object.fromEntries(at.map((index) => [`s${index}`, {
      get configs() {
        return uses.look(index);
      },
    }]));
    assert.equal(externalObject({ services, configs }), `configs.s${MANY - 1}`);
    assert.ok(uses.looks() <= 3 * MANY, String(uses.looks()));
  });

  it("keep the order of what comes first", () => {
    const hooks = (...images: string[]) => ({ pre_start: images.map((image) => ({ image })) });
    const model = { services: { a: hooks("y", "x", "y"), b: hooks("x", "z") } };
    const services = [{ name: "a", image: "" }, { name: "b", image: "" }];
    assert.deepEqual(sideImages(model, services).map(({ service, image }) => service + image), [
      "ay",
      "ax",
      "bz",
    ]);
    const before = (name: string) => name === "a" ? ["c", "gone"] : [];
    assert.deepEqual(inOrder(["b", "a", "c"], before), ["c", "a", "b"]);
  });
});
