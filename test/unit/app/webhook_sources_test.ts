import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { locateOptions, webhookSources } from "../../../src/app/webhook_sources.ts";
import { readSettings } from "../../../src/settings/mod.ts";

const settings = (env: Readonly<Record<string, string>>) =>
  readSettings({ DATA_DIR: "/data", ...env }, () => "");
const read = (env: Readonly<Record<string, string>>) => locateOptions(settings(env));

describe("webhookSources()", () => {
  it("finds the place of a repository, and the deployments that were configured for it", () => {
    const { locate, inlineDeploymentsFor } = webhookSources(settings({
      POLL_CONFIG: JSON.stringify([
        { url: "git@git.example.org:acme/shop", deployments: [{ name: "shop" }] },
      ]),
    }));
    const place = locate({
      fullName: "acme/shop",
      cloneUrl: "https://git.example.org/acme/shop.git",
      sshUrl: "",
    });
    assert.deepEqual(place, {
      url: "git@git.example.org:acme/shop",
      identity: "git.example.org/acme/shop",
    });
    const request = { kind: "git", ...place, reference: "main", target: "" } as const;
    const named = inlineDeploymentsFor?.({ ...request, deployments: [] }) ?? [];
    assert.deepEqual(named.map(({ deployment }) => deployment.name), ["shop"]);
  });

  it("gives what an account of its own is asked for no name that another one has", () => {
    const { locate } = webhookSources(settings({ SSH_PRIVATE_KEY: "key" }));
    const placeBy = (sshUrl: string) =>
      locate({ fullName: "infra", cloneUrl: "https://host/infra.git", sshUrl });
    assert.equal(placeBy("git@host:infra.git").identity, "host/infra");
    assert.deepEqual(placeBy("mallory@host:infra"), {
      url: "mallory@host:infra",
      identity: "mallory@host/infra",
    });
  });

  it("asks the operator's account for a repository that is polled, whoever a webhook names", () => {
    const POLL_CONFIG = JSON.stringify([{ url: "deploy@host:infra" }]);
    const { locate } = webhookSources(settings({ SSH_PRIVATE_KEY: "key", POLL_CONFIG }));
    const identityBy = (sshUrl: string) =>
      locate({ fullName: "infra", cloneUrl: "https://host/infra.git", sshUrl }).identity;
    assert.equal(identityBy("ssh://deploy@host/infra.git"), "deploy@host/infra");
    assert.equal(identityBy("mallory@host:infra"), "mallory@host/infra");
  });
});

describe("webhookSources() with SOURCE_URL_REWRITES", () => {
  const infra = { url: "https://u:p@h.example/o/infra" };
  const other = { url: "https://x.example/o/infra" };
  const rules = { "h.example": "https://mirror.example/git" };
  const placeOf = (
    named: { readonly cloneUrl: string; readonly sshUrl?: string },
    polls: readonly unknown[] = [infra],
    rewrites: Readonly<Record<string, string>> = rules,
  ) =>
    webhookSources(settings({
      POLL_CONFIG: JSON.stringify(polls),
      SOURCE_URL_REWRITES: JSON.stringify(rewrites),
    })).locate({ fullName: "infra", sshUrl: "", ...named });
  const mirror = { cloneUrl: "https://mirror.example/git/o/infra.git" };

  it("fetches and names the place that polls reach by another address as these do", () => {
    assert.deepEqual(placeOf(mirror), { url: infra.url, identity: "h.example/o/infra" });
    assert.deepEqual(placeOf({ cloneUrl: "https://h.example/o/infra" }), placeOf(mirror));
  });

  it("gives no name to other places, nor to one that itself leads elsewhere, or that two are polled by", () => {
    const names = (...asked: Parameters<typeof placeOf>) => placeOf(...asked).identity;
    const own = "mirror.example/git/o/infra";
    assert.equal(
      names({ cloneUrl: "https://mirror.example/git/o/Infra" }),
      "mirror.example/git/o/Infra",
    );
    assert.equal(
      names({ cloneUrl: "https://mirror.example:8443/git/o/infra" }).startsWith("h."),
      false,
    );
    const away = { ...rules, "mirror.example": "https://away.example" };
    assert.deepEqual(placeOf(mirror, [infra], away), { url: mirror.cloneUrl, identity: own });
    const both = { ...rules, "x.example": "https://mirror.example/git" };
    assert.equal(names(mirror, [infra, other], both), own);
    assert.equal(names(mirror, [infra, { url: mirror.cloneUrl }]), own);
    assert.throws(
      () => placeOf({ cloneUrl: "/srv/git/o/infra" }, [infra], { "h.example": "/srv/git" }),
      {
        code: "forbidden",
      },
    );
  });
});

describe("locateOptions()", () => {
  it("finds a polled Git repository by any of its URLs, and nothing else", () => {
    const { configured } = read({
      POLL_CONFIG: JSON.stringify([
        { url: "https://u:p@git.example.org/acme/shop.git" },
        { url: "registry.example.org/acme/shop:v1", source: "oci" },
      ]),
    });
    const urls = ["https://git.example.org/x", "git@git.example.org:Acme/shop"];
    assert.equal(configured(urls)?.url, "https://u:p@git.example.org/acme/shop.git");
    for (
      const other of ["https://git.example.org/x", "https://registry.example.org/acme/shop", "no"]
    ) {
      assert.equal(configured([other]), undefined);
    }
  });

  it("tells polled repositories that differ in letter case alone apart", () => {
    const urls = ["Shop", "shop", "shop", "Blog"].map((name) =>
      `https://git.example.org/acme/${name}`
    );
    const { configured } = read({
      POLL_CONFIG: JSON.stringify(urls.map((url, at) => ({ url, reference: `v${at}` }))),
    });
    const at = (...names: string[]) =>
      configured(names.map((name) => `git@git.example.org:acme/${name}.git`))?.reference;
    assert.equal(at("Shop"), "v0");
    assert.equal(at("shop"), "v1");
    assert.equal(at("SHOP"), undefined, "either may be meant");
    assert.equal(at("blog"), "v3");
  });

  it("has an SSH key for a URL when the settings have one for its host", () => {
    const one = read({
      GIT_AUTH_DOMAINS: "[{domains: [git.example.org], ssh_private_key: key}]",
    });
    assert.equal(one.hasSshKey("git@git.example.org:a/b"), true);
    assert.equal(one.hasSshKey("git@other.example.org:a/b"), false);
    assert.equal(one.hasSshKey("ssh://git@git.example.org/a/../b"), false, "no usable URL");
    assert.equal(read({ SSH_PRIVATE_KEY: "key" }).hasSshKey("git@h:a/b"), true);
    assert.equal(read({}).hasSshKey("git@h:a/b"), false);
  });

  it("allows repositories of this machine only when the setting does", () => {
    assert.equal(read({}).allowLocal, false);
    assert.equal(read({ ALLOW_LOCAL_REPOSITORY_URL: "true" }).allowLocal, true);
  });
});
