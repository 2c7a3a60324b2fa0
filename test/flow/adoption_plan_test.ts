import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { startByHand } from "./by_hand.ts";
import { commandTo } from "./commands.ts";
import { composeFile, service } from "./compose_text.ts";
import { commit, docker, inWorld, pollTo, reasons, states } from "./steps.ts";
import { freePort } from "../fakes/free_port.ts";
import { engines } from "./world.ts";

for (const engine of await engines()) {
  describe(`the plan of an adoption on the ${engine} engine`, () => {
    it("says what somebody stopped and is started, and so does the run", () =>
      inWorld(engine, async (world) => {
        const text = composeFile({ app: service({ restart: "unless-stopped" }), up: service() });
        await startByHand(world, text);
        const app = `${world.stack}-app-1`;
        await docker(world, "stop", app);
        await commit(world, { "compose.yaml": text });
        const { out } = await commandTo(world, 2, ["plan", world.repository.url]);
        const message = `: deploy: recreate app, up; start ${app}, which did not run`;
        assert.ok(out.includes(message), out);
        assert.match(out, /app-1 does not run \(exited with \d+\), and the new one is started/);
        const { deployments: [ended] = [] } = await pollTo(world, "succeeded");
        assert.ok(ended?.message?.includes(`start ${app}, which did not run`), ended?.message);
        assert.ok(world.lines.some(({ message }) => message.includes(`start ${app}, which`)));
        assert.deepEqual(await states(world), { "app-1": "running", "up-1": "running" });
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

    // The rest is about us. A plan reads alike what either engine has; what ran and what is stopped are
    // above.
    if (engine === "real") return;

    it("names mounts whose source becomes another, and differs from what runs, without values", () =>
      inWorld(engine, async (world) => {
        const store = `${world.dataDir}-store`;
        await startByHand(
          world,
          composeFile({
            gone: service(),
            s: service({
              volumes: [
                ...["data:/data", "left:/left", "same:/same", `${store}/a:/host`],
                ...[`${store}/dropped:/dropped`, `${store}/read:/read:ro`],
                "/var/run/docker.sock:/x.sock",
              ],
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
          `/dropped: ${store}/dropped is not mounted any more; what it holds stays there`,
          `/left: volume ${stack}_left is not mounted any more; what it holds stays there`,
        ];
        for (const each of told) assert.ok(out.includes(each), out);
        assert.match(
          out,
          /: deploy: recreate s; s \(\/data, \/host\) with other data\n/,
        );
        assert.doesNotMatch(out, /\/same:|\/read:.* any more|x\.sock:|hunter/);
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

    it("says which container of the stack itself has the port of a service, and what to do", () =>
      inWorld(engine, async (world) => {
        const ports = [`127.0.0.1:${await freePort()}:80`];
        await startByHand(world, composeFile({ app: service({ ports }) }));
        await commit(world, { "compose.yaml": composeFile({ web: service({ ports }) }) });
        const { err } = await commandTo(world, 1, ["plan", world.repository.url]);
        const app = `${world.stack}-app-1`;
        const told = new RegExp(
          `service web needs port \\d+/tcp, which container ${app} of project ${world.stack} holds; it ` +
            `is of this very stack, but Stackwright did not make it and leaves it alone: .* stop it for good ` +
            `\\(docker update --restart no ${app}; docker stop ${app}\\)`,
        );
        assert.match(err, told);
        const failed = JSON.stringify(await pollTo(world, "failed"));
        assert.match(failed, told);
        assert.deepEqual(await states(world), { "app-1": "running" });
        await docker(world, "stop", app);
        await pollTo(world, "succeeded");
        assert.deepEqual(await states(world), { "app-1": "exited", "web-1": "running" });
      }));

    it("warns each time of a job that stops a stack which another manager has from elsewhere", () =>
      inWorld(engine, async (world) => {
        const other = `${world.stack}-other`;
        const theirs = { "cd.doco.source.url": "https://git.example.com/acme/db.git" };
        await startByHand(world, composeFile({ db: service({ labels: theirs }) }), {
          project: other,
        });
        const labels = {
          "cd.doco.job.enabled": "true",
          "cd.doco.job.schedule": "@yearly",
          "cd.doco.job.stop_services": `${other}/db`,
        };
        await commit(world, { "compose.yaml": composeFile({ backup: service({ labels }) }) });
        const planned = async (code: number) => {
          const { err } = await commandTo(world, code, ["plan", world.repository.url]);
          const from = "which runs from https://git.example.com/acme/db.git: its runs are refused";
          assert.equal(err.split(from).length, 2, err);
        };
        await planned(2);
        await pollTo(world, "succeeded");
        await planned(0);
      }));
  });
}
