/**
 * Bodies of the Engine API for services, configs and secrets, with the fields that we use. The
 * engine ignores unknown fields silently, so every field is typed.
 */
import type { HealthBody, HostBody, Maybe, Texts, VolumeOptionsBody } from "./create_bodies.ts";

/** Body of `POST /services/create` and of an update. Durations are nanoseconds. */
export interface ServiceBody {
  readonly Name: string;
  readonly Labels: Texts;
  readonly TaskTemplate: TaskBody;
  readonly Mode: ModeBody;
  readonly UpdateConfig?: UpdateBody;
  readonly RollbackConfig?: UpdateBody;
  readonly EndpointSpec?: EndpointSpecBody;
}

/** The template for each task of a service. */
export interface TaskBody {
  readonly ContainerSpec: TaskContainerBody;
  readonly Resources?: Maybe<"Limits" | "Reservations", ResourceBody>;
  readonly RestartPolicy?:
    & Maybe<"Condition", string>
    & Maybe<"Delay" | "MaxAttempts" | "Window", number>;
  readonly Placement?: PlacementBody;
  readonly Networks?: readonly AttachmentBody[];
  readonly LogDriver?: { readonly Name: string; readonly Options: Texts };
  readonly ForceUpdate?: number;
}

/** The container of a task. */
export interface TaskContainerBody
  extends
    Maybe<"Hostname" | "Dir" | "User" | "StopSignal" | "Isolation", string>,
    Maybe<"Env" | "Groups" | "CapabilityAdd" | "CapabilityDrop", readonly string[]>,
    Maybe<"TTY" | "OpenStdin" | "ReadOnly" | "Init", boolean>,
    Maybe<"StopGracePeriod", number>,
    Maybe<"Labels" | "Sysctls", Texts> {
  readonly Image: string;
  /** The entrypoint. */
  readonly Command?: readonly string[];
  /** Compose's `command`. */
  readonly Args?: readonly string[];
  readonly Privileges?: {
    readonly NoNewPrivileges?: boolean;
    readonly CredentialSpec?: Maybe<"Config" | "File" | "Registry", string>;
    readonly SELinuxContext?:
      & Maybe<"Disable", boolean>
      & Maybe<"User" | "Role" | "Type" | "Level", string>;
  };
  readonly Mounts?: readonly TaskMountBody[];
  readonly Healthcheck?: HealthBody;
  /** Lines `address name` of a hosts file. */
  readonly Hosts?: readonly string[];
  readonly DNSConfig?: Maybe<"Nameservers" | "Search" | "Options", readonly string[]>;
  readonly Secrets?: readonly FileReferenceBody[];
  readonly Configs?: readonly FileReferenceBody[];
  readonly Ulimits?: HostBody["Ulimits"];
}

/** A config or secret in a container. */
export interface FileReferenceBody
  extends Maybe<"SecretID" | "SecretName" | "ConfigID" | "ConfigName", string> {
  readonly File: Readonly<Record<"Name" | "UID" | "GID", string>> & { readonly Mode: number };
}

/** A mount of a task. */
export interface TaskMountBody {
  readonly Type: "bind" | "volume" | "tmpfs" | "npipe" | "cluster";
  readonly Source?: string;
  readonly Target: string;
  readonly ReadOnly?: boolean;
  readonly Consistency?: string;
  readonly BindOptions?: Maybe<"Propagation", string> & Maybe<"NonRecursive", boolean>;
  readonly VolumeOptions?: VolumeOptionsBody & {
    readonly DriverConfig?: { readonly Name?: string; readonly Options?: Texts };
  };
  readonly TmpfsOptions?: Maybe<"SizeBytes" | "Mode", number>;
}

/** Limits or reservations of a task. */
interface ResourceBody extends Maybe<"NanoCPUs" | "MemoryBytes" | "Pids", number> {
  readonly GenericResources?: readonly {
    readonly DiscreteResourceSpec: { readonly Kind: string; readonly Value: number };
  }[];
}

/** Nodes on which tasks may run. */
interface PlacementBody {
  readonly Constraints?: readonly string[];
  readonly Preferences?: readonly { readonly Spread: { readonly SpreadDescriptor: string } }[];
  readonly MaxReplicas?: number;
  readonly Platforms?: readonly { readonly Architecture: string; readonly OS: string }[];
}

/** A network of a task. */
interface AttachmentBody {
  readonly Target: string;
  readonly Aliases?: readonly string[];
  readonly DriverOpts?: Texts;
}

/** The number of tasks. */
export type ModeBody =
  | { readonly Replicated: { readonly Replicas: number } }
  | { readonly Global: Record<string, never> }
  | { readonly ReplicatedJob: Readonly<Record<"MaxConcurrent" | "TotalCompletions", number>> }
  | { readonly GlobalJob: Record<string, never> };

/** Rules for replacing tasks. */
export interface UpdateBody
  extends
    Maybe<"Delay" | "Monitor" | "MaxFailureRatio", number>,
    Maybe<"FailureAction" | "Order", string> {
  readonly Parallelism: number;
}

/** Published ports, and how a service's name resolves. */
interface EndpointSpecBody {
  readonly Mode?: "vip" | "dnsrr";
  readonly Ports?: readonly {
    readonly Name?: string;
    readonly Protocol: string;
    readonly TargetPort: number;
    readonly PublishedPort?: number;
    readonly PublishMode: "ingress" | "host";
  }[];
}

/** Body of `POST /configs/create` and `POST /secrets/create`. */
export interface ObjectBody {
  readonly Name: string;
  readonly Labels: Texts;
  /** Base64. */
  readonly Data: string;
}
