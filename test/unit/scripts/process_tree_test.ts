import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import process from "node:process";
import { describe, it } from "node:test";
import { killTree, type Running, treeOf } from "../../../scripts/lib/process_tree.ts";

const running = (id: number, parent: number, command = "program"): Running => ({
  id,
  parent,
  command,
  isMarked: false,
});

describe("the tree of a process", () => {
  it("is it with all below it, and nobody beside it", () => {
    const all = [running(5, 4), running(2, 1), running(3, 2), running(4, 3), running(6, 1)];
    assert.deepEqual(treeOf(2, all), [2, 3, 4, 5]);
    assert.deepEqual(treeOf(6, all), [6]);
    assert.deepEqual(treeOf(7, all), [7]);
  });

  it("has what is marked, whoever is above it now, with what is below that", () => {
    const left = { ...running(3, 1), isMarked: true };
    assert.deepEqual(treeOf(2, [left, running(4, 3), running(5, 1)]), [2, 3, 4]);
  });

  it("leaves the guard of an engine of one's own, which takes away what the killed leave", () => {
    const guard = running(3, 2, "sh scripts/lib/own_engine.sh guard 2 100 /tmp/a ");
    const all = [{ ...guard, isMarked: true }, running(4, 3), running(5, 2)];
    assert.deepEqual(treeOf(2, all), [2, 5]);
  });
});

const skip = process.platform === "linux" ? false : "processes are told by Linux";

describe("a killed tree", { skip }, () => {
  it("leaves nothing that goes on, in sessions of its own neither, and whoever holds its output", async () => {
    // The second one is left by the shell that starts it.
    const script = "setsid sh -c 'sleep 1000 & echo $! $$; wait' & " +
      "sh -c 'setsid sleep 1000 & echo $!'; wait";
    const mark = crypto.randomUUID();
    const root = spawn("sh", ["-c", script], {
      env: { ...process.env, TEST_TREE: mark },
      stdio: ["ignore", "pipe", "inherit"],
    });
    let said = "";
    for await (const chunk of root.stdout.iterator({ destroyOnReturn: false })) {
      said += new TextDecoder().decode(chunk as Uint8Array);
      if (said.trim().split(/\s+/).length === 3) break;
    }
    const ended = once(root, "close");
    killTree(root.pid ?? 0, `TEST_TREE=${mark}`);
    // The last one that had its output has ended, too.
    root.stdout.resume();
    await ended;
    const left = said.trim().split(/\s+/).filter((id) => existsSync(`/proc/${id}/exe`));
    assert.deepEqual(left, []);
  });
});
