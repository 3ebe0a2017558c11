/** The routes outside `/v1`: pages and files, with the middleware that all of them have. */
import type { Context as HonoContext } from 'hono'
import { Hono } from 'hono'
import { cors } from 'hono/cors'
import { routePath } from 'hono/route'
import { type Services, SystemContext } from '#runtime/context'
import { type ApiError, refuse } from '#runtime/errors'
import { jsonHeaders, logFailure, toErrorAnswer, toResponse } from '#runtime/gateway/answers'
import { toApiError } from '#runtime/gateway/api-error'
import { type Deadline, type PendingAnswer, timeoutError } from '#runtime/gateway/deadline'
import { decodeParameter, parseQuery } from '#runtime/gateway/input'
import type { Worker } from '#runtime/jobs/worker'
import { PageRequest } from '#runtime/page'
import type { Registry } from '#runtime/registry/loaded'
import { parseTrace, runWithTrace } from '#runtime/trace'
import { newId } from '#runtime/values/ids'
import { callerAddress, closeIfStalled, type Env, receivedBytes } from './env.ts'
import { withRequestedUrl } from './loopback.ts'
import { checkSandboxRequest } from './sandbox-guard.ts'
import { rawPath, rawQuery } from './target.ts'

interface RouteEnv {
  Bindings: Env
  Variables: { requestId: string; waiting: PendingAnswer }
}
export type PublicRoutes = Hono<RouteEnv>
type Call = HonoContext<RouteEnv>

/** Builds an app without routes. Paths are matched as sent, without decoding, so a fixed segment has one spelling. */
export function publicRoutes({ clock, log }: Services): PublicRoutes {
  const hono: PublicRoutes = new Hono<RouteEnv>({ getPath: rawPath })
  hono.use(async (c, next) => {
    c.set('requestId', newId(clock.ms()))
    await runWithTrace(parseTrace(c.req), next)
  })
  hono.notFound((c) => redirectWithoutSlash(c) ?? answerRefusal(c, refuse('not_found', 'No such address')))
  hono.onError((error, c) => {
    const refusal = toApiError(error)
    logFailure(log, error, refusal, { requestId: c.get('requestId'), path: getPattern(c) })
    return answerRefusal(c, refusal)
  })
  return hono
}

/** People type or paste an address with a slash at its end: a GET is redirected to the address without it. */
function redirectWithoutSlash(c: Call): Response | null {
  if (c.req.method !== 'GET' && c.req.method !== 'HEAD') return null
  const path = /^((?:\/[^/]+)+)\/+$/.exec(c.req.path)?.[1]
  return path === undefined ? null : c.redirect(`${path}${rawQuery(c.req.raw)}`, 308)
}

/** The route's pattern. It is logged instead of the path, in which some parameters are secret tokens. */
const getPattern = (c: Call): string => routePath(c, -1)

const answerRefusal = (c: Call, refusal: ApiError): Response =>
  toResponse(toErrorAnswer(refusal, jsonHeaders(c.get('requestId'))))

/**
 * Refuses control characters and invalid UTF-8 in path and query of all routes that are added after it; in the query of
 * a page for people only in what the page reads.
 */
export function refuseInvalidText(hono: PublicRoutes, pages: Registry['pages']): void {
  const forPeople = new Set(pages.filter((page) => page.forPeople).map((page) => page.path))
  hono.use(async (c, next) => {
    for (const segment of c.req.path.split('/')) decodeParameter(segment, 'path')
    if (!forPeople.has(getPattern(c))) parseQuery(rawQuery(c.req.raw))
    await next()
  })
}

/**
 * Lets scripts of any site read the answers of pages with `cors`. Added before everything that may refuse, so that
 * scripts can read refusals too.
 */
export function corsRoutes(hono: PublicRoutes, { clock }: Services, pages: Registry['pages']): void {
  const allowAllOrigins = cors({
    origin: '*',
    allowMethods: ['GET', 'POST', 'OPTIONS'],
    allowHeaders: ['Content-Type', 'If-None-Match', 'Idempotency-Key'],
    exposeHeaders: ['Age', 'Date', 'ETag', 'Idempotency-Replayed', 'Retry-After', 'X-Request-Id'],
    maxAge: 86_400,
  })
  for (const path of new Set(pages.filter((page) => page.cors).map((page) => page.path))) {
    hono.use(path, allowAllOrigins, async (c, next) => {
      await next()
      c.header('date', clock.now().toUTCString())
    })
  }
}

/**
 * Logs a streamed answer that fails midway; the adapter would write to the console instead. Also cuts the connection,
 * so that the client does not take the part for the whole. If the client disconnects, nothing is logged.
 */
export function logBrokenAnswers(hono: PublicRoutes, { log }: Services): void {
  hono.use(async (c, next) => {
    await next()
    // Only streamed answers have a length here; texts are complete.
    if (!c.res.headers.has('content-length') || !c.res.body) return
    const outgoing = c.env?.outgoing
    const onBroken = (error: unknown): void => {
      log.error({ requestId: c.get('requestId'), path: getPattern(c), err: error }, 'streamed answer aborted')
      outgoing?.destroy()
    }
    const { status, headers, body } = c.res
    const length = Number(headers.get('content-length'))
    c.res = undefined
    c.res = new Response(watchBody(body, { length, onBroken, isCut: outgoing !== undefined }), {
      status,
      headers,
    })
  })
}

/** Calls `onBroken` if the body fails before `length` bytes. `isCut`: the connection is cut, which tells the reader. */
function watchBody(
  body: ReadableStream<Uint8Array>,
  { length, onBroken, isCut }: { length: number; onBroken(error: unknown): void; isCut: boolean },
): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  let remaining = length
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read()
          if (done && remaining > 0) throw new Error(`it ended ${remaining} bytes early`)
          if (done) {
            controller.close()
            return
          }
          remaining -= value.length
          controller.enqueue(value)
        } catch (error) {
          onBroken(error)
          if (isCut) controller.close()
          else controller.error(error)
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}

/** Enforces the deadline of every route that is added after it. */
export function enforceDeadline(hono: PublicRoutes, deadline: Deadline): void {
  hono.use((c, next) =>
    deadline.race(
      (waiting) => {
        c.set('waiting', waiting)
        return next()
      },
      () => receivedBytes(c.env),
      () => {
        closeIfStalled(c.env)
        throw timeoutError(deadline)
      },
    ),
  )
}

/** Adds the routes of files and of the sections' pages. */
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
      const refused = page.sandboxOnly ? checkSandboxRequest(c.req.raw, settings) : null
      if (refused) throw refused
      if (page.mayTakeSeconds) c.get('waiting').allow(page.mayTakeSeconds * 1000)
      const request = new PageRequest(c.req.raw, page, c.req.path, callerAddress(c, settings.trustProxy))
      const named = withRequestedUrl(services, c.req.url)
      return page.handler(new SystemContext(named, log, c.get('requestId'), { worker }), request)
    })
  }
}
