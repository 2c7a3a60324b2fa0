import assert from "node:assert/strict";
import * as fs from "node:fs";
import { dirname, join } from "node:path";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import { createRepository, type FakeRepository } from "../../fakes/git_repository.ts";
import {
  createTestSource,
  type TestSource,
  type TestSourceOptions,
} from "../../fakes/git_source.ts";
import { sshMissing, type SshServer, startSshServer } from "../../fakes/ssh_server.ts";

describe("GitSource over ssh", { skip: sshMissing() }, () => {
  let server: SshServer;
  let root: string;
  let repository: FakeRepository;
  let head: string;
  let t: TestSource;

  before(async () => {
    root = fs.mkdtempSync("/tmp/swt-ssh-");
    repository = await createRepository(root);
    head = await repository.commit({ "a.txt": "one\n" });
  });
  after(() => fs.rmSync(root, { recursive: true }));
  beforeEach(async () => {
    server = await startSshServer();
  });
  afterEach(async () => {
    await t.close();
    await server.close();
  });

  const url = () => `ssh://${server.user}@127.0.0.1:${server.port}${repository.path}`;
  const open = async (settings: TestSourceOptions = {}) => {
    t = await createTestSource({
      credentials: { global: { sshPrivateKey: server.key } },
      ...settings,
    });
    fs.mkdirSync(t.dataDir);
  };
  const knownHosts = () => fs.readFileSync(join(t.dataDir, "known_hosts"), "utf8");

  it("remembers an unknown host, and leaves no key behind", async () => {
    await open();
    assert.equal((await t.resolve(url(), "main")).id, head);
    assert.equal(knownHosts().trim(), server.knownHost.split(" ").slice(0, 3).join(" ").trim());
    const command = t.commands.find(({ env }) => env["GIT_SSH_COMMAND"] !== undefined);
    const key = / -i (\S+) /.exec(command?.env["GIT_SSH_COMMAND"] ?? "")?.[1] ?? "";
    assert.notEqual(key, "");
    assert.ok(!fs.existsSync(key));
    assert.deepEqual(command?.env["SSH_AUTH_SOCK"], undefined);
    assert.match(command?.env["GIT_SSH_COMMAND"] ?? "", /IdentitiesOnly=yes.*IdentityAgent=none/);
    assert.equal(t.redactor.redact(server.key.split("\n")[1] ?? ""), "***");
    assert.ok(!bytesBelow(t.directory).includes(server.key.split("\n")[1] ?? "?"));
    await t.source.close();
    assert.ok(!fs.existsSync(dirname(key)));
  });

  it("takes no server's words for damage of the mirror", async () => {
    await server.close();
    const lies = join(root, "lies");
    const forced = `test -e ${lies} && cat ${lies} >&2 && exit 1; eval "$SSH_ORIGINAL_COMMAND"`;
    server = await startSshServer({ forced });
    await open();
    await t.resolve(url(), "main");
    head = await repository.commit({ "a.txt": "two\n" });
    const fetches = t.count("fetch");
    const words = ["fatal: not a git repository: x", "inflate: x", "object file x is empty"];
    for (const each of words) {
      fs.writeFileSync(lies, `${each}\n`);
      await assert.rejects(t.resolve(url(), head), { code: "repository_unreachable" }, each);
    }
    assert.deepEqual(t.warnings, []);
    assert.equal(t.count("fetch"), fetches + words.length);
    fs.rmSync(lies);
    assert.equal((await t.resolve(url(), head)).id, head);
  });

  it("accepts a key with line ends of Windows and without a last line break", async () => {
    await open({
      credentials: { global: { sshPrivateKey: server.key.replaceAll("\n", "\r\n").trim() } },
    });
    assert.equal((await t.resolve(url(), "main")).id, head);
  });

  it("opens a protected key with its passphrase, and no other way", async () => {
    const sshPrivateKey = server.protectedKey;
    const { passphrase } = server;
    await open({
      credentials: { global: { sshPrivateKey, sshPrivateKeyPassphrase: passphrase } },
    });
    assert.equal((await t.resolve(url(), "main")).id, head);
    assert.ok(t.commands.every(({ argv }) => !argv.join(" ").includes(passphrase)));
    await t.close();
    for (const wrong of ["", "wrong passphrase"]) {
      await open({ credentials: { global: { sshPrivateKey, sshPrivateKeyPassphrase: wrong } } });
      await assert.rejects(t.resolve(url(), "main"), { code: "repository_denied" });
      await t.close();
    }
    await open();
  });

  it("refuses a host whose key changed, and keeps the key it knew", async () => {
    await open();
    await t.resolve(url(), "main");
    const known = knownHosts();
    await server.changeHostKey();
    await assert.rejects(t.resolve(url(), "main"), {
      code: "repository_denied",
      message: /host key is not the one known.*take its line out of known_hosts/,
    });
    assert.equal(knownHosts(), known);
    assert.ok(!bytesBelow(t.directory).includes(server.key.split("\n")[1] ?? "?"));
  });

  it("knows the hosts of the data directory while it only looks, and adds none there", async () => {
    await open();
    await t.resolve(url(), "main");
    const [lender, known] = [t.dataDir, knownHosts()];
    const dataDir = join(t.directory, "aside");
    const looking = { lender, dataDir, credentials: { global: { sshPrivateKey: server.key } } };
    const aside = await createTestSource(looking);
    try {
      assert.equal((await aside.resolve(url(), "main")).id, head);
      await server.changeHostKey();
      await assert.rejects(aside.resolve(url(), "main"), { code: "repository_denied" });
      assert.equal(knownHosts(), known);
    } finally {
      await aside.close();
    }
  });

  it("takes nothing of a host whose key it cannot remember", async () => {
    await open();
    fs.mkdirSync(join(t.dataDir, "known_hosts"));
    for (const reference of ["main", head]) {
      await assert.rejects(t.resolve(url(), reference), {
        code: "data_dir_unusable",
        message: /host key could not be kept.*make known_hosts .* a file that can be written/is,
      });
    }
    fs.rmdirSync(join(t.dataDir, "known_hosts"));
    assert.equal((await t.resolve(url(), "main")).id, head);
  });

  it("trusts only the operator's file when there is one", async () => {
    const file = join(root, "known");
    fs.writeFileSync(file, "");
    await open({ options: { knownHostsFile: file } });
    await assert.rejects(t.resolve(url(), "main"), { code: "repository_denied" });
    assert.equal(fs.readFileSync(file, "utf8"), "");
    fs.writeFileSync(file, server.knownHost);
    assert.equal((await t.resolve(url(), "main")).id, head);
  });

  it("says that there is no key, or that the key is refused", async () => {
    await open({ credentials: { global: {} } });
    await assert.rejects(t.resolve(url(), "main"), {
      code: "repository_denied",
      message: /no SSH key for 127\.0\.0\.1/,
    });
    await t.close();
    const other = await startSshServer();
    const stranger = other.key;
    await other.close();
    await open({ credentials: { global: { sshPrivateKey: stranger } } });
    await assert.rejects(t.resolve(url(), "main"), { code: "repository_denied" });
    await t.close();
    await open({ credentials: { global: { sshPrivateKey: "no key at all" } } });
    await assert.rejects(t.resolve(url(), "main"), { code: "repository_denied" });
  });
});

/** Every byte below a directory, as text. */
function bytesBelow(directory: string): string {
  return fs.readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .map((each) => fs.readFileSync(join(each.parentPath, each.name), "latin1")).join("\n");
}
