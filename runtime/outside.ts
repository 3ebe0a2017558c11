/** The routes outside `/v1`: their addresses read the same way, their refusals answered in one form. */
import type { Context as HonoContext } from 'hono'
import { Hono } from 'hono'
import { type Services, SystemContext } from './context.ts'
import type { Deadline, Waiting } from './deadline.ts'
import { errorBody, Refusal, refuse, statusOf } from './errors.ts'
import { tooLate } from './gateway.ts'
import { newId } from './ids.ts'
import { decodeParameter, parseQuery } from './input.ts'
import { PageRequest, pathOf, searchOf } from './page.ts'
import { refusalFrom } from './refusal.ts'
import type { Registry } from './registry.ts'
import { canonicalPath } from './routes.ts'
import { refusalOfSandbox } from './sandbox-guard.ts'
import { clientAddress, type Env, receivedOf } from './web.ts'
import type { Worker } from './worker.ts'

interface Kept {
  Bindings: Env
  Variables: { requestId: string; waiting: Waiting }
}
export type Outside = Hono<Kept>
type Call = HonoContext<Kept>

/** Takes routes. Paths are matched as they were sent: a fixed segment has one way to be written. */
export function outsideRoutes({ clock, log }: Services): Outside {
  const hono: Outside = new Hono<Kept>({ getPath: pathOf })
  hono.use(async (c, next) => {
    c.set('requestId', newId(clock.ms()))
    await next()
  })
  hono.notFound((c) => refusedAnswer(c, refuse('not_found', 'No such address')))
  hono.onError((error, c) => {
    const refusal = refusalFrom(error)
    if (refusal.code === 'unavailable' || !(error instanceof Refusal)) {
      const level = refusal.code === 'unavailable' ? 'error' : 'warn'
      log[level]({ requestId: c.get('requestId'), path: c.req.path, err: error }, 'failed')
    }
    return refusedAnswer(c, refusal)
  })
  return hono
}

function refusedAnswer(c: Call, { code, message, headers }: Refusal): Response {
  const answer = new Response(errorBody(code, message), {
    status: statusOf(code),
    headers: {
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'x-request-id': c.get('requestId'),
      ...(code === 'unavailable' ? { 'retry-after': '5' } : {}),
      ...headers,
    },
  })
  return answer
}

/** Refuses an address that holds what no text may; what is added after this is behind it. */
export function refuseOddAddresses(hono: Outside): void {
  hono.use(async (c, next) => {
    const path = canonicalPath(c.req.path)
    if (path === null) throw refuse('not_found', 'No such address')
    for (const segment of path.split('/')) decodeParameter(segment, 'path')
    parseQuery(searchOf(c.req.raw))
    await next()
  })
}

/** Answers to scripts of any site, refusals too; added before what could refuse. */
export function corsRoutes(hono: Outside, pages: Registry['pages']): void {
  for (const path of new Set(pages.filter((page) => page.cors).map((page) => page.path))) {
    hono.use(path, async (c, next) => {
      await next()
      c.res = openToAll(c.res)
    })
    hono.options(path, () => new Response(null, { status: 204, headers: preflight }))
  }
}

/** Answers in time, whatever is behind; added before that. */
export function answerInTime(hono: Outside, deadline: Deadline): void {
  hono.use(async (c, next) => {
    const late = Promise.withResolvers<never>()
    const waiting = deadline.begin(
      () => receivedOf(c.env),
      () => late.reject(tooLate(deadline)),
    )
    c.set('waiting', waiting)
    try {
      await Promise.race([next(), late.promise])
    } finally {
      waiting.end()
    }
  })
}

/** Files, and the sections' pages. */
export function pageRoutes(
  hono: Outside,
  services: Services,
  pages: Registry['pages'],
  worker: Worker,
): void {
  const { adapters, settings, log } = services
  const { files } = adapters
  if (files) hono.all('/files/*', (c) => files(c.req.raw))
  for (const page of pages) {
    hono.on(page.method, page.path, async (c) => {
      const refused = page.sandboxOnly ? refusalOfSandbox(c.req.raw, settings) : null
      if (refused) throw refused
      if (page.mayTakeSeconds) c.get('waiting').allow(page.mayTakeSeconds * 1000)
      const ip = clientAddress(c.env, c.req.header('x-forwarded-for'), settings.trustProxy)
      const request = new PageRequest(c.req.raw, page, c.req.path, ip)
      return page.handler(new SystemContext(services, log, c.get('requestId'), worker), request)
    })
  }
}

const preflight = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET, POST, OPTIONS',
  'access-control-allow-headers': 'Content-Type, If-None-Match, Idempotency-Key',
  'access-control-max-age': '86400',
}

function openToAll(answer: Response): Response {
  const headers = new Headers(answer.headers)
  headers.set('access-control-allow-origin', '*')
  headers.set('access-control-expose-headers', 'ETag, Idempotency-Replayed, Retry-After, X-Request-Id')
  return new Response(answer.body, { status: answer.status, headers })
}
