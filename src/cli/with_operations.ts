import type { Call, Operations } from "../api/mod.ts";
import { createCommandGate } from "../app.ts";
import type { CommandIo } from "./io.ts";
import { withAssembly, type Workplace } from "./with_assembly.ts";

/** What a command that is a face of operations works with. */
export interface OperationsPlace extends Workplace {
  readonly operations: Operations;
  readonly call: Call;
}

/** Opens the data directory for one command that calls operations, and closes it afterwards. */
export async function withOperations<T>(
  io: CommandIo,
  work: (place: OperationsPlace) => Promise<T>,
): Promise<T> {
  return await withAssembly(io, async (place) => {
    const { settings, system, assembly } = place;
    const { operations } = createCommandGate(settings, system, assembly);
    return await work({ ...place, operations, call: { signal: io.signal, log: system.log } });
  });
}
