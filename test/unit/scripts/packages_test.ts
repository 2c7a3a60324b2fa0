import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { describe, it } from "node:test";

const ROOT = join(import.meta.dirname ?? "", "../../..");
const PARTS = ["docker-cli", "engine", "compose", "buildx", "busybox"];

interface Sorted {
  /** Of the system's own suite. */
  readonly plain: string;
  /** Of the next suite, installed. */
  readonly next: string;
  /** Of the next suite, unpacked beside the system. */
  readonly unpacked: string;
}

function sorted(system: string, withTests: boolean, parts = PARTS): Sorted {
  const piece = `
    . scripts/lib/packages.sh
    apt_next_name=none-of-this-machine with_tests=${withTests} system=${system}
    for part in ${parts.join(" ")}; do package_of "$part"; done
    printf '%s|%s|%s' "$plain" "$next" "$unpacked"`;
  const printed = execFileSync("sh", ["-c", piece], { encoding: "utf8", cwd: ROOT });
  const [plain = "", next = "", unpacked = ""] = printed.split("|").map((each) => each.trim());
  return { plain, next, unpacked };
}

describe("the packages of scripts/setup", () => {
  it("on Debian 12 takes nothing into the system from the next suite", () => {
    assert.deepEqual(sorted("debian-12", false), {
      plain: "runc iptables tini busybox-static",
      next: "",
      unpacked: "docker-cli docker.io containerd docker-compose docker-buildx",
    });
  });

  it("on Debian 12 unpacks only what is missing", () => {
    assert.deepEqual(sorted("debian-12", false, ["compose"]), {
      plain: "",
      next: "",
      unpacked: "docker-compose",
    });
  });

  it("on Debian 12 installs them for the tests", () => {
    assert.deepEqual(sorted("debian-12", true), {
      plain: "busybox-static",
      next: "docker-cli docker.io iptables docker-compose docker-buildx",
      unpacked: "",
    });
  });

  for (const system of ["debian-13", "ubuntu-24.04"]) {
    it(`on ${system} takes the system's own`, () => {
      const { plain, next, unpacked } = sorted(system, false);
      assert.match(plain, /docker\.io/);
      assert.deepEqual([next, unpacked], ["", ""]);
    });
  }
});
