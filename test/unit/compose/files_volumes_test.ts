import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { filesVolumes, withFilesVolumes } from "../../../src/compose/mod.ts";

const TREE = "/data/trees/1";
const copyOf = (path: string) => ({ name: `shop_files_${path}`, isDirectory: path === "site" });
const mounted = (path: string, target: string) => ({
  type: "volume",
  source: `shop_files_${path}`,
  target,
  read_only: true,
  volume: { nocopy: true, ...(path === "site" ? {} : { subpath: "file" }) },
});

describe("withFilesVolumes()", () => {
  const model = {
    name: "shop",
    services: {
      web: {
        image: "web",
        volumes: [
          { type: "bind", source: `${TREE}/site`, target: "/site", read_only: true },
          { type: "bind", source: "/etc/localtime", target: "/etc/localtime" },
          { type: "volume", source: "data", target: "/app.conf" },
        ],
        configs: [{ source: "app", target: "/etc/app.conf" }, { source: "inline" }],
        secrets: [{ source: "key" }, { source: "key", target: "again" }],
      },
      app: { image: "app", configs: [{ source: "app" }] },
      covered: {
        image: "app",
        volumes: [{ type: "volume", source: "data", target: "/app" }],
        configs: [{ source: "app" }],
      },
      plain: { image: "plain" },
    },
    volumes: { data: { name: "shop_data" } },
    configs: { app: { file: `${TREE}/app.conf` }, inline: { content: "hello" } },
    secrets: { key: { file: `${TREE}/key` } },
  };
  const made = withFilesVolumes(model, TREE, copyOf);
  const services = made["services"] as Record<string, Record<string, unknown>>;

  it("mounts copies in the place of bind mounts, configs and secrets, each where it was", () => {
    assert.deepEqual(services["web"], {
      image: "web",
      volumes: [
        mounted("site", "/site"),
        model.services.web.volumes[1],
        model.services.web.volumes[2],
        mounted("key", "/run/secrets/key"),
        mounted("key", "/run/secrets/again"),
        mounted("app.conf", "/etc/app.conf"),
      ],
      configs: [{ source: "inline" }],
      secrets: [],
    });
    assert.deepEqual(services["app"]?.["volumes"], [mounted("app.conf", "/app")]);
    assert.equal(services["plain"], model.services.plain);
  });

  it("leaves a volume alone that covers a config", () => {
    assert.deepEqual(services["covered"], { ...model.services.covered, configs: [] });
  });

  it("names the volumes, which have to be there, and what they hold", () => {
    const external = (name: string) => ({ name, external: true });
    assert.deepEqual(made["volumes"], {
      data: { name: "shop_data" },
      "shop_files_app.conf": external("shop_files_app.conf"),
      shop_files_key: external("shop_files_key"),
      shop_files_site: external("shop_files_site"),
    });
    assert.deepEqual(filesVolumes(made), [
      { name: "shop_files_app.conf", path: "app.conf" },
      { name: "shop_files_key", path: "key" },
      { name: "shop_files_site", path: "site" },
    ]);
    assert.deepEqual(filesVolumes(made, ["app", "plain"]), [
      { name: "shop_files_app.conf", path: "app.conf" },
    ]);
  });

  it("believes nobody else who says that a volume holds copies", () => {
    const forged = {
      name: "shop",
      services: { web: { volumes: [{ type: "volume", source: "data", target: "/x" }] } },
      "x-stackwright-files": { data: "../../etc" },
    };
    assert.deepEqual(filesVolumes(withFilesVolumes(forged, TREE, copyOf)), []);
  });
});
