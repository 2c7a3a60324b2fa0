import { posix } from "node:path";
import { LONGEST_SOURCE_PATH, withoutEnd } from "../model/mod.ts";
import type { Checked } from "./checked.ts";

/** Marks a file of the deployed repository rather than of the one with the configuration. */
export const REMOTE_PREFIX = "remote:";

// deno-lint-ignore no-control-regex -- these characters are what must be refused
const CONTROL = /[\u0000-\u001f\u007f]/;

/**
 * Cleans a working directory: relative to the root of the source, where a leading `/` is that root.
 * It must not leave the root; `..` counts as a part of the path, so `a..b` is an ordinary name.
 */
export function checkWorkingDir(text: string): Checked<string> {
  const bad = checkText(text);
  if (bad !== undefined) return { problem: bad };
  const path = clean(text.trim().replace(/^\/+/, ""));
  if (leaves(path)) return { problem: "the working directory leaves the root of the source" };
  return { value: path };
}

/** Cleans the path of a compose file: relative to the working directory and inside it. */
export function checkComposeFile(text: string): Checked<string> {
  const bad = checkText(text) ?? checkRelative(text);
  if (bad !== undefined) return { problem: bad };
  const path = clean(text.trim());
  if (path === ".") return { problem: "expected the name of a compose file, found a directory" };
  if (leaves(path)) return { problem: "the compose file leaves the working directory" };
  return { value: path };
}

/**
 * Cleans the path of a dotenv or secrets file, which may climb with `..` while it stays inside the
 * root of the source. The path is relative to `base`; `undefined` skips that check while the base is
 * not yet known. A `remote:` prefix stays.
 */
export function checkSideFile(text: string, base: string | undefined): Checked<string> {
  const remote = text.trim().startsWith(REMOTE_PREFIX);
  const bare = remote ? text.trim().slice(REMOTE_PREFIX.length) : text.trim();
  const bad = checkText(bare) ?? checkRelative(bare);
  if (bad !== undefined) return { problem: bad };
  const path = clean(bare);
  if (path === ".") return { problem: "expected the path of a file, found a directory" };
  if (base !== undefined && leaves(posix.join(base, path))) {
    return { problem: "the file is outside the root of the source" };
  }
  return { value: remote ? REMOTE_PREFIX + path : path };
}

function checkText(text: string): string | undefined {
  return CONTROL.test(text) ? "a path cannot contain control characters" : tooLongPath(text);
}

/** Most bytes of a name in a path, as on a disk. */
const LONGEST_NAME = 255;

/** The fault of a path that no file of a source can have because of its length. */
export function tooLongPath(path: string): string | undefined {
  if (path.length > LONGEST_SOURCE_PATH) {
    return `a path has at most ${LONGEST_SOURCE_PATH} characters, this one has ${path.length}`;
  }
  const encoder = new TextEncoder();
  const isLong = path.split("/").some((name) => encoder.encode(name).length > LONGEST_NAME);
  return isLong ? `a name in a path has at most ${LONGEST_NAME} bytes` : undefined;
}

function checkRelative(text: string): string | undefined {
  if (text.trim() === "") return "expected a path, found an empty text";
  return text.trim().startsWith("/")
    ? "expected a relative path, found an absolute one"
    : undefined;
}

function clean(path: string): string {
  const normal = posix.normalize(path);
  return normal === "/" ? normal : withoutEnd(normal, "/");
}

function leaves(path: string): boolean {
  return path === ".." || path.startsWith("../");
}
