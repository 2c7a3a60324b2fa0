import { COMPOSE_LABELS, messageOf, type ObservedContainer } from "../model/mod.ts";
import { type EngineApi, pathName } from "./api.ts";
import type { Engine } from "./engine.ts";
import { isEverybodys, labelFilters, sharingLists } from "./filters.ts";
import { asRecord, type JsonRecord } from "./json.ts";
import { LOG_LIMIT_MS, logQuery, readLog } from "./logs.ts";
import { members, short } from "./kept_parts.ts";
import { BINDS, bindsOf, JOINS, joinsOf, readingContainers } from "./observed_container.ts";
import { madeByCompose } from "./made_by_compose.ts";
import { detailed } from "./container_details.ts";
import { asName, whoseLabels } from "./told.ts";

const LIST = { method: "GET", path: "/containers/json" } as const;

/** The calls of an engine about existing containers. */
export function containerCalls(api: EngineApi) {
  const imagesInUse = sharingLists((_, signal) => {
    const of = (entry: JsonRecord) => asName(entry["ImageID"]);
    const shape = { keep: members(short("ImageID")), of };
    return api.list({ ...LIST, query: { all: true } }, shape, signal);
  });
  return {
    listContainers: sharingLists(async (labels, signal) => {
      const query = { all: true, ...labelFilters(labels) };
      const hasBinds = !isEverybodys(labels);
      const reading = readingContainers(labels, hasBinds ? BINDS : JOINS, (entry, read) => {
        const container = read(entry);
        api.turns.owners.see(container);
        return { ...container, ...hasBinds ? { binds: bindsOf(entry) } : joinsOf(entry) };
      });
      const listed = await api.list({ ...LIST, query }, reading, signal);
      return await madeByCompose(api, labels, listed, signal);
    }),
    everyContainer: (of, signal) => {
      const reading = readingContainers({}, {}, (entry, read) => of(read(entry)));
      return api.list({ ...LIST, query: { all: true } }, { ...reading, isWhole: true }, signal);
    },
    inspectContainer: async (id, signal) => {
      const answer = await inspect(api, id, signal);
      const details = answer && detailed(answer);
      if (details !== undefined) api.turns.owners.see(details.container);
      return details;
    },
    containerLogs: async (id, lines, signal) => {
      const path = `/containers/${pathName(id)}/logs`;
      const request = { method: "GET", path, limitMs: LOG_LIMIT_MS } as const;
      return await api.turns.inLogTime(request, signal, async (within, ofWhom) => {
        const config = asRecord((await inspect(api, id, within))?.["Config"]);
        const of = { isTerminal: config["Tty"] === true };
        return await ofWhom(whoseLabels(config["Labels"]), async () => {
          const response = await api.call({ ...request, query: logQuery(lines, of) }, within);
          return await readLog(response, { ...of, lines, clock: api.clock }, within);
        });
      });
    },
    removeContainer: (id, how, signal) => removeContainer(api, { id, ...how }, signal),
    imagesInUse: async (signal) => new Set(await imagesInUse({}, signal)),
  } satisfies Partial<Engine>;
}

/** Whether `compose run` or a job made this container; such containers belong to no stack. */
export function isOneOff(container: Pick<ObservedContainer, "labels">): boolean {
  return container.labels[COMPOSE_LABELS.oneOff]?.toLowerCase() === "true";
}

/** Removes a container that may be gone, or waits while another does: its name and ports are free then. */
export async function removeContainer(
  api: EngineApi,
  { id, force, volumes }: {
    readonly id: string;
    readonly force: boolean;
    readonly volumes: boolean;
  },
  signal: AbortSignal,
): Promise<void> {
  const path = `/containers/${pathName(id)}`;
  const remove = async () => {
    const query = { force, v: volumes };
    await api.send({ method: "DELETE", path, query, accept: [404] }, signal);
  };
  try {
    await remove();
  } catch (error) {
    if (!/\bremoval of container \S+ is already in progress/.test(messageOf(error))) throw error;
    const query = { condition: "removed" };
    await api.send({ method: "POST", path: `${path}/wait`, query, accept: [404] }, signal);
    // The other removal may have failed.
    await remove();
  }
}

function inspect(api: EngineApi, id: string, signal: AbortSignal): Promise<JsonRecord | undefined> {
  return api.find(`/containers/${pathName(id)}/json`, signal);
}
