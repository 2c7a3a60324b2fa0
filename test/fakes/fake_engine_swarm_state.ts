import type { JsonRecord } from "../../src/docker/json.ts";

/** A task of the fake swarm. */
export interface FakeTask {
  readonly id: string;
  readonly serviceId: string;
  readonly slot: number;
  readonly spec: JsonRecord;
  readonly iteration: number;
  readonly created: Date;
  state: string;
  desired: string;
  error: string;
  exitCode: number;
  /** When it came to its state. */
  since: Date;
  /** What it still becomes, the next first, and how long after the state before. */
  readonly becomes: { readonly afterMs: number; readonly change: Partial<FakeTask> }[];
}

/** A service of the fake swarm. */
export interface FakeService {
  readonly id: string;
  version: number;
  spec: JsonRecord;
  previous: JsonRecord | undefined;
  update: JsonRecord | undefined;
  iteration: number;
}

/** A config or secret of the fake swarm, with its content. */
export interface FakeObject {
  readonly id: string;
  readonly spec: JsonRecord;
  readonly version: number;
}

/** Everything the fake swarm knows. */
export class SwarmState {
  readonly services = new Map<string, FakeService>();
  /** Oldest first. */
  tasks: FakeTask[] = [];
  readonly configs = new Map<string, FakeObject>();
  readonly secrets = new Map<string, FakeObject>();
  #version = 10;

  nextVersion(): number {
    return ++this.#version;
  }
}
