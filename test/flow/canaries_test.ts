import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { after, before, describe, it } from "node:test";
import { encryptDotenv, encryptYaml } from "../fakes/sops_encryptor.ts";
import { signed } from "../fakes/webhook_requests.ts";
import {
  type CanaryHouse,
  createCanaryHouse,
  filesBelow,
  modeOf,
  REGISTRY,
} from "./canary_house.ts";
import {
  PLAIN_IN_TREES,
  SHOP,
  shop,
  type ShopSecrets,
  shopSecrets,
  SOPS_FILES,
  stock,
} from "./canary_shop.ts";
import { composeFile, configFile, type Part, service } from "./compose_text.ts";
import type { RunBody } from "./world.ts";

describe("secret canaries", () => {
  let house: CanaryHouse;
  let secrets: ShopSecrets;

  before(async () => {
    house = await createCanaryHouse();
    secrets = shopSecrets(house.canaries);
    stock(house, secrets);
  });
  after(() => house.close());

  const commit = async (parts: Parameters<typeof shop>[2] = {}) =>
    await house.repository.commit(await shop(house, secrets, parts));
  const poll = (entry: Part = {}) => house.poll({ url: house.urls.token, ...entry });
  const silent = () => house.assertSilent(PLAIN_IN_TREES);
  const environment = () => house.engine.containers().flatMap((each) => each.env).join("\n");

  it("are planted: a deployment gives each of them to its container, and says none", async () => {
    await commit();
    const run = await poll();
    assert.equal(run.status, "succeeded", JSON.stringify(run));
    const given = environment();
    const {
      label: _label,
      option: _option,
      buildArgument: _buildArgument,
      secretFile: _secretFile,
      sopsSecretFile: _sopsSecretFile,
      sopsMounted: _sopsMounted,
      storeSecret: _storeSecret,
      storeJson: _storeJson,
      urlPassword: _urlPassword,
      ...inEnvironment
    } = secrets;
    for (const [name, value] of Object.entries(inEnvironment)) {
      assert.ok(given.includes(value), `${name} is not in ${given}`);
    }
    await silent();
  });

  it("stay silent when nothing changed, and when every secret changed", async () => {
    assert.equal((await poll()).status, "skipped");
    secrets = shopSecrets(house.canaries);
    stock(house, secrets);
    await commit();
    assert.equal((await poll()).status, "succeeded");
    assert.ok(environment().includes(secrets.store));
    await silent();
  });

  it("stay silent for every way to reach a repository, and every way to be refused", async () => {
    const { urls } = house;
    const good = [urls.domain, urls.password, urls.rewritten, urls.app, urls.ssh];
    for (const url of good.filter((each) => each !== undefined)) {
      // Another source than the one that owns the shop, so it gets as far as that.
      const run = await house.poll({ url });
      assert.match(messages(run), /already belongs to/, run.heard.text);
    }
    house.github.tokens.forEach((token) => house.canaries.plant("token of the App", token));
    assert.notEqual(house.github.tokens.length, 0);
    const wrong = () => house.canaries.make("wrong password", "header");
    for (
      const url of [
        house.urlWith(wrong()),
        house.urlWith(wrong(), "127.0.0.1:9"),
        house.urlWith(wrong(), "git.invalid"),
        `https://${wrong()}@git.invalid/o/r.git`,
        `https://bob:${wrong()}@git.invalid/o/r.git`,
        `https//bob:${encodeURIComponent(wrong())}@git.invalid/o/r.git`,
        `ext::sh -c ${wrong()}`,
        `ssh://git:${encodeURIComponent(wrong())}@127.0.0.1:9/o/r.git`,
        `git@127.0.0.3:o/${wrong()}.git`,
        "https://localhost:9/o/r.git",
        "ssh://git@127.0.0.1:9/o/r.git",
      ]
    ) {
      const run = await house.poll({ url });
      assert.notEqual(run.heard.status, 200, url);
    }
    await silent();
  });

  /** Deploys something broken; the run must fail and say why, which is what may leak. */
  const fails = async (parts: Parameters<typeof shop>[2], why: RegExp) => {
    await commit(parts);
    const run = await poll();
    assert.equal(run.status, "failed", JSON.stringify(run));
    assert.match(messages(run), why);
  };

  it("stay silent when compose quotes a value that does not fit", async () => {
    const places: readonly (readonly [Part, RegExp])[] = [
      [{ ports: ["${FROM_STORE}"] }, /render|port|compose/i],
      [{ cpus: "${ENCRYPTED}" }, /compose config failed/],
      [{ mem_limit: "${INNOCENT}" }, /compose config failed/],
      [{ stop_grace_period: "${DB_PASSWORD}" }, /compose config failed/],
      [{ restart: "${FROM_JSON}", image: "${FROM_STORE}" }, /./],
      [{ environment: { X: "${GONE:?needs ${FROM_STORE}}" } }, /compose config failed/],
      [{ network_mode: "${AS_SECRET}" }, /./],
      [{ volumes: ["${FROM_STORE}:/x"] }, /./],
      [{ env_file: ["${INNOCENT}"] }, /./],
      [{ extends: { file: "${ENCRYPTED}", service: "web" } }, /./],
    ];
    for (const [web, why] of places) await fails({ web }, why);
    await silent();
  });

  it("stay silent when a registry refuses and repeats the credentials", async () => {
    house.engine.echoCredentials(true);
    await fails({ web: { image: `${REGISTRY}/shop:1` } }, /denied/);
    house.engine.echoCredentials(false);
    await silent();
  });

  it("stay silent when a container prints everything and ends, or is unhealthy", async () => {
    house.engine.setBehaviour("web", { exit: 3, printsEnvironment: true });
    await fails({ web: { labels: { again: "1" } } }, /last output:\n[^]*\*\*\*/);
    house.engine.setBehaviour("web", { refuse: `no ${secrets.store} ${secrets.dotenv}` });
    await fails({ web: { labels: { again: "2" } } }, /no \*\*\*/);
    house.engine.setBehaviour("web", { health: "unhealthy" });
    await fails(
      { web: { labels: { again: "3" }, healthcheck: { test: ["CMD", "true"] } } },
      /health/,
    );
    house.engine.setBehaviour("web", "run");
    await silent();
  });

  it("stay silent when the store is down, refuses, or repeats the token", async () => {
    const echo = { errors: [house.secrets.storeToken, secrets.store] };
    for (
      const fault of [
        "drop",
        { status: 403, value: echo },
        { status: 500, value: echo },
        { status: 200, text: `<html>${house.secrets.storeToken}</html>` },
        { status: 302, headers: { location: `http://127.0.0.1:9/?t=${secrets.storeJson.length}` } },
        { status: 200, value: { data: { data: { plain: [secrets.store] } } } },
      ] as const
    ) {
      house.store.fail(fault);
      const run = await poll();
      assert.equal(run.status, "failed", JSON.stringify(run));
    }
    house.store.fail(undefined);
    await silent();
  });

  it("stay silent for webhooks, whoever sends them and whatever is in them", async () => {
    const { canaries, urls, secrets: { webhook } } = house;
    const push = (url: string) => ({
      ref: "refs/heads/main",
      before: "0".repeat(40),
      after: "1".repeat(40),
      repository: { full_name: "o/remote", clone_url: url },
    });
    const wrong = () => canaries.make("wrong webhook secret", "header");
    const send = (request: { headers: Readonly<Record<string, string>>; body: string }) =>
      house.ask("/v1/webhook?wait=true", { method: "POST", ...request });
    const good = signed("github", { event: "push", payload: push(urls.token), secret: webhook });
    const accepted = await send(good);
    assert.ok(accepted.status < 300 || accepted.status === 500, JSON.stringify(accepted));
    const password = signed("gitea", {
      event: "push",
      payload: push(house.urlWith(wrong())),
      secret: webhook,
    });
    assert.equal((await send(password)).status, 500);
    for (const sender of ["github", "gitea", "gitlab", "gogs", "bitbucket", "azure"] as const) {
      const payload = push(house.urlWith(wrong()));
      const { status } = await send(signed(sender, { event: "push", payload, secret: wrong() }));
      assert.ok([400, 401, 403].includes(status), `${sender} ${status}`);
    }
    const broken = `{"ref": "${webhook} ${wrong()}`;
    const refused = await send(
      signed("github", { event: "push", payload: broken, secret: webhook }),
    );
    assert.equal(refused.status, 400, refused.text);
    await send({ headers: { "x-gitlab-token": wrong(), "x-gitlab-event": wrong() }, body: broken });
    await send({ headers: { authorization: `Bearer ${wrong()}` }, body: broken });
    await house.ask(`/v1/webhook/${encodeURIComponent(webhook)}`, { method: "POST", ...good });
    await silent();
  });

  it("stay silent in everything the API answers", async () => {
    const { canaries } = house;
    const wrong = () => canaries.make("wrong API key", "header");
    for (const headers of [{ "x-api-key": wrong() }, { authorization: `Bearer ${wrong()}` }]) {
      const { status } = await house.ask("/v1/api/runs", {
        headers: { "x-api-key": "", ...headers },
      });
      assert.equal(status, 401);
    }
    const asked = encodeURIComponent(house.secrets.api);
    for (
      const path of [
        "/v1/health",
        "/v1/api/runs?limit=100",
        "/v1/api/projects?all=true",
        `/v1/api/project/${SHOP}`,
        `/v1/api/project/${asked}`,
        `/v1/api/run/${asked}`,
        `/v1/api/runs?status=${asked}`,
        `/v1/api/runs?apikey=${asked}&${asked}=1`,
        `/${asked}`,
        "/openapi/rest.json",
        "/openapi/webhooks.json",
        "/docs/",
        "/docs/webhooks/",
      ]
    ) {
      const { status } = await house.ask(path);
      assert.ok(status < 500, `${path}: ${status}`);
    }
    assert.equal((await house.ask("/metrics", { port: "metrics" })).status, 200);
    const post = (path: string, body: string) => house.ask(path, { method: "POST", body });
    for (
      const body of [
        `{"url": "${wrong()}`,
        JSON.stringify([{ url: wrong() }]),
        JSON.stringify([{ url: house.urls.password, reference: [wrong()] }]),
        JSON.stringify([{ url: [house.urls.password] }]),
        JSON.stringify([{ url: house.urls.password, interval: house.urls.password }]),
        JSON.stringify([{ url: house.urls.password, interval: house.urlWith(wrong()) }]),
        JSON.stringify([{ url: house.urls.password, deployments: [{ environment: [wrong()] }] }]),
        JSON.stringify(wrong()),
      ]
    ) {
      const { status, text } = await post("/v1/api/poll/run", body);
      assert.ok(status >= 400 && status < 500, `${status} ${text}`);
    }
    for (const action of ["stop", "start", "restart"]) {
      const { status, text } = await post(`/v1/api/project/${SHOP}/${action}`, "");
      assert.equal(status, 200, text);
    }
    await silent();
  });

  it("stay silent in everything the commands print, with every level of the log", async () => {
    await commit({ web: { labels: { again: "4", "shop.token": secrets.label } } });
    const { urls: { token: place } } = house;
    const expected: readonly (readonly [number, readonly string[], Record<string, string>?])[] = [
      [2, ["plan", "--ref", "main", place]],
      [2, ["plan", "--json", "--ref", "main", place]],
      [1, ["plan", "--ref", "main", house.urlWith(house.canaries.make("wrong", "header"))]],
      [0, ["history", SHOP]],
      [0, ["history", SHOP, "--json"]],
      [0, ["explain", SHOP]],
      [0, ["explain", SHOP, "--json"]],
      [2, ["diff", SHOP, "1", "2"]],
      [2, ["diff", SHOP, "1", "2", "--json"]],
      [0, ["apply", "--ref", "main", place]],
      [0, ["rollback", SHOP, "1"]],
      [0, ["unpin", SHOP]],
      [0, ["healthcheck"]],
      [0, ["schema"]],
      [0, ["openapi", "rest"]],
      [0, ["version"]],
    ];
    for (const [code, args, env] of expected) {
      assert.equal(await house.command(args, env), code, args.join(" "));
    }
    for (const name of ["serve", "plan", "apply", "diff", "validate", "rollback"]) {
      assert.equal(await house.command([name, "--help"]), 0);
    }
    await silent();
  });

  it("stay silent where the configuration is encrypted and another repository is deployed", async () => {
    const name = "swt-canary-far";
    const { canaries, recipients, store } = house;
    const make = () => ({
      configuration: canaries.make("encrypted .stackwright.yaml"),
      beside: canaries.make("encrypted env file beside the configuration", "quoted"),
      far: canaries.make("encrypted env file of the other repository", "quoted"),
      far2: canaries.make("env file of the other repository", "quoted"),
      stored: canaries.make("secret of an encrypted file of references"),
    });
    const commitFar = async (values: ReturnType<typeof make>) => {
      store.write("kv/far", { value: values.stored });
      const options = { recipients };
      await house.repository.commit({
        ".stackwright.far.yaml": await encryptYaml({
          name,
          repository_url: house.urls.other,
          env_files: ["beside.env", "remote:far.env", "remote:far2.env"],
          environment: { PLAIN_NAME: values.configuration },
          external_secrets_files: ["references.yaml"],
        }, options),
        "references.yaml": await encryptYaml({ STORED: "kv:kv:far:value" }, options),
        "beside.env": await encryptDotenv(`BESIDE='${values.beside}'\n`, options),
      });
      await house.other.commit({
        "compose.yaml": composeFile({
          web: service({
            environment: {
              A: "${PLAIN_NAME}",
              B: "${BESIDE}",
              C: "${FAR}",
              D: "${FAR2}",
              E: "${STORED}",
            },
          }),
        }),
        "far.env": await encryptDotenv(`FAR='${values.far}'\n`, options),
        "far2.env": `FAR2='${values.far2}'\n`,
      });
    };
    const far = { target: "far" };
    for (const values of [make(), make()]) {
      await commitFar(values);
      const run = await poll(far);
      assert.equal(run.status, "succeeded", JSON.stringify(run));
      const given = environment();
      for (const [what, value] of Object.entries(values)) assert.ok(given.includes(value), what);
    }
    assert.equal((await poll(far)).status, "skipped");
    house.engine.setBehaviour("web", { exit: 3, printsEnvironment: true });
    await commitFar(make());
    const failed = await poll(far);
    house.engine.setBehaviour("web", "run");
    assert.match(messages(failed), /last output:\n[^]*\*\*\*/);
    // These see the releases only in the ledger, and none of the files.
    for (const args of [["diff", name, "1", "2"], ["diff", name, "1", "2", "--json"]]) {
      assert.equal(await house.command(args), 2);
    }
    await silent();
  });

  it("stay silent when the service is another process, which has never read the secrets", async () => {
    await house.restart();
    house.engine.setBehaviour("web", { exit: 3, printsEnvironment: true });
    await fails({ web: { labels: { again: "5" } } }, /last output:\n[^]*\*\*\*/);
    house.engine.setBehaviour("web", "run");
    const { status } = await house.ask(`/v1/api/project/${SHOP}?volumes=true`, {
      method: "DELETE",
    });
    assert.equal(status, 200);
    await silent();
  });

  it("are not given to a repository, also with PASS_ENV", async () => {
    const names = Object.keys(house.env);
    assert.ok(names.length > 20);
    const [label = "", given = ""] = ["label", "environment"];
    const web = {
      command: ["sleep", "100000"],
      labels: Object.fromEntries(names.map((name) => [`x.${label}.${name}`, `\${${name}:-none}`])),
      environment: {
        ...Object.fromEntries(names.map((name) => [`X_${given}_${name}`, `\${${name}:-none}`])),
        ...Object.fromEntries(names.map((name) => [name, null])),
      },
      env_file: ["names.env"],
      secrets: names.map((name) => ({ source: name.toLowerCase() })),
    };
    const files = {
      ".stackwright.yaml": configFile({ name: "swt-canary-thief", env_files: ["names.env"] }),
      "names.env": names.map((name) => `${name}\nY_${name}=\${${name}}\n`).join(""),
      "compose.yaml": composeFile({ web: service(web) }, {
        secrets: Object.fromEntries(
          names.map((name) => [name.toLowerCase(), { environment: name }]),
        ),
      }),
    };
    for (const passEnv of ["false", "true"]) {
      await house.restart({ PASS_ENV: passEnv, HARMLESS: "given" });
      for (const secrets of [web.secrets, []]) {
        await house.repository.commit({
          ...files,
          "compose.yaml": composeFile({ web: service({ ...web, secrets }) }, {
            secrets: Object.fromEntries(
              names.map((name) => [name.toLowerCase(), { environment: name }]),
            ),
          }),
        });
        await poll();
      }
      const thieves = house.engine.containers().filter(({ name }) => /thief/.test(name));
      assert.equal(thieves.length, 1);
      assert.deepEqual(house.canaries.find(JSON.stringify(thieves)), []);
    }
    await silent();
  });

  it("lie nowhere but in files that containers mount, below a directory that is ours alone", async () => {
    const { canaries, dataDir } = house;
    assert.equal(await modeOf(dataDir), "700");
    for (const file of ["instance.key", "state.db"]) {
      assert.equal(await modeOf(join(dataDir, file)), "600", file);
    }
    const holding: string[] = [];
    for (const path of await filesBelow(dataDir)) {
      if (canaries.find(await readFile(path)).length > 0) holding.push(relative(dataDir, path));
    }
    assert.notEqual(holding.length, 0);
    assert.deepEqual(holding.filter((path) => !PLAIN_IN_TREES.test(path)), []);
    for (const file of [...SOPS_FILES, "beside.env", "far.env"]) {
      assert.ok(holding.some((path) => path.endsWith(`/${file}`)), `${file} is nowhere`);
    }
    // Mirrors have what was committed in the clear, and nothing that was decrypted.
    const mirrored = await house.mirrored();
    assert.ok(mirrored.includes(secrets.envFile.slice(0, 13)));
    for (const [name, value] of Object.entries(secrets)) {
      if (!/^(?:sops|store)/.test(name)) continue;
      assert.ok(!mirrored.includes(value.slice(0, 13)), name);
    }
  });

  it("leave no private directory of the service behind", async () => {
    await house.restart();
    // Something new: what did not change is asked for without git.
    await house.repository.commit({ "news.txt": "fetched by git\n" });
    await poll();
    const before = await scratchDirectories(house.pid());
    await house.stop();
    const after = await scratchDirectories(house.pid());
    assert.ok(after.length < before.length, before.join());
  });
});

/** Everything a run says. */
function messages(run: RunBody): string {
  return [run.message, ...(run.deployments ?? []).map((each) => each.message)].join("\n");
}

/** Private directories of a process in the system's place for them: others have some, too. */
async function scratchDirectories(pid: number | undefined): Promise<string[]> {
  const name = new RegExp(`^stackwright-(?:git|plan)-\\d+-${pid}-`);
  return (await readdir(tmpdir())).filter((each) => name.test(each));
}
