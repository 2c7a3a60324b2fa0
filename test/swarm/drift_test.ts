import assert from "node:assert/strict";
import process from "node:process";
import { describe, it } from "node:test";
import { serviceBody } from "../../src/deploy/swarm/service_body.ts";
import { serviceDrift } from "../../src/deploy/swarm/service_drift.ts";
import { createEngine } from "../../src/docker/mod.ts";
import { formatDrift, messageOf } from "../../src/model/mod.ts";
import { BUSYBOX_IMAGE } from "../fakes/busybox_image.ts";
import { findSwarm } from "../fakes/real_swarm.ts";
import { CONTAINER, SERVICE, TASK } from "../unit/deploy/swarm/service_cases.ts";

const swarm = await findSwarm();
const never = new AbortController().signal;
const LOOKS = process.env["STACKS"] === "sample" ? 2 : 6;

describe("drift on the real swarm", { skip: swarm.unavailable ?? false }, () => {
  it("is found in nothing that was asked for and looked at, whatever key of a service says it", async () => {
    const engine = createEngine({ host: swarm.unavailable === undefined ? swarm.host : "" });
    const label = { "drift.test": crypto.randomUUID().slice(0, 8) };
    const networks = ["front", "back"].map((key) => `${label["drift.test"]}-${key}`);
    const found: string[] = [];
    const refused: string[] = [];
    try {
      for (const Name of networks) {
        await engine.makeNetwork({ Name, Driver: "overlay", Labels: label }, never);
      }
      const names = new Map(
        (await engine.swarm.networks(never)).map((each) => [each.id, each.name]),
      );
      const objects = new Map<string, string>();
      for (const [kind, key] of [["configs", "db"], ["secrets", "key"]] as const) {
        const Name = `${label["drift.test"]}_${key}_12345678`;
        const wish = { Name, Labels: label, Data: btoa("x") };
        objects.set(key, await engine.swarm.createObject(kind, wish, never));
      }
      const [api, front, back] = [await engine.apiVersion(never), ...networks];
      for (const [index, [key, written]] of [...CONTAINER, ...TASK, ...SERVICE].entries()) {
        const parts = {
          stack: `${label["drift.test"]}-${index}`,
          model: {
            services: { web: { [key]: written, image: BUSYBOX_IMAGE } },
            networks: { front: { name: front }, back: { name: back } },
          } as never,
          api,
          replicas: { web: 0 },
          images: {},
          content: {},
          object: (_kind: string, name: string) => ({
            id: objects.get(name) ?? "",
            name: `${label["drift.test"]}_${name}_12345678`,
          }),
        };
        const made = serviceBody("web", parts);
        const body = { ...made, Labels: { ...made.Labels, ...label } };
        try {
          await engine.swarm.createService({ body, auth: "" }, never);
        } catch (error) {
          refused.push(`${key}: ${messageOf(error)}`);
          continue;
        }
        for (let look = 0; look < LOOKS; look++) {
          const [now] = (await engine.swarm.services(label, never))
            .filter(({ name }) => name === body.Name);
          assert.ok(now);
          found.push(...serviceDrift("web", body, now.spec, names).map(formatDrift));
          // What is posted again as it is stays what it is; a job would run again, and the manager itself
          // may have changed what was seen.
          if (look % 5 !== 0 || now.mode.kind.endsWith("-job")) continue;
          await engine.swarm.updateService(now, { body: now.spec, auth: "" }, never)
            .catch((error) => assert.match(messageOf(error), /update out of sequence/));
        }
      }
      assert.deepEqual([...new Set(found)], []);
      // Engines differ in what they take; what they refuse nobody asks of a stack.
      assert.ok(refused.length < 5, refused.join("\n"));
    } finally {
      for (const { id } of await engine.swarm.services(label, never)) {
        await engine.swarm.removeService(id, never);
      }
      engine.close();
    }
  });
});
