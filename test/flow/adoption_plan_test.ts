import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { startByHand } from "./by_hand.ts";
import { commandTo } from "./commands.ts";
import { composeFile, service } from "./compose_text.ts";
import { commit, inWorld, pollTo, reasons } from "./steps.ts";
import { engines } from "./world.ts";

for (const engine of await engines()) {
  describe(`the plan of an adoption on the ${engine} engine`, () => {
    it("names mounts whose source becomes another, and differs from what runs, without values", () =>
      inWorld(engine, async (world) => {
        const store = `${world.dataDir}-store`;
        await startByHand(
          world,
          composeFile({
            gone: service(),
            s: service({
              volumes: ["data:/data", "left:/left", "same:/same", `${store}/a:/host`],
              environment: { SAME: "a$$b", V: "hunter2", ONLY_OLD: "hunter3" },
              command: ["sleep", "100000"],
            }),
          }, { volumes: { data: {}, left: {}, same: {} } }),
        );
        await commit(world, {
          "compose.yaml": composeFile({
            s: service({
              volumes: ["data2:/data", "same:/same", `${store}/b:/host`],
              environment: { SAME: "a$$b", V: "two" },
              command: ["sleep", "200000"],
            }),
          }, { volumes: { data2: {}, same: {} } }),
        });
        const { out } = await commandTo(world, 2, ["plan", world.repository.url]);
        const { stack } = world;
        const told = [
          `/data: volume ${stack}_data becomes ${stack}_data2; what the first holds stays there`,
          `/host: ${store}/a becomes ${store}/b; what the first holds stays there`,
          `/left: volume ${stack}_left is not mounted any more; what it holds stays there`,
        ];
        for (const each of told) assert.ok(out.includes(each), out);
        assert.match(out, /: deploy: recreate s; s with other data\n/);
        assert.doesNotMatch(out, /\/same:|hunter/);
        const diff = out.slice(out.indexOf("--- deployed"));
        const lines = diff.split("\n").filter((line) => /^[-+] /.test(line)).map((line) =>
          line.replace(/^(.) +/, "$1 ")
        );
        const has = (line: string) => assert.ok(lines.some((each) => each.startsWith(line)), diff);
        has('- - "*** (');
        has('+ - "200000"');
        has('- V: "*** (');
        has("+ V: two");
        has('- ONLY_OLD: "*** (');
        has(`- - ${stack}_data:/data`);
        has("+ - data2:/data");
        has(`- - ${store}/a:/host`);
        has(`- - ${stack}_left:/left`);
        assert.doesNotMatch(lines.join("\n"), /SAME|PATH|image:|same|sleep/);
        const run = await pollTo(world, "succeeded");
        assert.match(reasons(run, "s"), /\/data: volume .*_data becomes .*_data2;/);
        const after = await commandTo(world, 0, ["plan", world.repository.url]);
        assert.doesNotMatch(after.out, /stays there/);
      }));

    it("has no diff for what runs as the release wants it", () =>
      inWorld(engine, async (world) => {
        const text = composeFile({
          s: service({
            volumes: ["data:/data", { type: "tmpfs", target: "/t" }],
            environment: { A: "1" },
            ports: ["127.0.0.1:0:80"],
          }),
        }, { volumes: { data: {} } });
        await startByHand(world, text);
        await commit(world, { "compose.yaml": text });
        const { out } = await commandTo(world, 2, ["plan", world.repository.url]);
        assert.doesNotMatch(out, /^[-+]/m, out);
      }));
  });
}
