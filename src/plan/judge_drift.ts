import {
  clip,
  type Drift,
  type DriftPolicy,
  type EngineRestarts,
  fitting,
  type FoundDrift,
  isOrphan,
} from "../model/mod.ts";
import { type RestartLoop, restartLoops, withRestarts } from "./engine_restarts.ts";

/** Most entries of inspected drift to judge; further ones follow once these are repaired. */
const MOST_FIELDS = 1000;
/** Characters of them all: status and metrics read those of all stacks. */
const MOST_CHARACTERS = 512 * 1024;
/** Characters to keep of a value. */
const LONGEST_FOUND = 300;

/** Judgement on drift that was found. */
interface JudgedDrift {
  /** Drift to repair, without that which a new container did not remove: it would recur. */
  readonly mended: readonly Drift[];
  /** Inspected drift that was not found before. */
  readonly news: readonly Drift[];
  /** Containers that the engine has begun to start again and again. */
  readonly loops: readonly RestartLoop[];
  /** Drift to record. */
  readonly found: FoundDrift;
}

/**
 * Judges drift that a list (`listed`) and inspections (`fields`, `restarts`) show, after `before`. Orphans are
 * mended, which removes them, only where the deployment has `removeOrphans`: they may run on purpose.
 */
export function judgeDrift(
  { listed, fields: looked, restarts: restarted = [], before }: {
    readonly listed: readonly Drift[];
    readonly fields: readonly Drift[];
    readonly before: FoundDrift | undefined;
    readonly restarts?: readonly EngineRestarts[];
  },
  { drift: policy, removeOrphans = false }: {
    readonly drift: DriftPolicy;
    readonly removeOrphans?: boolean;
  },
  now: Date,
): JudgedDrift {
  const fields = fitting(looked.slice(0, MOST_FIELDS), MOST_CHARACTERS, brief);
  const all = [...listed, ...fields];
  // An orphan is in it that an adoption kept; all else that a list shows comes back as often as it strays.
  const tried = before?.tried.filter(isIn([...fields, ...listed.filter(isOrphan)])) ?? [];
  const [isTried, isKnown] = [isIn(tried), isIn(before?.fields)];
  const restarts = withRestarts(before?.restarts, restarted, now);
  const isMended = (each: Drift) => !isTried(each) && (removeOrphans || !isOrphan(each));
  const looping = new Set(
    restartLoops({ restarts: before?.restarts ?? [] }, now).map(({ id }) => id),
  );
  return {
    mended: policy === "repair" ? all.filter(isMended) : [],
    news: fields.filter((each) => !isKnown(each)),
    loops: restartLoops({ restarts }, now).filter(({ id }) => !looping.has(id)),
    found: {
      ...{ count: all.filter((each) => !isOrphan(each)).length, fields, tried },
      ...(restarts.length === 0 ? {} : { restarts }),
    },
  };
}

function brief(drift: Drift): Drift {
  const { field, wanted, found } = drift;
  const values = { field: short(field), wanted: short(wanted), found: short(found) };
  return { ...shortNamed(drift), ...values };
}

function shortNamed({ container, ...drift }: Drift): Drift {
  if (container === undefined) return drift;
  return { ...drift, container: { ...container, name: short(container.name) } };
}

function short(text: string): string {
  return clip(text, LONGEST_FOUND);
}

/** Drift as it is remembered to have been tried: once for all containers of a service that have it. */
export function toRemember(drift: readonly Drift[]): Drift[] {
  return [...new Map(drift.map((each) => [sameDrift(each), shortNamed(each)])).values()];
}

function isIn(list: readonly Drift[] | undefined): (each: Drift) => boolean {
  const known = new Set(list?.map(sameDrift));
  return (each) => known.has(sameDrift(each));
}

/** Identifies drift of a container and of its replacement as the same. */
function sameDrift({ service, field, wanted, found }: Drift): string {
  return JSON.stringify([service, field, wanted, found]);
}
