/** Who a TLS server is, and by whom its clients must be signed; all as PEM. */
export interface TlsIdentity {
  readonly cert: string;
  readonly key: string;
  readonly clientCa: string;
}
