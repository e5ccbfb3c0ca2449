/** What a node offers to pods and what it asks of them; none of it changes while the agent runs. */
export interface AdmissionNode {
  readonly nodeName: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  /**
   * What pods may ask for together: `cpu` in thousandths of a core, everything else in whole ones (bytes, pods). An
   * extended resource that is not here is one that nobody counts.
   */
  readonly allocatable: Readonly<Record<string, number>>;
  readonly appArmor: boolean;
  /** Sysctls beyond the safe ones that pods may set; `kernel.msg*` stands for all that begin so. */
  readonly allowedUnsafeSysctls: readonly string[];
  /** Whether the runtime can leave out the groups that the image gives its user. */
  readonly supplementalGroupsPolicy: boolean;
}

export interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
}

/** Why a node does not take a pod; reason and message are the kubelet's (facts sheet 4). */
export interface Refusal {
  readonly reason: string;
  readonly message: string;
}
