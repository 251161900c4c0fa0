/** The certificates that services present to the client, which tells of them on a channel of Node's. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { TLSSocket } from "node:tls";

/** As undici names it; its message holds the socket. */
const channel = "undici:client:connected";

export interface Certificate {
  validUntil: Date;
  /** The common name or the organisation of who vouches for it. */
  issuer: string;
}

interface Connected {
  connectParams: { hostname: string };
  socket: unknown;
}

/** Told of the certificate at each connection to the host of `baseUrl`; gives what ends that. */
export function watchCertificates(
  baseUrl: string,
  onCertificate: (certificate: Certificate) => void,
): () => void {
  const host = new URL(baseUrl).hostname.replace(/^\[|\]$/g, "");
  const onConnected = (message: unknown) => {
    const { connectParams, socket } = message as Connected;
    // A proxy has one of its own.
    if (connectParams.hostname !== host || !(socket instanceof TLSSocket)) return;
    const certificate = socket.getPeerX509Certificate();
    if (!certificate) return;
    const { validTo, issuer } = certificate;
    const [, name] = /^(?:CN|O)=(.+)$/m.exec(issuer) ?? [];
    onCertificate({ validUntil: new Date(validTo), issuer: name ?? issuer });
  };
  subscribe(channel, onConnected);
  return () => void unsubscribe(channel, onConnected);
}
