/**
 * Bodies that the Engine API takes to make containers, networks and volumes, as far as we ask for it.
 * The engine ignores a name that it does not know and answers as if all were well, so every name is
 * typed.
 */

/** Labels, options, or anything else that is a text by its name. */
export type Texts = Readonly<Record<string, string>>;

/** Members that may be there, all of one type; their names with `|` between them. */
export type Maybe<Name extends string, Value> = { readonly [Each in Name]?: Value };

/** Body of `POST /containers/create`. */
export interface ContainerBody
  extends
    Maybe<"Cmd" | "Entrypoint", readonly string[]>,
    Maybe<"Hostname" | "Domainname" | "User" | "WorkingDir" | "StopSignal", string>,
    Maybe<"Tty" | "OpenStdin", boolean> {
  readonly Image: string;
  readonly AttachStdout: boolean;
  readonly AttachStderr: boolean;
  readonly Labels: Texts;
  readonly Env: readonly string[];
  /** Seconds. */
  readonly StopTimeout?: number;
  /** Only for engines that know no address of an endpoint (API before 1.44). */
  readonly MacAddress?: string;
  readonly Healthcheck?: HealthBody;
  readonly ExposedPorts?: Readonly<Record<string, Record<string, never>>>;
  readonly HostConfig: HostBody;
  readonly NetworkingConfig?: Record<"EndpointsConfig", Readonly<Record<string, EndpointBody>>>;
}

/** A health check; times are nanoseconds, 0 for the engine's own. */
export interface HealthBody
  extends Readonly<Record<"Interval" | "Timeout" | "StartPeriod" | "Retries", number>> {
  readonly Test: readonly string[] | null;
  readonly StartInterval?: number;
}

/** The share of its host that a container gets. */
export type HostBody =
  & Maybe<"NetworkMode" | "IpcMode" | "PidMode" | "UTSMode" | "CgroupnsMode" | "UsernsMode", string>
  & Maybe<"CgroupParent" | "Runtime" | "CpusetCpus", string>
  & Maybe<"Init" | "ReadonlyRootfs" | "Privileged" | "OomKillDisable", boolean>
  & Maybe<"CapAdd" | "CapDrop" | "SecurityOpt" | "MaskedPaths" | "ReadonlyPaths", readonly string[]>
  & Maybe<"GroupAdd" | "Dns" | "DnsSearch" | "DnsOptions" | "ExtraHosts", readonly string[]>
  & Maybe<"VolumesFrom" | "Binds" | "DeviceCgroupRules", readonly string[]>
  & Maybe<"Annotations" | "Sysctls" | "StorageOpt" | "Tmpfs", Texts>
  & Maybe<"OomScoreAdj" | "ShmSize" | "Memory" | "MemorySwap" | "MemorySwappiness", number>
  & Maybe<"MemoryReservation" | "NanoCpus" | "CpuShares" | "CpuPeriod" | "CpuQuota", number>
  & Maybe<"PidsLimit", number>
  & {
    readonly LogConfig?: { readonly Type: string; readonly Config: Texts };
    readonly RestartPolicy?: { readonly Name: string; readonly MaximumRetryCount: number };
    readonly PortBindings?: Readonly<Record<string, readonly PortBody[]>>;
    readonly Mounts?: readonly MountBody[];
    readonly Ulimits?: readonly Readonly<{ Name: string; Soft: number; Hard: number }>[];
    readonly Devices?: readonly Readonly<
      Record<"PathOnHost" | "PathInContainer" | "CgroupPermissions", string>
    >[];
  };

/** One port of the host. */
export interface PortBody {
  readonly HostIp: string;
  readonly HostPort: string;
}

/** One mount that a line of text cannot say. */
export interface MountBody {
  readonly Type: "bind" | "volume" | "tmpfs";
  readonly Source?: string;
  readonly Target: string;
  readonly ReadOnly: boolean;
  readonly BindOptions?:
    & Maybe<"Propagation", string>
    & Maybe<"CreateMountpoint" | "NonRecursive", boolean>
    & Maybe<"ReadOnlyNonRecursive" | "ReadOnlyForceRecursive", boolean>;
  readonly VolumeOptions?: VolumeOptionsBody;
  readonly TmpfsOptions?: Maybe<"SizeBytes" | "Mode", number>;
}

/** What a mounted volume is, besides its name. */
export interface VolumeOptionsBody {
  readonly NoCopy?: boolean;
  readonly Subpath?: string;
  readonly Labels?: Texts;
}

/** A container's place in one network. */
export interface EndpointBody {
  readonly Aliases: readonly string[];
  readonly IPAMConfig?:
    & Maybe<"IPv4Address" | "IPv6Address", string>
    & Maybe<"LinkLocalIPs", readonly string[]>;
  readonly MacAddress?: string;
  readonly DriverOpts?: Texts;
  readonly GwPriority?: number;
}

/** Body of `POST /networks/create`. */
export interface NetworkBody
  extends
    Maybe<"CheckDuplicate" | "Internal" | "Attachable" | "EnableIPv4" | "EnableIPv6", boolean> {
  readonly Name: string;
  readonly Driver?: string;
  readonly Options?: Texts;
  readonly Labels: Texts;
  readonly IPAM?: {
    readonly Driver?: string;
    readonly Config?: readonly (
      & Maybe<"Subnet" | "IPRange" | "Gateway", string>
      & Maybe<"AuxiliaryAddresses", Texts>
    )[];
  };
}

/** Body of `POST /volumes/create`. */
export interface VolumeBody {
  readonly Name: string;
  readonly Driver?: string;
  readonly DriverOpts?: Texts;
  readonly Labels: Texts;
}

/** A container to be made. */
export interface ContainerWish {
  readonly name: string;
  /** Such as `linux/arm64`; empty for the engine's own. */
  readonly platform: string;
  readonly body: ContainerBody;
  /** Networks by name that it is connected to after it was made, for engines that take one (API before 1.44). */
  readonly connect: Readonly<Record<string, EndpointBody>>;
}
