import type { ContainerBody, ContainerWish, EndpointBody } from "../../docker/create_bodies.ts";
import { compareVersions } from "../../docker/api_version.ts";
import { filled, listOf } from "../../model/mod.ts";
import { containerName, imageReference } from "../../compose/built_names.ts";
import { type JsonObject, objectAt, objectsAt, serviceOf, textAt } from "../../compose/model.ts";
import type { ContainerParts } from "./container_parts.ts";
import { endpointsOf } from "./endpoints.ts";
import { healthBody } from "./health_body.ts";
import { hostBody } from "./host_body.ts";
import { nanoseconds } from "./units.ts";

/** Request for a container; a pure function of its parts. */
export function containerWish(parts: ContainerParts): ContainerWish {
  const { model, number, api } = parts;
  const service: JsonObject = serviceOf(model, parts.service);
  const name = containerName(model, parts.service, number);
  const endpoints = Object.entries(endpointsOf(parts));
  const several = compareVersions(api, "1.44") >= 0;
  const atOnce = Object.fromEntries(several ? endpoints : endpoints.slice(0, 1));
  return {
    name,
    platform: textAt(service, "platform"),
    body: {
      ...processBody(service, parts),
      ...(endpoints.length === 0 ? {} : { NetworkingConfig: { EndpointsConfig: atOnce } }),
    },
    connect: Object.fromEntries(several ? [] : endpoints.slice(1)) as Record<string, EndpointBody>,
  };
}

function processBody(service: JsonObject, parts: ContainerParts): ContainerBody {
  const { api, model } = parts;
  const words = (key: string, name: keyof ContainerBody) => {
    const value = service[key];
    return Array.isArray(value) ? { [name]: value.map(String) } : {};
  };
  const grace = service["stop_grace_period"];
  return {
    Image: imageReference(model, parts.service),
    AttachStdout: true,
    AttachStderr: true,
    Labels: parts.labels,
    Env: environmentOf(service, parts.variables),
    // An empty list differs from none: it removes the image's entrypoint.
    ...words("command", "Cmd"),
    ...words("entrypoint", "Entrypoint"),
    ...filled({
      Hostname: textAt(service, "hostname"),
      Domainname: textAt(service, "domainname"),
      User: textAt(service, "user"),
      WorkingDir: textAt(service, "working_dir"),
      StopSignal: textAt(service, "stop_signal"),
      MacAddress: compareVersions(api, "1.44") < 0 ? textAt(service, "mac_address") : "",
      Tty: service["tty"] === true || undefined,
      OpenStdin: service["stdin_open"] === true || undefined,
      StopTimeout: grace === undefined ? undefined : Math.trunc(nanoseconds(grace) / 1e9),
      ExposedPorts: Object.fromEntries(exposedPorts(service).map((port) => [port, {}])),
    }),
    ...healthBody(service, api),
    HostConfig: hostBody(service, parts),
  };
}

/** Environment of the container; a name without a value removes the image's variable. */
export function environmentOf(
  service: JsonObject,
  variables: Readonly<Record<string, string>> = {},
): string[] {
  const merged = { ...variables, ...objectAt(service, "environment") };
  return Object.entries(merged).map(([name, value]) =>
    value === null ? name : `${name}=${String(value)}`
  );
}

function exposedPorts(service: JsonObject): string[] {
  const published = objectsAt(service, "ports").map((port) =>
    `${port["target"]}/${textAt(port, "protocol") || "tcp"}`
  );
  const exposed = listOf(service["expose"]);
  return [...new Set([...published, ...exposed.flatMap((each) => portsOf(String(each)))])];
}

/** `91-93/udp` as single ports. */
function portsOf(range: string): string[] {
  const [numbers = "", protocol = "tcp"] = range.split("/");
  const [first = 0, last = first] = numbers.split("-").map(Number);
  return Array.from(
    { length: Math.max(0, last - first + 1) },
    (_, index) => `${first + index}/${protocol.toLowerCase()}`,
  );
}
