import { createTimeFormat } from "../system/mod.ts";
import type { CommandIo } from "./io.ts";

/** Prints an instant for people: to the second, in the zone they live in. */
export type PeopleTime = (instant: Date) => string;

/** Instants as people read them, `2026-03-10 12:00:00`, in the zone of `TZ`, else of this machine. */
export function peopleTime({ env }: Pick<CommandIo, "env">): PeopleTime {
  const here = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  const format = createTimeFormat((env["TZ"] ?? "").trim() || here || "UTC");
  return (instant) => format(instant).slice(0, 19).replace("T", " ");
}

const INSTANTS = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)/g;

/** A sentence of ours with its instants as people read them; those that are none stay. */
export function withPeopleTimes(text: string, time: PeopleTime): string {
  return text.replace(INSTANTS, (found) => {
    const instant = new Date(found);
    return Number.isNaN(instant.getTime()) ? found : time(instant);
  });
}

const UNITS: readonly (readonly [seconds: number, name: string])[] = [
  [24 * 60 * 60, "d"],
  [60 * 60, "h"],
  [60, "min"],
];

/** The age of something, in its largest unit: `3 d`, `5 min`, `12 s`. */
export function age(instant: Date, now: Date): string {
  const seconds = Math.max(0, Math.floor((now.getTime() - instant.getTime()) / 1000));
  const [size, name] = UNITS.find(([unit]) => seconds >= unit) ?? [1, "s"];
  return `${Math.floor(seconds / size)} ${name}`;
}
