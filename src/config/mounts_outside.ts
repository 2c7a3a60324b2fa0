import { posix } from "node:path";
import { clip, type Problem, recordOf } from "../model/mod.ts";
import { type ComposeText, servicesIn } from "./compose_text.ts";

/** Most directories above a source that are certainly those of Stackwright. */
const SURELY_OURS = 3;

/** A mount of a relative path, below the root of the source, that its options may not let be made. */
export interface UnmadeMount {
  readonly path: string;
  readonly where: Pick<Problem, "path" | "line" | "column">;
}

/** Mounts with options of their own and without `create_host_path: true`, which need their source. */
export function unmadeMounts(read: ComposeText, base: string): UnmadeMount[] {
  return servicesIn(read).flatMap(({ name, service: { volumes, profiles }, lineOf }) =>
    // Rendering tells of a service with profiles, which may not be wanted.
    (Array.isArray(volumes) && profiles === undefined ? volumes : []).flatMap((volume, at) => {
      const { source, bind } = recordOf(volume);
      if (typeof source !== "string" || !/^\.\.?(?:\/|$)/.test(source)) return [];
      if (bind === undefined || recordOf(bind)["create_host_path"] === true) return [];
      const path = posix.join(base, source);
      if (path.startsWith("..") || source.includes("$")) return [];
      return [{
        path,
        where: { path: `services.${name}.volumes[${at}]`, ...lineOf("volumes", at) },
      }];
    })
  );
}

/** Mounts of relative paths that lead out of the source, where Stackwright's own files are. */
export function mountsOutside(read: ComposeText, base: string): Problem[] {
  return servicesIn(read).flatMap(({ name, service: { volumes }, lineOf }) =>
    (Array.isArray(volumes) ? volumes : []).flatMap((volume, at) => {
      const written = typeof volume === "string"
        ? volume.split(":")[0]
        : recordOf(volume)["source"];
      if (typeof written !== "string" || !/^\.\.?(?:\/|$)/.test(written)) return [];
      const climbs = posix.join(base, written).split("/").filter((part) => part === "..").length;
      if (climbs === 0 || climbs > SURELY_OURS || written.includes("$")) return [];
      const path = `services.${name}.volumes[${at}]`;
      const message = `volume ${clip(written, 200)} leads out of the repository, which no ` +
        "deployment may mount: put it into the repository, or write an absolute path";
      return [{ file: read.file, path, ...lineOf("volumes", at), message }];
    })
  );
}
