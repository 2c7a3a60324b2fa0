import { join } from "node:path/posix";
import { fewOf, shortId, utf8 } from "../../model/mod.ts";
import type { ExpandedTree, TreeFile } from "./expanded_tree.ts";
import type { TreeJob, TreeParts } from "./tree_job.ts";

const ATTRIBUTES = /(?:^|\/)\.gitattributes$/;

/** Warns of Git LFS pointer files, which are deployed instead of the content that they stand for. */
export async function warnOfPointers(
  { files, log }: TreeParts,
  { tree, written, made }: { tree: ExpandedTree; written: readonly string[]; made: string },
  { expand, place }: TreeJob,
): Promise<void> {
  const hasAttributes = [...tree.files.keys()].some((path) => ATTRIBUTES.test(path));
  if (log === undefined || !hasAttributes) return;
  const pointers: string[] = [];
  for (const path of written) {
    if (!mayBePointer(tree.files.get(path))) continue;
    const bytes = await files.readIfExists(join(made, path), POINTER_SIZES.most);
    if (bytes !== undefined && isLfsPointer(bytes)) pointers.push(path);
  }
  if (pointers.length === 0) return;
  const about = { repository: expand.source.name, revision: shortId(place.commit) };
  const shown = fewOf(pointers, 5);
  log.warning(`Git LFS is not supported, these files are only pointers: ${shown}`, about);
}

function mayBePointer(file: TreeFile | undefined): boolean {
  return file !== undefined && file.kind !== "symlink" &&
    file.size >= POINTER_SIZES.least && file.size <= POINTER_SIZES.most;
}

/** Sizes in bytes between which every pointer file of Git LFS lies. */
const POINTER_SIZES = { least: 100, most: 1024 } as const;

const POINTER = /^version https:\/\/git-lfs\.github\.com\/spec\/v1\n/;

/** True when a file is the pointer that Git LFS commits in place of the real content. */
export function isLfsPointer(bytes: Uint8Array): boolean {
  if (bytes.length < POINTER_SIZES.least || bytes.length > POINTER_SIZES.most) return false;
  const text = utf8(bytes);
  return POINTER.test(text) && /^oid sha256:[0-9a-f]{64}$/m.test(text);
}
