import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { startByHand } from "./by_hand.ts";
import { composeFile, configFile, service } from "./compose_text.ts";
import { commit, ids, inWorld, pollTo, replaced } from "./steps.ts";
import type { World } from "./world.ts";

const SHOP = "https://git.test:3000/acme/shop.git";

/** What doco-cd noted of a stack that it fetched from the world's repository. */
function deployedByPeer({ repository }: { readonly repository: { readonly url: string } }): string {
  const labels = { "cd.doco.source.url": repository.url };
  const volumes = { store: { labels } };
  return composeFile({ web: service({ labels, volumes: ["store:/store"] }) }, { volumes });
}

/** Starts the service again with rules for URLs. */
const rewriting = (world: World, rules: (url: string) => Record<string, string>) =>
  world.restart({ SOURCE_URL_REWRITES: JSON.stringify(rules(world.repository.url)) });

const files = {
  "compose.yaml": composeFile({ web: service({ volumes: ["store:/store"] }) }, {
    volumes: { store: {} },
  }),
};

describe("a stack that doco-cd deployed from a rewritten URL", () => {
  it("is taken over by the repository whose URL is rewritten to that", () =>
    inWorld("fake", async (world) => {
      await startByHand(world, deployedByPeer(world));
      await commit(world, files);
      const before = await ids(world);
      await rewriting(world, (url) => ({ [SHOP]: url }));
      await pollTo(world, "succeeded", { url: SHOP });
      assert.deepEqual(replaced(before, await ids(world)), ["web-1"]);
      await pollTo(world, "skipped", { url: SHOP });
    }));

  it("is another's where the rule leads to another repository than doco-cd's", () =>
    inWorld("fake", async (world) => {
      const theirs = `${world.repository.url}/../their.git`;
      await startByHand(world, deployedByPeer({ repository: { url: theirs } }));
      await commit(world, files);
      const before = await ids(world);
      await rewriting(world, (url) => ({ [SHOP]: url }));
      const failed = JSON.stringify(await pollTo(world, "failed", { url: SHOP }));
      assert.match(failed, /already runs from file:.*their.git by doco-cd/);
      assert.deepEqual(await ids(world), before);
    }));

  it("is destroyed with its volumes by that repository", () =>
    inWorld("fake", async (world) => {
      await startByHand(world, deployedByPeer(world));
      await world.repository.commit({
        ...files,
        ".stackwright.yaml": configFile({ name: world.stack, destroy: { enabled: true } }),
      });
      await rewriting(
        world,
        (url) => ({ "https://git.test:3000/acme": url.replace(/\/remote\.git$/, "") }),
      );
      const entry = { url: "https://git.test:3000/acme/remote.git" };
      const [target] = (await pollTo(world, "succeeded", entry)).deployments ?? [];
      assert.equal(target?.message, `destroyed; deleted volume ${world.stack}_store`);
    }));
});
