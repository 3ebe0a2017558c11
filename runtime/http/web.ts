/** The long way into the gateway, with standard requests and answers: what `listener.ts` leaves alone, and the tests. */

import type { Answer } from '#runtime/gateway/call'
import type { Gateway } from '#runtime/gateway/gateway'
import type { RouteTable } from '#runtime/gateway/routes'
import { readBytes, utf8Text } from './body.ts'
import { type Env, Incoming } from './request.ts'

type Fetch = (request: Request, env?: Env) => Response | Promise<Response>

/** Answers what is addressed to `/v1` and below, and leaves the rest to `others`. */
export function gatewayFirst(gateway: Gateway, routes: RouteTable, trustProxy: number, others: Fetch): Fetch {
  return (request, env) => {
    const { url } = request
    const pathAt = url.indexOf('/', url.indexOf('//') + 2)
    if (!url.startsWith('/v1', pathAt) || !/[/?#]|^$/.test(url.charAt(pathAt + 3))) {
      return others(request, env)
    }
    const hashAt = url.indexOf('#', pathAt)
    const address = hashAt < 0 ? url.slice(pathAt) : url.slice(pathAt, hashAt)
    const call = new WebCall(request, env, address, trustProxy)
    const answer = call.answer(gateway, routes)
    const respond = call.method === 'HEAD' ? toHeadResponse : toResponse
    return answer instanceof Promise ? answer.then(respond) : respond(answer)
  }
}

class WebCall extends Incoming {
  readonly #request: Request
  readonly #env: Env | undefined

  constructor(request: Request, env: Env | undefined, address: string, trustProxy: number) {
    super(request.method, address, trustProxy)
    this.#request = request
    this.#env = env
  }

  protected get env(): Env | undefined {
    return this.#env
  }

  header(name: string): string | undefined {
    return this.#request.headers.get(name) ?? undefined
  }

  async readBody(atMost: number): Promise<string> {
    return utf8Text(await readBytes(this.#request, this.header('content-length'), atMost))
  }
}

function toResponse({ status, body, headers }: Answer): Response {
  const empty = status === 204 || status === 304 || body === ''
  return new Response(empty ? null : body, { status, headers })
}
const toHeadResponse = ({ status, headers }: Answer): Response => new Response(null, { status, headers })
