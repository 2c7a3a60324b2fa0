import { COMPOSE_LABELS, type ReleaseService } from "../../model/mod.ts";

/** The services that a container's service depends on, whoever deployed it. */
export function dependenciesInLabels(labels: Readonly<Record<string, string>>): string[] {
  // Compose writes the label as `db:service_healthy:false,...`.
  const text = labels[COMPOSE_LABELS.dependsOn] ?? "";
  return text.split(",").map((each) => each.split(":")[0] ?? "").filter((name) => name !== "");
}

/** A service known only by its containers, with the expectations that hold for any. */
export function serviceFromContainers(name: string, replicas: number): ReleaseService {
  return {
    name,
    digest: "",
    inputs: {},
    expectation: { replicas, restarts: false, mayFinish: true, oneShot: false, autostart: true },
    image: "",
    builds: false,
    follows: {},
    dependsOn: [],
  };
}
