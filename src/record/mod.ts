/**
 * What Stackwright remembers: the runs of this process in memory, so that a caller can follow and
 * look up what was asked for.
 */
export * from "./runs.ts";
