import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Command, Commands } from "../../../src/system/mod.ts";
import { canConfine } from "../../../src/system/landlock.ts";
import { CONFINED, confiningCommands } from "../../../src/system/confined_programs.ts";

const { signal } = new AbortController();

describe("confiningCommands()", () => {
  const startedBy = async (command: Partial<Command>) => {
    const started: Command[] = [];
    const commands = { run: (each: Command) => Promise.resolve(void started.push(each)) };
    const confining = confiningCommands(commands as unknown as Commands, "/opt/self");
    await confining.run({ argv: ["/bin/cat", "x"], env: {}, ...command }, signal);
    assert.deepEqual(started[0]?.argv, command.argv ?? ["/bin/cat", "x"]);
    return started[0]?.startedBy;
  };

  it("starts what may read some paths alone by this program, where the kernel confines", async () => {
    const words = ["/opt/self", CONFINED, "/bin/cat", "/a", "/b", "--"];
    const mayRead = ["/a", "/b", "/a"];
    assert.deepEqual(await startedBy({ mayRead }), await canConfine() ? words : undefined);
  });

  it("starts all else as it is", async () => {
    assert.equal(await startedBy({}), undefined);
    assert.equal(await startedBy({ argv: ["docker", "compose"], mayRead: ["/a"] }), undefined);
  });
});
