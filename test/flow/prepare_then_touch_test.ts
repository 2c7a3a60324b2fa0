import assert from "node:assert/strict";
import { readdir, readFile, readlink, rename } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { freePort } from "../fakes/free_port.ts";
import { composeFile, configFile, type Part, service } from "./compose_text.ts";
import { commit, docker, inWorld, pollTo, readInside, writeInside } from "./steps.ts";
import { engines, IMAGE, type World } from "./world.ts";

const web = (more: Part = {}) =>
  service({
    volumes: ["./page.txt:/page.txt:ro", "./data:/data", "store:/store"],
    configs: [{ source: "main", target: "/main.conf" }],
    ...more,
  });
const compose = (services: Readonly<Record<string, Part>>, rest: Part = {}) =>
  composeFile(services, {
    configs: { main: { file: "./main.conf" } },
    volumes: { store: {} },
    ...rest,
  });
const FILES = {
  "compose.yaml": compose({ web: web(), worker: service() }),
  "page.txt": "page",
  "main.conf": "main",
  "data/seed.txt": "seed",
};
/** Every file the containers mount changes too, so that a switch too early would be seen. */
const CHANGED = { "page.txt": "page 2", "main.conf": "main 2", "data/seed.txt": "seed 2" };

/** What keeps a release from being deployed before anything may be touched. */
interface Obstacle {
  readonly what: string;
  readonly services?: (world: World) => Readonly<Record<string, Part>>;
  readonly rest?: Part;
  readonly configuration?: Part;
  readonly files?: Readonly<Record<string, string | { readonly link: string }>>;
  readonly before?: (world: World) => Promise<void>;
  readonly says: RegExp;
  /** Whether the engine has a part in it, so that the real one is asked too. */
  readonly real?: boolean;
}

const PORT = await freePort();
const changed = web({ environment: { A: "2" } });
const OBSTACLES: readonly Obstacle[] = [
  { what: "an unknown key", configuration: { tiemout: 3 }, says: /tiemout/ },
  { what: "a compose file that is none", files: { "compose.yaml": "services: [" }, says: /YAML/ },
  { what: "a missing dotenv file", configuration: { env_files: ["gone.env"] }, says: /gone\.env/ },
  {
    what: "a required variable",
    services: () => ({ web: web({ environment: { A: "${MISSING:?is needed}" } }) }),
    says: /is needed/,
  },
  {
    what: "an image that is nowhere",
    real: true,
    services: () => ({ web: web({ image: "127.0.0.1:1/none:1" }), worker: service() }),
    says: /pull failed/,
  },
  {
    what: "a mounted image that is nowhere",
    services: () => ({
      web: web({ volumes: [{ type: "image", source: "127.0.0.1:1/none:1", target: "/m" }] }),
      worker: service(),
    }),
    // Older engines mount no images.
    before: async (world) => {
      world.fake?.speak("1.48");
      await world.restart();
    },
    says: /pull failed/,
  },
  {
    what: "a build that fails",
    real: true,
    services: () => ({ web: web({ image: "swt-never-built", build: "./app" }) }),
    files: { "app/Dockerfile": "FROM scratch\nCOPY nothing-here /\n" },
    says: /build failed/,
  },
  {
    what: "a container name that another project has",
    real: true,
    services: (world) => ({
      web: changed,
      worker: service({ container_name: `${world.stack}-x` }),
    }),
    before: (world) => runAnother(world, "--network", "none"),
    says: /already .* name|name .* (?:taken|held|used)|-x/,
  },
  {
    what: "a port that another project has",
    real: true,
    services: () => ({ web: changed, worker: service({ ports: [`127.0.0.1:${PORT}:80`] }) }),
    before: (world) => runAnother(world, "--network", "bridge", "-p", `127.0.0.1:${PORT}:80`),
    says: new RegExp(`port .*${PORT}`),
  },
  {
    what: "a submodule that is nowhere",
    services: () => ({ web: changed }),
    before: async ({ repository }) => {
      await repository.submodule("sub", `${repository.url}-nowhere`, "a".repeat(40));
    },
    says: /submodule/,
  },
  {
    what: "a mount that leads out of the repository",
    services: () => ({ web: web({ volumes: ["./out:/out:ro"] }) }),
    files: { out: { link: "/etc" } },
    says: /links must stay inside/,
  },
  {
    what: "a volume that would have to be another one",
    real: true,
    services: () => ({ web: changed }),
    rest: { volumes: { store: { driver_opts: { type: "tmpfs", device: "tmpfs" } } } },
    says: /cannot change a volume/,
  },
  {
    what: "a repository that is gone",
    services: () => ({ web: changed }),
    before: async ({ repository }) => {
      const path = new URL(repository.url, "file://").pathname;
      await rename(path, `${path}-away`);
    },
    says: /./,
  },
];

