import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { DatabaseSync } from "node:sqlite";
import { describe, it } from "node:test";
import { EXIT } from "../../../src/cli/io.ts";
import { stackKey } from "../../../src/model/mod.ts";
import { Ledger, loadInstanceKey } from "../../../src/record/mod.ts";
import { sourceKey } from "../../../src/source/mod.ts";
import { createIds, systemFiles } from "../../../src/system/mod.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { startHostileEngine } from "../../fakes/hostile_engine.ts";
import { releaseOf } from "../record/releases.ts";
import { run, withFiles } from "./command_line.ts";

const POLLS = `- {url: "https://me:canary-4711@git.test/me/shop.git", reference: main, interval: 60}
- {url: "https://git.test/me/blog.git", schedule: "0 4 * * *", target: nas}`;

describe("stackwright doctor", () => {
  it("says what there is and what is missing, without a secret", async () => {
    await withFiles({}, async (directory) => {
      const env = {
        DATA_DIR: directory,
        DOCKER_HOST: `unix://${directory}/engine.sock`,
        HTTP_HOST: "127.0.0.1",
        POLL_CONFIG: POLLS,
        PATH: process.env["PATH"] ?? "",
      };
      const { code, out } = await run(["doctor", "--quick", "--json"], { env });
      assert.equal(code, EXIT.failed, out);
      const findings = JSON.parse(out) as { about: string; ok: boolean; says: string }[];
      const of = (about: string) => findings.filter((each) => each.about === about);
      assert.equal(of("engine")[0]?.ok, false);
      assert.match(of("engine")[0]?.says ?? "", /engine\.sock/);
      assert.match(of("git")[0]?.says ?? "", /^\d+\.\d+/);
      assert.deepEqual(of("source").map(({ says }) => says), [
        "git.test/me/shop@main, every 60 s; not asked",
        "git.test/me/blog@refs/heads/main, target nas, 0 4 * * *; not asked",
      ]);
      assert.deepEqual(of("source").map(({ ok }) => ok), [null, null]);
      assert.deepEqual(of("address").map(({ says }) => says), [
        "http://127.0.0.1:8080, metrics http://127.0.0.1:9120",
      ]);
      assert.doesNotMatch(out, /canary/);
      const text = await run(["doctor"], { env });
      assert.match(text.out, /^!! +engine .*\n/m);
      assert.match(text.out, /^ok +git +\d/m);
      assert.match(text.out, /^-- +source +git.test.me.shop@main/m);
      const alone = await run(["doctor"], { env: { ...env, POLL_CONFIG: "", API_SECRET: "x" } });
      assert.match(alone.out, /^ok +source +by requests to the API$/m);
    });
  });

  it("says which of several entries of one reference has what they name alike", async () => {
    await withFiles({}, async (directory) => {
      const entry = 'url: "https://git.test/me/shop.git", interval: 60';
      const own = `- {${entry}, deployments: [{name: web, working_dir: b}]}`;
      const POLL_CONFIG = [own, `- {${entry}}`, `- {${entry}}`].join("\n");
      const env = { DATA_DIR: join(directory, "data"), POLL_CONFIG, PATH: "" };
      const { out } = await run(["doctor", "--quick"], { env });
      const said = [...out.matchAll(/source +git.test.*/g)].map(([line]) =>
        line.includes("but no stack that an earlier entry of this reference names")
      );
      assert.deepEqual(said, [false, true, true], out);
    });
  });

  it("says of a watched repository without an interval when it is polled", async () => {
    await withFiles({ "shop/HEAD": "" }, async (directory) => {
      const polls = ["", ", watch: false"].map((more) =>
        `- {url: "${directory}/shop", reference: main, interval: 0${more}}`
      );
      const says = await Promise.all(polls.map(async (POLL_CONFIG) => {
        const env = { DATA_DIR: join(directory, "data"), POLL_CONFIG, PATH: "" };
        return (await run(["doctor", "--quick"], { env })).out;
      }));
      assert.match(says[0] ?? "", /shop@main, when it changes/);
      assert.match(says[1] ?? "", /shop@main, never/);
    });
  });

  it("hides credentials for registries, also where an engine says them at once", async () => {
    const auth = (password: string) => btoa(`me:${password}`);
    const config = JSON.stringify({ auths: { "r.test": { auth: auth("Kept-4711-xyzzy") } } });
    const engine = await startHostileEngine();
    engine.isHostileAtOnce = true;
    const body = `{"message":"no ${auth("Kept-4711-xyzzy")} Kept-4711-xyzzy Given-4712-xyzzy"}`;
    const head = `HTTP/1.1 500 Oh\r\nContent-Length: ${body.length}\r\n\r\n`;
    engine.answer = { pieces: [head + body], ends: true };
    await withFiles({ "docker/config.json": config }, async (directory) => {
      const env = {
        DATA_DIR: directory,
        DOCKER_AUTH_CONFIG: JSON.stringify({
          auths: { "s.test": { auth: auth("Given-4712-xyzzy") } },
        }),
        DOCKER_CONFIG: join(directory, "docker"),
        DOCKER_HOST: `unix://${engine.socketPath}`,
        PATH: process.env["PATH"] ?? "",
      };
      const { out } = await run(["doctor"], { env });
      assert.match(out, /no \*\*\* \*\*\* \*\*\*/);
    });
    await engine.close();
  });

  it("finds a data directory that cannot be, leaves none behind, and tells of slips", async () => {
    await withFiles({ file: "" }, async (directory) => {
      const data = async (path: string) => {
        const env = { DATA_DIR: join(directory, path), HTTP_PROT: "80" };
        const { err, out } = await run(["doctor"], { env });
        assert.match(err, /^warning: HTTP_PROT .*did you mean HTTP_PORT\?$/m);
        return out.split("\n").find((line) => / data /.test(line)) ?? out;
      };
      assert.match(await data("file/x"), /^!! +data .*file\/x cannot be written/);
      assert.match(await data("a/b"), /^ok +data .*\/a\/b, which is made at the first start$/);
      assert.match(await data("."), /^ok +data +\S+$/);
      assert.deepEqual(await readdir(directory), ["file"]);
    });
  });

  it("misses a context that has stacks, as the ledger says, and leaves nothing behind", async () => {
    await withFiles({}, async (directory) => {
      const clock = createFakeClock();
      const key = await loadInstanceKey(systemFiles, directory);
      const parts = { key, clock, ids: createIds(clock), redact: String };
      const ledger = new Ledger(join(directory, "state.db"), parts);
      for (let number = 1; number <= 7; number++) {
        const stack = stackKey("nas", `shop-${number}`);
        ledger.succeed(ledger.beginDeploy(releaseOf(stack, "a".repeat(40))), {}, "done");
      }
      const env = {
        DATA_DIR: directory,
        DOCKER_CONFIG: join(directory, "docker"),
        DOCKER_HOST: `unix://${directory}/engine.sock`,
        PATH: process.env["PATH"] ?? "",
      };
      const look = async () => (await run(["doctor"], { env })).out;
      const line =
        /^!! +context nas +unknown context: nas; there are default; has shop-1, .*shop-5 and 2 more$/m;
      assert.match(await look(), line);
      ledger.close();
      const before = await readdir(directory);
      assert.match(await look(), line);
      assert.deepEqual(await readdir(directory), before);
    });
  });

  it("says why a source that it does not ask could not be read, as the ledger has it", async () => {
    await withFiles({}, async (directory) => {
      const clock = createFakeClock();
      const key = await loadInstanceKey(systemFiles, directory);
      const parts = { key, clock, ids: createIds(clock), redact: String };
      const ledger = new Ledger(join(directory, "state.db"), parts);
      const url = "https://git.test/me/shop.git";
      const request = { kind: "git", url, reference: "main", target: "", deployments: [] } as const;
      ledger.sources.fail(sourceKey(request) ?? "", {
        ...{ repository: "git.test/me/shop", reference: "main", target: "" },
        ...{ message: "no such host\nmore", at: clock.now(), retryAt: clock.now(), isPoll: true },
      });
      ledger.close();
      const env = {
        DATA_DIR: directory,
        POLL_CONFIG: `[{url: "${url}", reference: main}]`,
        PATH: process.env["PATH"] ?? "",
      };
      const { out } = await run(["doctor"], { env });
      const at = clock.now().toISOString().slice(0, 10);
      assert.match(
        out,
        new RegExp(
          `^!! +source +\\S+, .*: not asked now; could not be read at ${at}\\S+: no such host$`,
          "m",
        ),
      );
    });
  });

  it("names the stacks that a source was refused, as the ledger has it", async () => {
    await withFiles({}, async (directory) => {
      const clock = createFakeClock();
      const key = await loadInstanceKey(systemFiles, directory);
      const parts = { key, clock, ids: createIds(clock), redact: String };
      const ledger = new Ledger(join(directory, "state.db"), parts);
      const source = "git.test/me/shop";
      for (const reference of ["refs/heads/main", "refs/heads/old"]) {
        const of = reference.slice(-4).replace("/", "");
        ledger.owners.refuse(stackKey("", `shop-${of}`), { source, reference });
        ledger.owners.refuse(stackKey("nas", `shop-${of}`), { source, reference });
      }
      ledger.close();
      const env = {
        DATA_DIR: directory,
        POLL_CONFIG: `[{url: "https://${source}.git", reference: main}]`,
        PATH: process.env["PATH"] ?? "",
      };
      const { out } = await run(["doctor"], { env });
      assert.match(
        out,
        /^-- +source +\S+, every \d+ s, and was refused shop-main: stackwright explain shop-main says more; not asked$/m,
      );
    });
  });

  it("finds a ledger of a newer version, with which the service does not start", async () => {
    await withFiles({}, async (directory) => {
      const path = join(directory, "state.db");
      const database = new DatabaseSync(path);
      database.exec("CREATE TABLE stacks (context, name); PRAGMA user_version = 9999;");
      database.close();
      const { out } = await run(["doctor"], { env: { DATA_DIR: directory } });
      assert.match(
        out,
        /^!! +data +a newer Stackwright has used the ledger .*state\.db: it has schema 9999/m,
      );
    });
  });

  it("misses a repository of this machine that is not there, or is none", async () => {
    const there = {
      ...{ "bare/HEAD": "", "bare/refs/heads/main": "", "work/.git/HEAD": "", "empty/x": "" },
      "work/.git/packed-refs": "# pack-refs\n0123 refs/heads/main\n",
      ...{ "none/HEAD": "", "other/HEAD": "", "other/reftable/x": "" },
    };
    await withFiles(there, async (directory) => {
      const urls = ["bare", "work", "empty", "gone", "none", "other"].map((each) =>
        join(directory, each)
      );
      const env = {
        DATA_DIR: directory,
        DOCKER_HOST: `unix://${directory}/engine.sock`,
        POLL_CONFIG: JSON.stringify(urls.map((url) => ({ url }))),
        PATH: process.env["PATH"] ?? "",
      };
      const { out } = await run(["doctor", "--json"], { env });
      const found = (JSON.parse(out) as { about: string; ok: boolean; says: string }[])
        .filter(({ about }) => about === "source");
      assert.deepEqual(found.map(({ ok }) => ok), [true, true, false, false, false, true]);
      assert.ok(found[2]?.says.endsWith(`: ${urls[2]} is no repository`), found[2]?.says);
      assert.ok(found[3]?.says.endsWith(`: there is no ${urls[3]}`), found[3]?.says);
      assert.ok(found[4]?.says.endsWith(`: ${urls[4]} has no refs/heads/main`), found[4]?.says);
    });
  });

  it("looks at the place on this machine that a rewrite leads to", async () => {
    await withFiles({ "git/bare/HEAD": "", "git/bare/refs/heads/main": "" }, async (directory) => {
      const place = join(directory, "git");
      for (const to of [place, `file://${place}`]) {
        const env = {
          DATA_DIR: join(directory, "data"),
          POLL_CONFIG: JSON.stringify(["bare", "gone"].map((each) => (
            { url: `https://git.test/me/${each}`, reference: "main", interval: 0 }
          ))),
          SOURCE_URL_REWRITES: JSON.stringify({ "git.test/me": to }),
          PATH: "",
        };
        const { out } = await run(["doctor", "--json"], { env });
        const found = (JSON.parse(out) as { about: string; ok: boolean; says: string }[])
          .filter(({ about }) => about === "source");
        assert.deepEqual(found.map(({ ok, says }) => [ok, says]), [
          [true, "git.test/me/bare@main, never"],
          [false, `git.test/me/gone@main, never: there is no ${place}/gone`],
        ]);
      }
    });
  });

  it("finds an address of the engine that cannot be, beside all else", async () => {
    const { code, out } = await run(["doctor"], {
      env: { DATA_DIR: "/nonexistent", DOCKER_HOST: "foo://engine" },
    });
    assert.equal(code, EXIT.failed);
    assert.match(out, /^!! +engine .*foo:\/\/ is not supported/m);
    assert.match(out, /^!! +source /m);
  });

  it("misses a way to be told what to deploy", async () => {
    const { out } = await run(["doctor", "--json"], {
      env: { DATA_DIR: "/nonexistent", DOCKER_HOST: "unix:///nonexistent/engine.sock" },
    });
    assert.match(out, /none: set POLL_CONFIG/);
  });
});
