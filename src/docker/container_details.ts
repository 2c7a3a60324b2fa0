import {
  COMPOSE_LABELS,
  type ContainerHealth,
  type ContainerState,
  type ObservedContainer,
} from "../model/mod.ts";
import type { ContainerDetails, ContainerEndpoint, ContainerMount } from "./engine.ts";
import {
  asList,
  asNumber,
  asRecord,
  asText,
  asTextList,
  type Json,
  type JsonRecord,
} from "./json.ts";
import { parseContainerStatus } from "./status.ts";
import { boundPorts, networksOf, ownLabels } from "./observed_container.ts";
import { asAnyName, asLabels, asName, asShown, LONGEST_ID } from "./told.ts";

/** Seconds that the engine gives a container without a grace period of its own. */
const DEFAULT_GRACE_SECONDS = 10;
/** Longest grace period in seconds, after which the engine counts as hanging. */
export const LONGEST_GRACE_SECONDS = 15 * 60;

/** The details of a container, from the engine's answer. */
export function detailed(answer: JsonRecord): ContainerDetails {
  const state = asRecord(answer["State"]);
  const health = asRecord(state["Health"]);
  const host = asRecord(answer["HostConfig"]);
  return {
    container: inspected(answer),
    startedAt: instant(asText(state["StartedAt"])),
    restartCount: asNumber(answer["RestartCount"]) ?? 0,
    stopTimeoutSeconds: Math.min(
      asNumber(asRecord(answer["Config"])["StopTimeout"]) ?? DEFAULT_GRACE_SECONDS,
      LONGEST_GRACE_SECONDS,
    ),
    error: asShown(state["Error"]),
    // The engine keeps its first 4096 bytes, and says so in three dots.
    healthOutput: asShown(asRecord(asList(health["Log"]).at(-1))["Output"]).replace(/\.{3}$/, "…"),
    ...lastCheckOf(asList(health["Log"]).at(-1)),
    mounts: asList(answer["Mounts"]).map((each) => mountOf(asRecord(each))),
    ...upperDirectoryOf(asRecord(asRecord(answer["GraphDriver"])["Data"])),
    endpoints: endpointsOf(answer),
    host,
  };
}

function inspected(answer: JsonRecord): ObservedContainer {
  const state = asRecord(answer["State"]);
  const labels = ownLabels(asLabels(asRecord(answer["Config"])["Labels"]));
  return {
    id: asName(answer["Id"], LONGEST_ID),
    name: asAnyName(asText(answer["Name"]).replace(/^\//, "")),
    service: labels[COMPOSE_LABELS.service] ?? "",
    ...inspectedStatus(asText(state["Status"]), asText(asRecord(state["Health"])["Status"])),
    exitCode: exitCodeOf(state),
    imageId: asAnyName(answer["Image"]),
    labels,
    hostPorts: boundPorts(asRecord(asRecord(answer["NetworkSettings"])["Ports"])),
    ...networksOf(answer),
  };
}

function endpointsOf(answer: JsonRecord): Record<string, ContainerEndpoint> {
  const networks = asRecord(asRecord(answer["NetworkSettings"])["Networks"]);
  return Object.fromEntries(
    Object.entries(networks).map(([name, each]) => {
      const endpoint = asRecord(each);
      const [ipv4, ipv6] = [endpoint["IPAddress"], endpoint["GlobalIPv6Address"]].map((each) =>
        asAnyName(each)
      );
      const aliases = asTextList(endpoint["Aliases"]).map(asAnyName);
      return [name, { ipv4: ipv4 ?? "", ipv6: ipv6 ?? "", aliases }];
    }),
  );
}

function lastCheckOf(entry: Json | undefined): Pick<ContainerDetails, "lastCheck"> {
  const check = asRecord(entry);
  const beganAt = instant(asText(check["Start"]));
  return beganAt === undefined ? {} : { lastCheck: { beganAt, passed: check["ExitCode"] === 0 } };
}

function mountOf(mount: JsonRecord): ContainerMount {
  const type = asText(mount["Type"]);
  return {
    kind: type === "bind" || type === "volume" ? type : "other",
    name: asAnyName(mount["Name"]),
    source: asAnyName(mount["Source"]),
    destination: asAnyName(mount["Destination"]),
    writable: mount["RW"] !== false,
  };
}

function upperDirectoryOf(layer: JsonRecord): Pick<ContainerDetails, "upperDirectory"> {
  const upperDirectory = asAnyName(layer["UpperDir"]);
  return upperDirectory === "" ? {} : { upperDirectory };
}

function inspectedStatus(
  status: string,
  health: string,
): { state: ContainerState; health: ContainerHealth } {
  const { state } = parseContainerStatus(status, "");
  // The engine keeps the last health of a stopped container, which is out of date.
  const known = state === "running" || state === "paused"
    ? (["starting", "healthy", "unhealthy"] as const).find((each) => each === health)
    : undefined;
  return { state, health: known ?? "none" };
}

function exitCodeOf(state: JsonRecord): number | undefined {
  const status = asText(state["Status"]);
  return status === "exited" || status === "restarting" || status === "dead"
    ? asNumber(state["ExitCode"])
    : undefined;
}

/** A time; `undefined` for year 1, which the engine writes for "never". */
function instant(text: string): Date | undefined {
  const date = new Date(text);
  return Number.isNaN(date.getTime()) || date.getUTCFullYear() <= 1 ? undefined : date;
}
