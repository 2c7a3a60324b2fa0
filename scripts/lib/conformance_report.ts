/** One check of the suite, as it writes it down; only what is read here. */
export interface Check {
  readonly id: string;
  readonly status: string;
  readonly errorMessage?: string;
}

/** What the checks of one scenario led to. */
export interface Scenario {
  readonly name: string;
  readonly passed: number;
  /** Checks that failed for a reason that is no fault, with that reason. */
  readonly inapplicable: readonly { readonly check: string; readonly why: string }[];
  /** Other failed checks, each with the message of the suite. */
  readonly failed: readonly string[];
}

const OWN_TOOLS = "it calls tools of the suite's own";
const TOOLS_ONLY = "there are tools only";
const ASKS_NOTHING = "a stateless server asks its clients nothing";
const NO_LOG = "the log is not sent to clients";
const NO_TASKS = "the extension is not offered";
const NO_SUBSCRIPTION = "nothing ever changes that a client might subscribe to";

/** Checks that do not apply, by `scenario/check`; the first that matches counts. */
const INAPPLICABLE: readonly (readonly [RegExp, string])[] = [
  [/^(?:logging-set-level|tools-call-with-logging)\//, NO_LOG],
  [
    /^(?:tools-call-(?:sampling|elicitation)|elicitation-[^/]+|input-required-[^/]+)\//,
    ASKS_NOTHING,
  ],
  [/^(?:tools-call-[^/]+|json-schema-2020-12|http-custom-header-server-validation)\//, OWN_TOOLS],
  [
    /^server-stateless\/sep-2575-(?:server-rejects-undeclared-capability|missing-capability-http-400|http-server-no-independent-requests-on-stream|server-no-log-without-loglevel)$/,
    OWN_TOOLS,
  ],
  [
    /^server-stateless\/sep-2575-server-(?:sends-subscription-ack|tags-subscription-id)$/,
    NO_SUBSCRIPTION,
  ],
  [/^(?:(?:resources|prompts)-[^/]+|completion-complete)\//, TOOLS_ONLY],
  [/^caching\/sep-2549-(?:resources|prompts)-/, TOOLS_ONLY],
  [/^tasks-[^/]+\//, NO_TASKS],
];

/** Whether all that a server says has the form of the protocol: it applies whatever else is asked. */
const ALWAYS = "wire-schema-valid";

/** Judges the checks of a scenario: warnings and what the suite skipped are neither passed nor failed. */
export function judgeScenario(name: string, checks: readonly Check[]): Scenario {
  const failures = checks.filter(({ status }) => status === "FAILURE").map((check) => ({
    ...check,
    why: check.id === ALWAYS ? undefined : whyNot(`${name}/${check.id}`),
  }));
  return {
    name,
    passed: checks.filter(({ status }) => status === "SUCCESS").length,
    inapplicable: failures.flatMap(({ id, why }) => why === undefined ? [] : [{ check: id, why }]),
    failed: failures.flatMap(({ id, why, errorMessage = "no message" }) =>
      why === undefined ? [`${id}: ${errorMessage}`] : []
    ),
  };
}

function whyNot(check: string): string | undefined {
  return INAPPLICABLE.find(([pattern]) => pattern.test(check))?.[1];
}

/** The name of a scenario, of the directory with its results; `undefined` for another directory. */
export function scenarioOf(directory: string): string | undefined {
  return /^server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$/.exec(directory)?.[1];
}

/** Lines for people, and whether a server that these scenarios are about passes. */
export function reportOf(
  scenarios: readonly Scenario[],
): { readonly lines: readonly string[]; readonly passes: boolean } {
  const lines = scenarios.flatMap(({ name, passed, inapplicable, failed }) => [
    `${failed.length > 0 ? "FAILED" : passed > 0 ? "passed" : "-     "}  ${name}: ${passed} passed`,
    ...Object.entries(countBy(inapplicable.map(({ why }) => why))).map(([why, count]) =>
      `          ${count} inapplicable: ${why}`
    ),
    ...failed.map((each) => `          FAILED ${each}`),
  ]);
  const sum = (of: (scenario: Scenario) => number) =>
    scenarios.reduce((total, each) => total + of(each), 0);
  const failed = sum((each) => each.failed.length);
  const passed = sum((each) => each.passed);
  const inapplicable = sum((each) => each.inapplicable.length);
  return {
    lines: [
      ...lines,
      `${scenarios.length} scenarios: ${passed} checks passed, ${inapplicable} do not apply, ${failed} failed`,
    ],
    passes: failed === 0 && passed > 0,
  };
}

function countBy(words: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}
