/** What becomes of a target is told once, here; whoever wants to know is a listener. */
export { decisionListener } from "./decision_listener.ts";
export { logListener } from "./log_listener.ts";
export { meterListener } from "./meter_listener.ts";
export { runListener } from "./run_listener.ts";
export { createTeller, type Teller } from "./teller.ts";
