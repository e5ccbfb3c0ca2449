/** Names of an object; unlike those of pods they are as the manifest gives them. */
export interface ObjectMetadata {
  readonly name: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}
