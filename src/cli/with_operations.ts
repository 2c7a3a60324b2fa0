import type { Call, Operations, RunResult } from "../api/mod.ts";
import { type Assembly, type CommandGate, createCommandGate } from "../app.ts";
import { errors, isStackwrightError, type StackwrightError } from "../model/mod.ts";
import type { CommandIo } from "./io.ts";
import { liveProgress } from "./live_progress.ts";
import { withAssembly, type WorkOptions, type Workplace } from "./with_assembly.ts";

/** The parts of a command that is a face of operations. */
export interface Workbench extends Workplace {
  readonly gate: CommandGate;
  readonly operations: Operations;
  readonly call: Call;
}

/** The words of a run about one stack. Throws what ended it when that is not what was asked. */
export function whatBecame(
  { gate }: Pick<Workbench, "gate">,
  { outcome, run, detail }: RunResult,
): string {
  if (outcome === "complete") return run.deployments?.[0]?.message ?? "";
  throw gate.thrown() ?? errors.deploy_failed(detail ?? run.message ?? "");
}

/** Opens the data directory for one command that calls operations, and shows their progress. */
export async function withOperations<T>(
  io: CommandIo,
  work: (bench: Workbench) => Promise<T>,
  options: WorkOptions = {},
): Promise<T> {
  return await withAssembly(io, async (bench) => {
    const { settings, system, assembly } = bench;
    const gate = createCommandGate(settings, system, assembly);
    const watcher = liveProgress(io);
    gate.runs.subscribe(({ status, message, targets }) => {
      if (status === "running") watcher.step(message);
      targets.forEach((entry) => watcher.target(entry));
    });
    const call = { signal: io.signal, log: system.log };
    try {
      return await work({ ...bench, gate, operations: gate.operations, call });
    } catch (error) {
      throw isStackwrightError(error, "not_found") && !knowsStack(assembly, io.args)
        ? withDirectory(error, settings.data.dir)
        : error;
    }
  }, options);
}

/** Whether one of the arguments is a stack that the ledger knows: then it is the right ledger. */
function knowsStack({ ledger }: Assembly, args: readonly string[]): boolean {
  const known = [...ledger.deployedStacks(), ...ledger.decisions.latest()];
  return known.some(({ key }) => args.includes(key.name));
}

/** A command may look into another directory than the service beside it. */
function withDirectory(error: StackwrightError, directory: string): StackwrightError {
  const { message, problems } = error;
  const end = /[.?]$/.test(message) ? "" : ".";
  const text = `${message}${end} Looked at was DATA_DIR ${directory}: is that the service's?`;
  return errors.not_found(text, { cause: error, problems });
}
