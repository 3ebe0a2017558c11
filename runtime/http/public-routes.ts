/** The routes outside `/v1`: pages and files, with the middleware that all of them have. */
import type { Context as HonoContext } from 'hono'
import { Hono } from 'hono'
import { cors } from 'hono/cors'
import { routePath } from 'hono/route'
import { type Services, SystemContext } from '#runtime/context'
import { type Refusal, refuse } from '#runtime/errors'
import { jsonHeaders, logFailure, refusalAnswer, toResponse } from '#runtime/gateway/answers'
import { type Deadline, tooLate, type Waiting } from '#runtime/gateway/deadline'
import { decodeParameter, parseQuery } from '#runtime/gateway/input'
import { refusalFrom } from '#runtime/gateway/refusal'
import type { Worker } from '#runtime/jobs/worker'
import { PageRequest } from '#runtime/page'
import type { Registry } from '#runtime/registry/loaded'
import { traceOf, within } from '#runtime/trace'
import { newId } from '#runtime/values/ids'
import { callerAddress, type Env, receivedBytes } from './env.ts'
import { refusalOfSandbox } from './sandbox-guard.ts'
import { rawPath, rawQuery } from './target.ts'

interface Kept {
  Bindings: Env
  Variables: { requestId: string; waiting: Waiting }
}
export type PublicRoutes = Hono<Kept>
type Call = HonoContext<Kept>

/** An app without routes. Paths are matched as sent: a fixed segment has one spelling. */
export function publicRoutes({ clock, log }: Services): PublicRoutes {
  const hono: PublicRoutes = new Hono<Kept>({ getPath: rawPath })
  hono.use(async (c, next) => {
    c.set('requestId', newId(clock.ms()))
    await within(traceOf(c.req), next)
  })
  hono.notFound((c) => refusedAnswer(c, refuse('not_found', 'No such address')))
  hono.onError((error, c) => {
    const refusal = refusalFrom(error)
    logFailure(log, error, refusal, { requestId: c.get('requestId'), path: patternOf(c) })
    return refusedAnswer(c, refusal)
  })
  return hono
}

/** The route's pattern, for the log: some parameters are tokens that open what they name. */
const patternOf = (c: Call): string => routePath(c, -1)

const refusedAnswer = (c: Call, refusal: Refusal): Response =>
  toResponse(refusalAnswer(refusal, jsonHeaders(c.get('requestId'))))

/** Refuses control characters and invalid UTF-8 in path and query; guards what is added after it. */
export function refuseInvalidText(hono: PublicRoutes): void {
  hono.use(async (c, next) => {
    for (const segment of c.req.path.split('/')) decodeParameter(segment, 'path')
    parseQuery(rawQuery(c.req.raw))
    await next()
  })
}

/** Scripts of any site may read the answers, refusals too: added before what could refuse. */
export function corsRoutes(hono: PublicRoutes, pages: Registry['pages']): void {
  const allowAllOrigins = cors({
    origin: '*',
    allowMethods: ['GET', 'POST', 'OPTIONS'],
    allowHeaders: ['Content-Type', 'If-None-Match', 'Idempotency-Key'],
    exposeHeaders: ['ETag', 'Idempotency-Replayed', 'Retry-After', 'X-Request-Id'],
    maxAge: 86_400,
  })
  for (const path of new Set(pages.filter((page) => page.cors).map((page) => page.path))) {
    hono.use(path, allowAllOrigins)
  }
}

/**
 * Logs an answer that breaks off while it is sent, once: the adapter would write to the console. The connection is cut, so
 * that nobody takes a part for the whole. A client that leaves is no fault.
 */
export function logBrokenAnswers(hono: PublicRoutes, { log }: Services): void {
  hono.use(async (c, next) => {
    await next()
    // Only streamed answers announce a length; texts are complete.
    if (!c.res.headers.has('content-length') || !c.res.body) return
    const outgoing = c.env?.outgoing
    const told = (error: unknown): void => {
      log.error({ requestId: c.get('requestId'), path: patternOf(c), err: error }, 'an answer broke off')
      outgoing?.destroy()
    }
    const { status, headers, body } = c.res
    const length = Number(headers.get('content-length'))
    c.res = undefined
    c.res = new Response(untilBroken(body, { length, told, isCut: outgoing !== undefined }), {
      status,
      headers,
    })
  })
}

/** `isCut`: whoever reads it hears from the connection that it broke off. */
function untilBroken(
  body: ReadableStream<Uint8Array>,
  { length, told, isCut }: { length: number; told(error: unknown): void; isCut: boolean },
): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  let left = length
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read()
          if (done && left > 0) throw new Error(`it ended ${left} bytes early`)
          if (done) {
            controller.close()
            return
          }
          left -= value.length
          controller.enqueue(value)
        } catch (error) {
          told(error)
          if (isCut) controller.close()
          else controller.error(error)
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}

/** Answers in time, whatever the route does: added before the routes. */
export function answerInTime(hono: PublicRoutes, deadline: Deadline): void {
  hono.use((c, next) =>
    deadline.race(
      (waiting) => {
        c.set('waiting', waiting)
        return next()
      },
      () => receivedBytes(c.env),
      () => {
        throw tooLate(deadline)
      },
    ),
  )
}

/** Files, and the sections' pages. */
export function pageRoutes(
  hono: PublicRoutes,
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
      const request = new PageRequest(c.req.raw, page, c.req.path, callerAddress(c, settings.trustProxy))
      return page.handler(new SystemContext(services, log, c.get('requestId'), { worker }), request)
    })
  }
}
