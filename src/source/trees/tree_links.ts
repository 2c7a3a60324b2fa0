import { dirname } from "node:path/posix";
import { StackwrightError } from "../../model/mod.ts";

/** After so many links the kernel gives up, so nothing is reached. */
const MOST_HOPS = 40;

/**
 * Makes sure that no symbolic link of a tree leads out of it: not by an absolute target, not by its
 * text, and not through other links on its way. Links that lead nowhere or in circles stay.
 *
 * `links` holds targets by the path of the link. Throws `path_escapes` with the link and its target.
 */
export function checkLinks(links: ReadonlyMap<string, string>): void {
  for (const [path, target] of links) {
    const why = target.startsWith("/")
      ? "is absolute"
      : walk(path, target, new Map()) === "outside"
      ? "leaves the source"
      : walk(path, target, links) === "outside"
      ? "leaves the source through another link"
      : undefined;
    if (why === undefined) continue;
    throw new StackwrightError(
      "path_escapes",
      `the symbolic link ${JSON.stringify(path)} points to ${JSON.stringify(target)}, which ` +
        `${why}; links must stay inside the repository`,
    );
  }
}

/** Goes the way the kernel would go, part by part. */
function walk(
  path: string,
  target: string,
  links: ReadonlyMap<string, string>,
): "inside" | "outside" {
  const parent = dirname(path);
  const at = parent === "." ? [] : parent.split("/");
  const ahead = target.split("/").reverse();
  for (let hops = 0; ahead.length > 0;) {
    const part = ahead.pop() ?? "";
    if (part === "" || part === ".") continue;
    if (part === "..") {
      if (at.pop() === undefined) return "outside";
      continue;
    }
    at.push(part);
    const next = links.get(at.join("/"));
    if (next === undefined) continue;
    if (next.startsWith("/")) return "outside";
    if (++hops > MOST_HOPS) return "inside";
    at.pop();
    ahead.push(...next.split("/").reverse());
  }
  return "inside";
}
