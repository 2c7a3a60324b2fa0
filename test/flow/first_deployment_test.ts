import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createWorld, engines, IMAGE, type World } from "./world.ts";

const TWO_SERVICES = `
services:
  web:
    image: ${IMAGE}
    command: [httpd, -f, -p, "80", -h, /www]
    stop_grace_period: 0s
    volumes: ["./site:/www:ro"]
    healthcheck: {test: ["CMD", "true"], interval: 1s}
  worker:
    image: ${IMAGE}
    command: [sleep, "100000"]
    stop_grace_period: 0s
`;

/** Commits a deployment of two services. */
async function commitTwoServices(world: World): Promise<void> {
  await world.repository.commit({
    ".stackwright.yaml": `name: ${world.stack}\n`,
    "compose.yaml": TWO_SERVICES,
    "site/index.html": "one",
  });
}

for (const engine of await engines()) {
  describe(`deploying a repository on the ${engine} engine`, () => {
    it("starts every service, then does nothing at all until something changes", async () => {
      const world = await createWorld({ engine });
      try {
        await commitTwoServices(world);
        const first = await world.poll();
        assert.equal(first.status, 200, JSON.stringify(first.body));
        assert.equal(first.run.status, "succeeded");
        const before = await world.containers();
        assert.deepEqual(before.map((each) => each.service), ["web", "worker"]);

        world.proxy.reset();
        for (let count = 0; count < 100; count++) {
          const again = await world.poll();
          assert.equal(again.run.status, "skipped", JSON.stringify(again.run));
        }
        assert.equal(world.proxy.mutations(), 0);
        const after = await world.containers();
        assert.deepEqual(after.map((each) => each.id), before.map((each) => each.id));
      } finally {
        await world.close();
      }
    });

    it("replaces exactly the service whose mounted file a commit changed, and says why", async () => {
      const world = await createWorld({ engine });
      try {
        await commitTwoServices(world);
        await world.poll();
        const [web, worker] = await world.containers();
        await world.repository.commit({ "site/index.html": "two" });
        const { run } = await world.poll();
        assert.equal(run.status, "succeeded", JSON.stringify(run));
        const [webAfter, workerAfter] = await world.containers();
        assert.notEqual(webAfter?.id, web?.id);
        assert.equal(workerAfter?.id, worker?.id);
        const services = run.deployments?.[0]?.services ?? [];
        assert.deepEqual(services.map((each) => [each.name, each.action]), [
          ["web", "recreate"],
          ["worker", "keep"],
        ]);
        assert.match(services[0]?.because[0] ?? "", /^mounted site changed$/);
      } finally {
        await world.close();
      }
    });
  });
}
