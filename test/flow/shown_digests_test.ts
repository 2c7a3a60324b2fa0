import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { commandTo } from "./commands.ts";
import { composeFile, configFile, service } from "./compose_text.ts";
import { inWorld, pollTo } from "./steps.ts";
import type { World } from "./world.ts";

/** The same definition for every stack: a hidden value, and one in a file that is mounted. */
const app = (password: string) =>
  composeFile({
    same: service({ environment: { DB_PASSWORD: password }, network_mode: "none" }),
    web: service({
      environment: { DB_PASSWORD: password },
      secrets: ["pin"],
      volumes: ["./a:/a:ro"],
    }),
  }, { secrets: { pin: { environment: "PIN" } } });

async function commitBoth(world: World, value: string): Promise<void> {
  const names = ["one", "two"];
  await world.repository.commit({
    ".stackwright.yaml": configFile(
      ...names.map((each) => ({
        name: `${world.stack}-${each}`,
        working_dir: each,
        environment: { PIN: value },
      })),
    ),
    ...Object.fromEntries(
      names.flatMap((each) => [[`${each}/compose.yaml`, app(value)], [`${each}/a`, value]]),
    ),
  });
}

/** Everything in a text that may be a digest; commits and images have the same ids for all. */
function digestsIn(text: string, known: readonly string[]): Set<string> {
  const all =
    text.replaceAll(/"job_id":"[^"]*"/g, "").match(/\b(?=\w*[a-f])(?=\w*\d)[0-9a-f]{8,64}\b/g) ??
      [];
  return new Set(all.filter((each) => !known.some((id) => id.includes(each))));
}

/** What readers of a stack are shown, by where. */
async function shownOf(world: World, name: string): Promise<Record<string, string>> {
  const api = async (path: string) => await (await world.request(`/v1/api/${path}`)).text();
  const out = async (code: number, ...args: string[]) => (await commandTo(world, code, args)).out;
  return {
    diff: await out(2, "diff", name, "1", "2"),
    "diff of the API": await api(`deployment/${name}/diff?from=1&to=2`),
    deployment: await api(`deployment/${name}`),
    decisions: await api(`deployment/${name}/decisions`),
    project: await api(`project/${name}`),
    explain: await out(0, "explain", name),
    "explain --json": await out(0, "explain", "--json", name),
  };
}

describe("digests", () => {
  it("of equal values in two stacks are shown as different ones, and none as it is recorded", () =>
    inWorld("fake", async (world) => {
      const [one, two] = [`${world.stack}-one`, `${world.stack}-two`];
      const planned: Record<string, string>[] = [];
      for (const value of ["sunshine77", "winter0"]) {
        await commitBoth(world, value);
        const { out } = await commandTo(world, 2, ["plan", "--json", world.repository.url]);
        const { stacks } = JSON.parse(out) as { stacks: { name: string }[] };
        planned.push(Object.fromEntries(stacks.map((each) => [each.name, JSON.stringify(each)])));
        await pollTo(world, "succeeded");
      }
      const [first, second] = [await shownOf(world, one), await shownOf(world, two)];
      const containers = [...await world.containers(one), ...await world.containers(two)];
      const commits = (await world.repository.git("rev-list", "--all")).split("\n");
      const known = [...commits, ...containers.map(({ imageId }) => imageId)];
      const recorded = containers.map(({ labels }) => labels["stackwright.digest"] ?? "");
      assert.equal(new Set(recorded).size, 3, "two stacks have a service with one digest");
      const views = Object.keys(first).map((where) =>
        [where, first[where] ?? "", second[where] ?? ""] as const
      );
      const plans = planned.map((each, at) =>
        [`plan ${at}`, each[one] ?? "", each[two] ?? ""] as const
      );
      for (const [where, a, b] of [...views, ...plans]) {
        const [ours, theirs] = [digestsIn(a, known), digestsIn(b, known)];
        assert.ok(ours.size > 0 && theirs.size > 0, `${where}: ${a}`);
        assert.deepEqual([...ours].filter((each) => theirs.has(each)), [], `${where}: ${a}${b}`);
        for (const each of recorded) assert.ok(!(a + b).includes(each.slice(0, 8)), where);
      }
      // A hidden value that changed still shows.
      const masks = (first["diff"] ?? "").match(/^[-+] +DB_PASSWORD: "\*\*\* \(\w{8}\)"$/gm);
      assert.equal(new Set(masks?.map((each) => each.slice(1))).size, 2, first["diff"]);
    }));
});
