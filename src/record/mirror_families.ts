import type { Family } from "./metric_text.ts";

/** Metrics of one mirror of a repository. */
export interface MirrorFigures {
  readonly repository: string;
  readonly packs: number;
  readonly bytes: number;
}

/** The gauges of mirrors; mirrors of one repository are added up. */
export function mirrorFamilies(prefix: string, mirrors: readonly MirrorFigures[]): Family[] {
  const byRepository = [...Map.groupBy(mirrors, ({ repository }) => repository)];
  const gauge = (name: string, help: string, key: "packs" | "bytes"): Family => ({
    name: `${prefix}git_mirror_${name}`,
    kind: "gauge",
    help,
    samples: byRepository.map(([repository, all]) => ({
      labels: { repository },
      value: all.reduce((sum, each) => sum + each[key], 0),
    })),
  });
  return [
    gauge("packs", "Packfiles of the mirrors of a repository, submodules included.", "packs"),
    gauge("size_bytes", "Bytes of these packfiles.", "bytes"),
  ];
}
