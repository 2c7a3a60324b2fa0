import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { DEBIAN_IMAGE, ensureImage, noDebian, run, runOn } from "./debian.ts";
import { NO_LANDLOCK } from "./no_landlock.ts";
import { ROOT } from "./service_process.ts";

const name = `swt-unit-${randomBytes(3).toString("hex")}`;

/** A machine with systemd, and an engine of its own in it. */
const MACHINE_IMAGE = "stackwright-test/systemd:trixie";
const MACHINE = `FROM ${DEBIAN_IMAGE}
RUN apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \\
  busybox-static curl docker-buildx docker-cli docker-compose docker.io git systemd systemd-sysv
`;

const PRELUDE = `set -eu
within_a_minute() { timeout 60 sh -c "until $1; do sleep 0.2; done" || { journalctl -u stackwright -o cat; exit 1; }; }
says() { within_a_minute "journalctl -u stackwright -o cat --no-pager | grep -q '$1'"; }
commit() { git -C /srv/shop add -A && git -C /srv/shop -c user.name=t -c user.email=t@t commit -qm "a change"; }
answers() { within_a_minute "curl -sf -o /dev/null http://127.0.0.1:8080/v1/health"; }
poll() { curl -sS -H x-api-key:key-of-the-unit-test -d '[{"url":"/srv/shop","reference":"main"}]' "http://127.0.0.1:8080/v1/api/poll/run?wait=true"; }
`;

const SHOP = `
mkdir -p /srv/shop/site && cd /srv/shop && git init -q -b main .
cp /bin/busybox . && echo one >site/page
cat >compose.yaml <<'END'
services:
  web:
    image: shop-web
    build: {context: ., dockerfile_inline: "FROM scratch\\nCOPY busybox /bin/busybox\\n"}
    command: [/bin/busybox, sleep, "100000"]
    init: true
    volumes: ["./site:/site:ro", "./data:/data"]
END
echo 'name: shop' >.stackwright.yaml
commit
`;

/** Starts the machine, and waits until systemd has started the engine in it. */
async function startMachine(): Promise<void> {
  await ensureImage(MACHINE_IMAGE, async () => {
    const build = ["build", "-q", "--network", "host", "-t", MACHINE_IMAGE, "-"];
    await runOn(MACHINE, "docker", build);
  });
  const machine = ["--privileged", "--cgroupns", "private", "--tmpfs", "/run", "--tmpfs", "/tmp"];
  const more = ["--volume", "/var/lib/docker", "--stop-signal", "SIGRTMIN+3"];
  await run("docker", [
    "run",
    "-d",
    "--name",
    name,
    ...machine,
    ...more,
    MACHINE_IMAGE,
    "/sbin/init",
  ]);
  await type(`within_a_minute "docker version >/dev/null"`);
}

/** Runs a script of bash in the machine. */
function type(script: string): Promise<string> {
  return runOn(PRELUDE + script, "docker", ["exec", "-i", name, "bash", "-s"]);
}

const remove = () => run("docker", ["rm", "--force", "--volumes", name]).catch(() => "");
const skip = await noDebian(startMachine) ?? false;
if (skip !== false) await remove();

describe("docs/stackwright.service under systemd", { skip }, () => {
  before(async () => {
    await run("docker", ["cp", `${ROOT}dist/stackwright`, `${name}:/usr/local/bin/stackwright`]);
    const units = `${name}:/etc/systemd/system/stackwright.service`;
    await run("docker", ["cp", `${ROOT}docs/stackwright.service`, units]);
    await type(`mkdir -p /etc/stackwright
      (umask 077 && echo API_SECRET=key-of-the-unit-test >/etc/stackwright/environment)
      systemctl daemon-reload
      ${SHOP}`);
  });
  after(async () => {
    await remove();
  });

  it("starts once the port that another program had is free", async () => {
    await type(`
      busybox nc -l -p 8080 & other=$!
      within_a_minute "grep -q ':1F90 ' /proc/net/tcp /proc/net/tcp6"
      systemctl enable --now stackwright
      says "could not listen on .*8080"
      kill $other
      answers
      systemctl is-active stackwright`);
  });

  it("builds and deploys a stack within the limits of the unit", async () => {
    const output = await type(`
      poll
      docker exec shop-web-1 /bin/busybox cat /site/page
      docker exec shop-web-1 /bin/busybox touch /data/kept`);
    assert.match(output, /^one$/m);
  });

  it(
    "has the kernel confine rendering within the limits of the unit",
    { skip: NO_LANDLOCK },
    async () => {
      const output = await type("journalctl -u stackwright -o cat --no-pager");
      assert.match(output, /the kernel confines rendering \(Landlock, /);
    },
  );

  it("ends at a stop, and what it deployed runs on", async () => {
    const output = await type(`
      systemctl stop stackwright
      systemctl show stackwright -p Result -p ActiveState
      docker ps --format '{{.Names}} {{.State}}'`);
    assert.match(output, /^Result=success$/m);
    assert.match(output, /^ActiveState=inactive$/m);
    assert.match(output, /^shop-web-1 running$/m);
  });

  it("deploys what was committed meanwhile after the next start", async () => {
    const output = await type(`
      echo two >/srv/shop/site/page
      commit
      systemctl start stackwright
      answers
      poll
      docker exec shop-web-1 /bin/busybox cat /site/page /data/kept`);
    assert.match(output, /^two$/m);
  });

  it("is not started again and again with a setting that is wrong", async () => {
    const output = await type(`
      echo HTTP_PORT=none >>/etc/stackwright/environment
      systemctl restart stackwright
      within_a_minute "systemctl is-failed --quiet stackwright"
      systemctl show stackwright -p ExecMainStatus
      sed -i /HTTP_PORT/d /etc/stackwright/environment
      systemctl start stackwright
      answers`);
    assert.match(output, /^ExecMainStatus=78$/m);
  });

  it("deploys as another user of the engine's group, with the same data", async () => {
    const output = await type(`
      useradd --system --groups docker shopkeeper
      mkdir -p /etc/systemd/system/stackwright.service.d
      printf '[Service]\\nUser=shopkeeper\\nGroup=docker\\n' >/etc/systemd/system/stackwright.service.d/user.conf
      echo three >/srv/shop/site/page
      commit
      systemctl daemon-reload
      systemctl restart stackwright
      answers
      poll
      docker exec shop-web-1 /bin/busybox cat /site/page /data/kept
      stat -c 'data of %U' /var/lib/stackwright/state.db`);
    assert.match(output, /^three$/m);
    assert.match(output, /^data of shopkeeper$/m);
  });
});
