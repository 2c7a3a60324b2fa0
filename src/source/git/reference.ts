import { createHash } from "node:crypto";
import { editDistance } from "../../config/mod.ts";
import { clip, errors } from "../../model/mod.ts";

type Reference =
  | { readonly kind: "commit"; readonly id: string }
  | { readonly kind: "head" }
  /** Full names on the remote in the order they are tried. */
  | { readonly kind: "name"; readonly candidates: readonly [string, ...string[]] };

/**
 * Reads a reference: a whole commit id, `HEAD`, a full name (`refs/…`) or a short one, which is a
 * branch first and a tag second.
 *
 * Throws `bad_request` when git could not hold such a name, or would take it for an option.
 */
export function parseReference(text: string): Reference {
  if (/^[0-9a-f]{40}$/i.test(text)) return { kind: "commit", id: text.toLowerCase() };
  if (text === "HEAD") return { kind: "head" };
  checkName(text);
  if (text.startsWith("refs/")) return { kind: "name", candidates: [text] };
  return { kind: "name", candidates: [`refs/heads/${text}`, `refs/tags/${text}`] };
}

/** Full names on the remote that answer for a reference, in the order they are tried. */
export function namesOf(reference: Reference): readonly string[] {
  if (reference.kind === "name") return reference.candidates;
  return reference.kind === "head" ? ["HEAD"] : [];
}

/** True when a text looks like the beginning of a commit id, which git servers cannot look up. */
export function isAbbreviatedId(text: string): boolean {
  return /^[0-9a-f]{4,39}$/i.test(text);
}

// deno-lint-ignore no-control-regex -- control characters are exactly what is refused
const FORBIDDEN = /[\u0000-\u0020\u007f~^:?*[\\]|\.\.|@\{|\/\/|\/\.|\.lock(?:\/|$)/;

/** True when git could hold a reference of that name and would not take it for an option. */
export function isReference(text: string): boolean {
  return text !== "" && text !== "@" && !/^[-./]/.test(text) && !/[./]$/.test(text) &&
    !FORBIDDEN.test(text) && text.length <= 1024;
}

function checkName(text: string): void {
  if (!isReference(text)) {
    const why =
      "is no Git reference: give a branch, a tag, a full name such as refs/heads/main, or " +
      "a 40-digit commit id";
    throw errors.bad_request(
      `${JSON.stringify(clip(text, 200))} ${why}`,
      { told: `it ${why}` },
    );
  }
}

/**
 * The name under which the mirror keeps what a remote reference named last. All names are flat, so
 * a branch `a` that becomes `a/b` upstream cannot conflict with what was fetched before. A name right
 * below `refs/` begins with a sign that no other has: the rest of it may be `HEAD`, or digits of a commit.
 */
export function localName(remoteName: string): string {
  const encoded = remoteName.replace(/^refs\//, "").replaceAll("%", "%25").replaceAll("/", "%2F");
  const short = /^refs\/[^/]*$/.test(remoteName) ? `%-${encoded}` : encoded;
  if (new TextEncoder().encode(short).length <= 200) return `refs/stackwright/${short}`;
  return `refs/stackwright/sha256-${createHash("sha256").update(remoteName).digest("hex")}`;
}

/** Namespace of the references that a search for a commit fetches; only a search writes there. */
export const SEARCH = "refs/stackwright-search";

/** Most pairs of letters that are compared to find near names: a server may list any number. */
const MOST_COMPARED = 500_000;

/** Up to three of `names` that a person who wrote `wanted` may have meant, nearest first. */
export function nearestNames(wanted: string, names: readonly string[]): string[] {
  const plain = shortName(wanted).toLowerCase();
  const most = Math.max(2, Math.floor(plain.length / 3));
  return names
    .filter((name) => Math.abs(shortName(name).length - plain.length) <= most)
    .slice(0, Math.ceil(MOST_COMPARED / ((plain.length + 1) * (plain.length + most + 1))))
    .map((name) => ({ name, distance: editDistance(plain, shortName(name).toLowerCase()) }))
    .filter(({ distance }) => distance <= most)
    .sort((one, other) => one.distance - other.distance || (one.name < other.name ? -1 : 1))
    .slice(0, 3)
    .map(({ name }) => name);
}

function shortName(name: string): string {
  return name.replace(/^refs\/(?:heads|tags)\//, "").slice(0, 100);
}
