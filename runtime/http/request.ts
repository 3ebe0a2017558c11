/** A request below `/v1` as both ways in read it (`listener.ts`, `web.ts`): they differ in headers and body alone. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Refusal } from '#runtime/errors'
import type { Answer, IncomingCall } from '#runtime/gateway/call'
import type { Gateway } from '#runtime/gateway/gateway'
import type { RouteTable } from '#runtime/gateway/routes'
import { clientAddress } from './address.ts'

/** What `@hono/node-server` passes along; tests pass the address alone. */
export interface Env {
  incoming?: IncomingMessage
  outgoing?: ServerResponse
  ip?: string
}

/** Bytes that have come on the connection of a request. */
export const receivedOf = (env: Env | undefined): number => env?.incoming?.socket.bytesRead ?? 0

/** The address that counts for limits. */
export const addressOfClient = (
  env: Env | undefined,
  forwarded: string | null | undefined,
  trustProxy: number,
): string => clientAddress(env?.incoming?.socket.remoteAddress ?? env?.ip ?? 'unknown', forwarded, trustProxy)

const noParams: Record<string, string> = {}

export abstract class Incoming implements IncomingCall {
  readonly method: string
  readonly address: string
  readonly search: string
  params = noParams
  fault: Refusal | null = null
  /** Below `/v1`. */
  readonly #path: string
  readonly #trustProxy: number

  /** `address`: path and query as they were sent. */
  constructor(method: string, address: string, trustProxy: number) {
    const searchAt = address.indexOf('?')
    this.method = method
    this.address = address
    this.#path = address.slice('/v1'.length, searchAt < 0 ? undefined : searchAt)
    this.search = searchAt < 0 ? '' : address.slice(searchAt)
    this.#trustProxy = trustProxy
  }

  protected abstract get env(): Env | undefined
  abstract header(name: string): string | undefined
  abstract readBody(atMost: number): Promise<string>

  get ip(): string {
    const forwarded = this.#trustProxy === 0 ? undefined : this.header('x-forwarded-for')
    return addressOfClient(this.env, forwarded, this.#trustProxy)
  }

  received(): number {
    return receivedOf(this.env)
  }

  /** Finds its operation and hands it over; a HEAD is a GET whose body nobody wants. */
  answer(gateway: Gateway, routes: RouteTable): Answer | Promise<Answer> {
    const route = routes.find(this.method === 'HEAD' ? 'GET' : this.method, this.#path)
    if (route) {
      this.params = route.params
      this.fault = route.fault
    }
    return gateway.handle(route?.operation ?? null, this)
  }
}
