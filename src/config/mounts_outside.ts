import { posix } from "node:path";
import { type Problem, recordOf } from "../model/mod.ts";
import type { ComposeText } from "./compose_keys.ts";
import { lineOf } from "./compose_lines.ts";

/** Most directories above a source that are certainly those of Stackwright. */
const SURELY_OURS = 3;

/** Mounts of relative paths that lead out of the source, where Stackwright's own files are. */
export function mountsOutside({ file, documents, lines }: ComposeText, base: string): Problem[] {
  const problems: Problem[] = [];
  for (const document of documents) {
    const services = recordOf(recordOf(document.toJS())["services"]);
    for (const [service, value] of Object.entries(services)) {
      const { volumes } = recordOf(value);
      for (const [at, volume] of (Array.isArray(volumes) ? volumes : []).entries()) {
        const written = typeof volume === "string"
          ? volume.split(":")[0]
          : recordOf(volume)["source"];
        if (typeof written !== "string" || !/^\.\.?(?:\/|$)/.test(written)) continue;
        const climbs = posix.join(base, written).split("/").filter((part) => part === "..").length;
        if (climbs === 0 || climbs > SURELY_OURS || written.includes("$")) continue;
        const place = lineOf({ documents: [document], lines }, [
          "services",
          service,
          "volumes",
          at,
        ]);
        const message = `volume ${written.slice(0, 200)} leads out of the repository, which no ` +
          "deployment may mount: put it into the repository, or write an absolute path";
        problems.push({ file, path: `services.${service}.volumes[${at}]`, ...place, message });
      }
    }
  }
  return problems;
}