/** A container of another project, named like the stack with `-x`. */
async function runAnother(world: World, ...options: string[]): Promise<void> {
  const label = `com.docker.compose.project=${world.stack}-other`;
  const name = `${world.stack}-x`;
  const called = ["--name", name, "--label", label, IMAGE, "sleep", "100000"];
  await docker(world, "run", "-d", ...options, ...called);
}

/** Everything that runs, and every byte that is mounted, as one value. */
async function snapshot(world: World): Promise<Record<string, unknown>> {
  const containers = (await world.containers()).map(({ id, state, imageId, labels }) => ({
    id,
    state,
    imageId,
    labels,
  }));
  const listed = async (...args: string[]) => (await docker(world, ...args)).split("\n").sort();
  const filter = ["--filter", `label=com.docker.compose.project=${world.stack}`];
  return {
    containers,
    networks: await listed(
      "network",
      "ls",
      "--no-trunc",
      "--format",
      "{{.ID}} {{.Name}}",
      ...filter,
    ),
    volumes: await listed("volume", "ls", "--format", "{{.Name}}", ...filter),
    files: await filesOf(join(world.dataDir, "releases")),
    page: await readInside(world, "web", "/page.txt"),
    conf: world.kind === "real" ? await readInside(world, "web", "/main.conf") : "",
    written: await readInside(world, "web", "/data/written.txt"),
    store: world.kind === "real" ? await readInside(world, "web", "/store/kept.txt") : "",
  };
}

async function filesOf(directory: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isSymbolicLink()) found[path] = `-> ${await readlink(path)}`;
    else if (entry.isFile()) found[path] = await readFile(path, "latin1");
  }
  return found;
}

for (const engine of await engines()) {
  describe(`a release that cannot be prepared, on the ${engine} engine`, () => {
    for (const obstacle of OBSTACLES.filter(({ real }) => engine === "fake" || real === true)) {
      it(`for ${obstacle.what} leaves every container, network, volume and file as it is`, () =>
        inWorld(engine, async (world) => {
          await commit(world, FILES);
          await pollTo(world, "succeeded");
          await writeInside(world, "web", "/data/written.txt", "by web");
          if (engine === "real") await writeInside(world, "web", "/store/kept.txt", "kept");
          const before = await snapshot(world);
          const { services, rest, files = {}, configuration = {} } = obstacle;
          await world.repository.commit({
            ".stackwright.yaml": configFile({ name: world.stack, ...configuration }),
            ...CHANGED,
            ...(services === undefined
              ? { "compose.yaml": compose({ web: changed }) }
              : { "compose.yaml": compose(services(world), rest) }),
            ...files,
          });
          await obstacle.before?.(world);
          try {
            const finished = await pollTo(world, "failed");
            assert.match(JSON.stringify(finished), obstacle.says);
            assert.deepEqual(await snapshot(world), before);
          } finally {
            await docker(world, "rm", "-f", `${world.stack}-x`).catch(() => {});
          }
        }));
    }
  });
}
