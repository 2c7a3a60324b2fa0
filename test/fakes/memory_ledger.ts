import { type StackKey, stackKey } from "../../src/model/mod.ts";
import type { PlannedStacks } from "../../src/pipeline/mod.ts";
import { InstanceKey, Ledger } from "../../src/record/mod.ts";
import type { Clock } from "../../src/system/mod.ts";
import { releaseOf } from "../unit/record/releases.ts";

/** A ledger without a file, in which nothing is recorded. */
export function createMemoryLedger(clock: Clock): Ledger {
  let count = 0;
  return new Ledger(":memory:", {
    key: new InstanceKey(new Uint8Array(32).fill(7)),
    clock,
    ids: { next: () => `id-${++count}` },
    redact: String,
  });
}

/** The stack of {@link recordShop}. */
export const SHOP: StackKey = stackKey("", "shop");

/** Records three releases of a stack, {@link SHOP} by default, of which the second is deployed, and a decision for each. */
export function recordShop(ledger: Ledger, clock: Clock, key: StackKey = SHOP): void {
  ["a", "b", "c"].forEach((letter, index) => {
    const image = `web:${index + 1}`;
    const model = { services: { web: { image } } };
    const intent = ledger.beginDeploy(releaseOf(key, letter.repeat(40), { model }));
    if (letter === "c") {
      const at = clock.now();
      ledger.fail(intent, "rolled_back", "web is unhealthy");
      ledger.failures.fail(key, { release: "c", source: "s", message: "no", at, automatic: true });
    } else ledger.succeed(intent, { web: `sha256:${letter}` }, "done");
    ledger.decisions.add(key, {
      trigger: "poll",
      origin: "automatic",
      revision: `refs/heads/main (${letter.repeat(12)})`,
      kind: "deploy",
      message: `recreate web with ${image}`,
      changes: [{ input: "compose.yaml", from: "1", to: "2" }],
      services: [{ name: "web", action: "recreate", because: ["its definition changed"] }],
      outcome: { status: "succeeded", message: "done" },
    }, clock.now());
  });
}

/** A stand-in for planning, after which {@link SHOP} would be deployed by the plan `p1`. */
export function planned(): Promise<PlannedStacks> {
  const services = [{ name: "web", action: "recreate", because: ["it changed"] } as const];
  const plan = { kind: "deploy", message: "recreate web", services } as const;
  const shop = { ...SHOP, id: "p1", plan, before: "a\n", after: "b\n" };
  return Promise.resolve({ stacks: [shop], failures: [] });
}
