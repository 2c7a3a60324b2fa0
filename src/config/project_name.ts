import { withoutEnd } from "../model/mod.ts";

/** Most characters of a name, which becomes part of container names and a directory. */
export const LONGEST_NAME = 128;

/** True for a name that compose accepts for a project, and disks for a directory. */
export function isProjectName(name: string): boolean {
  return name.length <= LONGEST_NAME && /^[a-z0-9][a-z0-9_-]*$/.test(name);
}

/** The project name nearest to `name`, empty when nothing of it can be used. */
export function normaliseName(name: string): string {
  const usable = name.trim().toLowerCase().replace(/[^a-z0-9_-]+/g, "-").replace(/^[_-]+/, "");
  return withoutEnd(usable, "-").slice(0, 60);
}
