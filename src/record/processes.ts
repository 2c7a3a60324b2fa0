import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { join } from "node:path";
import {
  chmodNow,
  existsNow,
  namesNow,
  processNamespace,
  removeNow,
  systemProcessOwner,
} from "../system/mod.ts";
import { isLocked, lockFile } from "./file_lock.ts";

/** Processes that change stacks by one ledger. */
export interface Processes {
  /** Name of this one; no other has it, in another container or with another ledger in this one either. */
  readonly own: string;
  /** Whether a process still runs, or cannot be told to have ended. */
  isAlive(name: string): boolean;
  /** Lets others see that this process runs. Called within a write transaction of the ledger. */
  enter(): void;
  /** Takes {@link enter} back. May be called twice. */
  leave(): void;
}

/** Names of the files that processes lock; the one part is the process's name. */
const LOCK = /^process-(.+)\.lock$/;
/** Anybody who reads the data directory may ask: another user's process, too. */
const LOCK_MODE = 0o644;

/**
 * The processes that share the data directory `dir`. Each has a file there and holds its lock: ids of
 * processes mean nothing in another container. A process of an earlier version has none, and is told by
 * its id.
 */
export function processesOf(dir: string, own: string = ownName()): Processes {
  const fileOf = (name: string) => join(dir, `process-${name}.lock`);
  let unlock: (() => void) | undefined;
  return {
    own,
    isAlive: (name) =>
      name.includes("@") ? isLocked(fileOf(name)) : systemProcessOwner().isAlive(name),
    enter() {
      if (unlock !== undefined && existsNow(fileOf(own))) return;
      unlock?.();
      // No other process makes such a file meanwhile: it would write the ledger.
      for (const file of namesNow(dir).filter((each) => LOCK.test(each))) {
        if (!isLocked(join(dir, file))) removeNow(join(dir, file));
      }
      unlock = lockFile(fileOf(own));
      chmodNow(fileOf(own), LOCK_MODE);
    },
    leave() {
      if (unlock !== undefined) removeNow(fileOf(own));
      unlock?.();
      unlock = undefined;
    },
  };
}

/** The name of a process for people: its id, with the host or container where that is known. */
export function shownProcess(name: string): string {
  return name.split(":")[0] ?? name;
}

function ownName(): string {
  const [pid, start = "0"] = systemProcessOwner().id.split(":");
  const host = hostname().replaceAll(/[^\w.-]/g, "_");
  return `${pid}@${host}:${start}:${processNamespace()}:${randomUUID()}`;
}
