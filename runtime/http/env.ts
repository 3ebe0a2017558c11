/** The connection of a request, which Hono passes along as `c.env`. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { clientAddress } from './address.ts'

/** The values of `c.env`: `@hono/node-server` sets `incoming` and `outgoing`, tests only `ip`. */
export interface Env {
  incoming?: IncomingMessage
  outgoing?: ServerResponse
  ip?: string
}

interface Connected {
  env: Env | undefined
  req: { header(name: string): string | undefined }
}

/** The client's address as rate limits count it. */
export function callerAddress({ env, req }: Connected, trustProxy: number): string {
  const peer = env?.incoming?.socket.remoteAddress ?? env?.ip ?? 'unknown'
  return clientAddress(peer, trustProxy === 0 ? null : req.header('x-forwarded-for'), trustProxy)
}

/** Bytes that the request's connection has received. */
export const receivedBytes = (env: Env | undefined): number => env?.incoming?.socket.bytesRead ?? 0

/**
 * Closes the connection after the answer if the request's body has not arrived in whole: its client has stalled, and the
 * rest would hold the connection.
 */
export function closeIfStalled(env: Env | undefined): void {
  if (env?.incoming && env.outgoing && !env.incoming.complete) env.outgoing.shouldKeepAlive = false
}
