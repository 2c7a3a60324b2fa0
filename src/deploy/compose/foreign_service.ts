import type { ReleaseService } from "../../model/mod.ts";

/** Where compose notes what a container's service depends on: `db:service_healthy:false,...`. */
const DEPENDS_ON = "com.docker.compose.depends_on";

/** The services that a container's service depends on, whoever deployed it. */
export function dependenciesInLabels(labels: Readonly<Record<string, string>>): string[] {
  const text = labels[DEPENDS_ON] ?? "";
  return text.split(",").map((each) => each.split(":")[0] ?? "").filter((name) => name !== "");
}

/** A service of which only its containers are known, with what may be expected of it. */
export function serviceFromContainers(name: string, replicas: number): ReleaseService {
  return {
    name,
    digest: "",
    inputs: {},
    expectation: {
      replicas,
      restarts: false,
      mayFinish: true,
      oneShot: false,
      autostart: true,
    },
    image: "",
    builds: false,
    follows: {},
    dependsOn: [],
  };
}
