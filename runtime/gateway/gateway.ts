/**
 * The one way of every request below `/v1`: the steps, in their order. Each step refuses by throwing, or leaves what
 * it found on the call; a step that has nothing to wait for returns nothing, so a cached key costs no promise.
 */
import { performance } from 'node:perf_hooks' // the global of that name is looked up anew at each use
import type { Access, StoreFacts } from '#db/access'
import { Context, type Services } from '#runtime/context'
import { type ErrorCode, Refusal, refuse, statusOf } from '#runtime/errors'
import { JsonText } from '#runtime/operation'
import type { LoadedOperation, Registry } from '#runtime/registry/registry'
import { movesOf } from '#runtime/schema'
import { type RequestLine, requestLogOf } from '#runtime/server/log'
import type { Metrics } from '#runtime/server/metrics'
import { refusalOf } from './access.ts'
import type { Deadline } from './deadline.ts'
import { etagOf, isNamedBy } from './etag.ts'
import * as idempotency from './idempotency.ts'
import { identityOf, type Reader, readersOf } from './if-match.ts'
import { parseJson, parseQuery, read, readBodyAs } from './input.ts'
import type { KeyRing } from './keys.ts'
import type { RateLimiter, Verdict } from './rate-limit.ts'
import { refusalFrom } from './refusal.ts'

export const bodyAtMost = 15 * 1024 * 1024

/** A request on its way. */
export interface Call {
  readonly gateway: Gateway
  readonly request: IncomingCall
  readonly operation: LoadedOperation | null
  readonly requestId: string
  /** On the machine's own running clock. */
  readonly startedAt: number
  /** The clock, in milliseconds, as read since the last wait; `running` is the machine's own, likewise. */
  now: number
  running: number
  readonly headers: Record<string, string>
  access: Access | null
  text: string
  query: unknown
  body: unknown
  /** Of its Idempotency-Key, while it runs. */
  claim: idempotency.Claim | null
  context: Context | null
  answer: Answer | null
  /** Of the limit that counted last: the headers tell of it. */
  verdict: Verdict | null
  /** Counts that the shared database has not answered yet: a read goes on meanwhile, and waits before it answers. */
  counting: { verdict: Promise<Verdict>; whose: string }[] | null
  /** It was answered without its result, which must not hold any more. */
  isLate: boolean
}

/** What the server hands over, whichever way the request came in. */
export interface IncomingCall {
  method: string
  /** Path and query as sent. */
  address: string
  search: string
  ip: string
  params: Record<string, string>
  /** Why a parameter of the path cannot be read. */
  fault: Refusal | null
  /** Whether the address was counted before, with the request that this one is a part of. */
  isCounted?: boolean
  header(name: string): string | undefined
  /** Bytes that have come on its connection. */
  received?(): number
  /** The body as text; refuses past `atMost` bytes while it streams. */
  readBody(atMost: number): Promise<string>
}

export interface Answer {
  status: number
  body: string
  headers: Record<string, string>
}

export interface GatewayOptions {
  /** Tests: every answer must fit its schema, every refusal be declared, every readOnly operation only read. */
  strict?: boolean
}

/** A refusal that many requests get is answered by returning it: throwing costs as much as all other checks. */
type Step = (call: Call) => Promise<void> | Refusal | void

/** The order of the checks (conventions §4). */
const steps: readonly Step[] = [
  limitAddress,
  identifyKey,
  limitStore,
  findRoute,
  authorise,
  readBody,
  readInput,
  replay,
  runHandler,
]

export class Gateway {
  readonly services: Services
  readonly registry: Registry
  readonly keys: KeyRing
  readonly addresses: RateLimiter
  readonly stores: RateLimiter
  readonly metrics: Metrics
  readonly deadline: Deadline
  readonly strict: boolean
  readonly #logRequest: (line: RequestLine) => void
  readonly #processId = Math.random().toString(36).slice(2, 8).padEnd(6, '0')
  #requests = 0

  constructor(
    services: Services,
    registry: Registry,
    parts: {
      keys: KeyRing
      addresses: RateLimiter
      stores: RateLimiter
      metrics: Metrics
      deadline: Deadline
    },
    options: GatewayOptions = {},
  ) {
    this.services = services
    this.#logRequest = requestLogOf(services.log)
    this.registry = registry
    this.keys = parts.keys
    this.addresses = parts.addresses
    this.stores = parts.stores
    this.metrics = parts.metrics
    this.deadline = parts.deadline
    this.strict = options.strict ?? false
  }

  /**
   * Answers a request, at once where no step had to wait; never throws. `operation` null: no route has this address.
   */
  handle(operation: LoadedOperation | null, request: IncomingCall): Answer | Promise<Answer> {
    const call = this.#begin(operation, request)
    let pending: Promise<void> | Refusal | void
    try {
      pending = walk(call, 0)
    } catch (error) {
      return this.#refused(call, error)
    }
    if (!pending) return this.#answered(call, call.answer!)
    if (pending instanceof Refusal) return this.#refused(call, pending)
    return this.#inTime(call, pending)
  }

  #begin(operation: LoadedOperation | null, request: IncomingCall): Call {
    this.#requests += 1
    const requestId = `${this.#processId}-${this.#requests.toString(36)}`
    const startedAt = performance.now()
    return {
      gateway: this,
      request,
      operation,
      requestId,
      startedAt,
      now: this.services.clock.ms(),
      running: startedAt,
      headers: {
        'content-type': 'application/json',
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'x-request-id': requestId,
      },
      access: null,
      text: '',
      query: undefined,
      body: undefined,
      claim: null,
      context: null,
      answer: null,
      verdict: null,
      counting: null,
      isLate: false,
    }
  }

  /**
   * For a door of another form than an operation's: counts the address, then looks up the key. Answers the refusal, or
   * null and the headers of the count.
   */
  async enter(request: IncomingCall): Promise<{ refusal: Answer } | { headers: Record<string, string> }> {
    const call = this.#begin(null, request)
    try {
      await limitAddress(call)
      await identifyKey(call)
    } catch (error) {
      return { refusal: await this.#refused(call, error) }
    }
    const headers = { 'x-request-id': call.requestId }
    tellLimit(headers, call.verdict)
    return { headers }
  }

  /** What comes of a request that has to wait, or a refusal once its time is over. */
  #inTime(call: Call, pending: Promise<void>): Promise<Answer> {
    const { request } = call
    return new Promise((resolve) => {
      const waiting = this.deadline.begin(
        () => request.received?.() ?? 0,
        () => {
          resolve(this.#late(call))
        },
      )
      pending.then(
        () => {
          waiting.end()
          resolve(this.#answered(call, call.answer!))
        },
        (error) => {
          waiting.end()
          resolve(this.#refused(call, error))
        },
      )
    })
  }

  /** What the request still does is undone where it can be, and answers nobody. */
  #late(call: Call): Answer {
    const refusal = tooLate(this.deadline)
    this.services.log.error({ requestId: call.requestId, operation: call.operation?.id }, refusal.message)
    const headers = { ...call.headers, 'retry-after': '5' }
    const answer = this.#answered(call, { status: statusOf(refusal.code), body: refusal.body(), headers })
    call.isLate = true
    return answer
  }

  /** Counts and logs what leaves. */
  #answered(call: Call, answer: Answer): Answer {
    if (call.isLate) return answer
    tellLimit(answer.headers, call.verdict)
    const endedAt = performance.now()
    const milliseconds = endedAt - call.startedAt
    const name = call.operation?.id ?? 'unknown'
    this.metrics.observe(name, answer.status, milliseconds)
    this.#logRequest({
      requestId: call.requestId,
      method: call.request.method,
      operation: name,
      status: answer.status,
      ms: milliseconds,
      endedAt,
      store: call.access?.storeId,
      key: call.access?.keyId,
    })
    return answer
  }

  #refused(call: Call, error: unknown): Answer | Promise<Answer> {
    if (!call.counting) return this.#failed(call, error)
    return overruled(call, error).then((first) => this.#failed(call, first))
  }

  #failed(call: Call, error: unknown): Answer | Promise<Answer> {
    let refusal = refusalFrom(error, { ifMatch: call.request.header('if-match') !== undefined })
    if (refusal.code === 'unavailable' || !(error instanceof Refusal)) {
      const level = refusal.code === 'unavailable' ? 'error' : 'warn'
      this.services.log[level](
        { requestId: call.requestId, operation: call.operation?.id, err: error },
        'failed',
      )
    }
    if (this.strict) refusal = undeclared(call, refusal) ?? refusal
    const { headers } = call
    if (refusal.headers) Object.assign(headers, refusal.headers)
    if (refusal.code === 'unavailable') headers['retry-after'] ??= '5'
    const answer = { status: statusOf(refusal.code), body: refusal.body(), headers }
    if (!call.claim || !call.context) return this.#answered(call, answer)
    const { context, claim } = call
    claim.end()
    const settled: Promise<unknown> =
      refusal.code === 'unavailable'
        ? claim.giveBack(context)
        : claim.keep(context, { ...answer, headers: {} })
    return settled
      .catch((failure) =>
        this.services.log.error(
          { requestId: call.requestId, err: failure },
          'idempotency key was not settled',
        ),
      )
      .then(() => this.#answered(call, answer))
  }
}

function tellLimit(headers: Record<string, string>, verdict: Verdict | null): void {
  if (!verdict) return
  headers['ratelimit-limit'] = String(verdict.limit)
  headers['ratelimit-remaining'] = String(verdict.remaining)
  headers['ratelimit-reset'] = String(verdict.resetSeconds)
}

/** Takes the steps from `first` on; a promise only from the first one that has to wait. */
function walk(call: Call, first: number): Promise<void> | Refusal | void {
  for (let i = first; i < steps.length && !call.answer; i += 1) {
    const pending = steps[i]!(call)
    if (pending instanceof Refusal) return pending
    if (pending) return pending.then(() => walkOn(call, i + 1))
  }
  if (call.counting) return settleCounts(call)
}

function walkOn(call: Call, next: number): Promise<void> | void {
  call.now = call.gateway.services.clock.ms()
  call.running = performance.now()
  const pending = walk(call, next)
  if (pending instanceof Refusal) throw pending
  return pending
}

function limitAddress(call: Call): Promise<void> | void {
  if (call.request.isCounted) return
  return limit(call, call.gateway.addresses, call.request.ip, 'this address')
}

function identifyKey(call: Call): Promise<void> | void {
  if (call.operation?.spec.public) return
  const authorization = call.request.header('authorization')
  const key = authorization && /^bearer /i.test(authorization) ? authorization.slice(7).trim() : null
  if (!key) throw unknownKey()
  // What nobody here has seen work may be a guess: the address is counted before the database is asked of it.
  if (call.counting && !call.gateway.keys.hasWorked(key)) {
    return settleCounts(call).then(() => lookUp(call, key))
  }
  return lookUp(call, key)
}

function lookUp(call: Call, key: string): Promise<void> | void {
  const found = call.gateway.keys.find(key, call.now, call.running)
  if (found instanceof Promise) return found.then((access) => identified(call, access))
  identified(call, found)
}

function identified(call: Call, access: Access | null): void {
  if (!access) throw unknownKey()
  call.access = access
}

/** One sentence for every reason: it tells a stranger nothing. */
const unknownKey = (): Refusal =>
  new Refusal(
    'unauthorized',
    'The API key is missing, invalid, expired or revoked: send Authorization: Bearer <key>',
    {
      'www-authenticate': 'Bearer',
    },
  )

function limitStore(call: Call): Promise<void> | void {
  if (!call.access) return
  return limit(call, call.gateway.stores, call.access.storeId, 'this store')
}

function limit(call: Call, limiter: RateLimiter, key: string, whose: string): Promise<void> | void {
  const verdict = limiter.hit(key, call.now)
  if (!(verdict instanceof Promise)) return limited(call, verdict, whose)
  if (!call.operation?.spec.readOnly) return verdict.then((late) => limited(call, late, whose))
  // Counted in the same round trip as the read itself.
  verdict.catch(() => undefined) // settleCounts waits for it, and throws what it threw
  call.counting ??= []
  call.counting.push({ verdict, whose })
}

async function settleCounts(call: Call): Promise<void> {
  for (const { verdict, whose } of call.counting!) limited(call, await verdict, whose)
}

/** A limit comes before every other refusal, also where its count was slower. */
async function overruled(call: Call, error: unknown): Promise<unknown> {
  try {
    await settleCounts(call)
    return error
  } catch (limit) {
    return limit
  }
}

function limited(call: Call, verdict: Verdict, whose: string): void {
  call.verdict = verdict
  if (verdict.allowed) return
  throw new Refusal(
    'rate_limited',
    `More than ${verdict.limit} requests a minute from ${whose}: wait ${verdict.resetSeconds} seconds`,
    { 'retry-after': String(verdict.resetSeconds) },
  )
}

function findRoute(call: Call): void {
  if (!call.operation) {
    throw refuse(
      'not_found',
      `${call.request.method} ${shownPath(call)} is no operation: GET /v1/operations lists them`,
    )
  }
}
const shownPath = (call: Call): string => call.request.address.split('?')[0]!.slice(0, 200)

function authorise(call: Call): Refusal | undefined {
  if (!call.access) return
  const reason = refusalOf(call.operation!, call.access, call.now)
  if (reason) return forbidden(reason)
}

/** There are as many reasons as scopes, roles and plans: each refusal is made once. */
const reasons = new Map<string, Refusal>()
function forbidden(reason: string): Refusal {
  let made = reasons.get(reason)
  if (!made) {
    made = refuse('forbidden', reason)
    reasons.set(reason, made)
  }
  return made
}

function readBody(call: Call): Promise<void> | void {
  if (call.request.method === 'GET' || call.request.method === 'HEAD') return
  return call.request.readBody(bodyAtMost).then((text) => {
    call.text = text
  })
}

function readInput(call: Call): void {
  const { spec } = call.operation!
  if (call.request.fault) throw call.request.fault
  const query = parseQuery(call.request.search)
  if (spec.input?.query) call.query = read(spec.input.query, query, 'query')
  else refuseFields(query, 'takes no query parameters')
  if (spec.input?.body) call.body = readBodyAs(spec.input.body, call.text)
  else if (call.text !== '') {
    const body = parseJson(call.text)
    if (body === undefined) return
    if (typeof body !== 'object' || body === null || Array.isArray(body)) {
      throw refuse('bad_request', 'body: must be an object')
    }
    refuseFields(body, 'takes no body')
  }
}

function refuseFields(fields: object, why: string): void {
  const names = Object.keys(fields).slice(0, 5)
  if (names.length === 0) return
  throw refuse(
    'bad_request',
    names.map((name) => `${name.slice(0, 100)}: is not a known field (it ${why})`).join('; '),
  )
}

/** Makes the handler's context; with an Idempotency-Key, answers what was answered before. */
function replay(call: Call): Promise<void> | void {
  const { access, gateway, operation, requestId } = call
  const isWrite = !operation!.spec.readOnly && access !== null
  const key = isWrite ? idempotency.idempotencyKey(call.request.header('idempotency-key')) : null
  const claim =
    key === null
      ? null
      : new idempotency.Claim(
          key,
          idempotency.requestHash(call.request.method, call.request.address, call.text),
        )
  call.context = new Context(
    gateway.services,
    access?.store ?? noStore,
    {
      kind: 'key',
      userId: access?.userId ?? null,
      role: access?.role ?? 'agent',
      scopes: access?.scopes ?? noScopes,
      requestId,
      keyId: access?.keyId ?? null,
      idempotencyKey: key,
      claim,
      access,
    },
    gateway.services.log,
  )
  if (!claim) return
  return claim.take(call.context).then((stored) => {
    if (!stored) {
      call.claim = claim
      return
    }
    if (stored === 'running') throw idempotency.stillRunning()
    const headers = { ...call.headers, ...stored.headers, 'idempotency-replayed': 'true' }
    call.answer = { status: stored.status, body: stored.body, headers }
  })
}

const noScopes: ReadonlySet<string> = new Set()
/** A public operation belongs to no store: its wall lets nothing through. */
const noStore: StoreFacts = {
  id: '00000000-0000-0000-0000-000000000000',
  name: '',
  slug: '',
  publicId: '',
  domain: '',
  country: 'BR',
  currency: 'BRL',
  timezone: 'UTC',
  locale: 'en',
}

function runHandler(call: Call): Promise<void> {
  const alone = contextAlone(call)
  if (alone) return handled(call, alone).then((result) => leave(call, toAnswer(call, result)))
  return runGuarded(call, call.context!).then((answer) => leave(call, answer))
}

/** The context of a handler with nothing to be done around it: a read, or a write in one statement. Null: there is. */
function contextAlone(call: Call): Context | null {
  const { operation, context, gateway, claim } = call
  const { readOnly, public: isPublic, transaction } = operation!.spec
  if (readOnly) return !gateway.strict || isPublic || transaction === 'own' ? context : null
  if (transaction !== 'statement' || claim) return null
  return ifMatchOf(call) ? null : context!.forOneStatement()
}

interface Wanted {
  readers: readonly Reader[]
  tags: readonly string[]
}

/** Null where the request has none, or it says no more than that there is one. */
function ifMatchOf({ operation, gateway, request }: Call): Wanted | null {
  const header = request.header('if-match')?.trim()
  if (header === undefined || header === '*') return null
  const readers = readersOf(gateway.registry.operations, operation!)
  return readers.length === 0 ? null : { readers, tags: header.split(',').map((tag) => tag.trim()) }
}

/** What the handler answers or throws, as a promise whatever it is. */
const handled = ({ operation, request, query, body }: Call, ctx: Context): Promise<unknown> =>
  Promise.try(operation!.spec.handler, ctx, { params: request.params, query, body } as never)

/** A write, or a read that the tests prove to be one. */
async function runGuarded(call: Call, ctx: Context): Promise<Answer> {
  const { spec } = call.operation!
  const wanted = ifMatchOf(call)
  const finish = async (within: Context): Promise<Answer> => {
    if (wanted) await matchOrRefuse(call, within, wanted)
    const answer = toAnswer(call, await handled(call, within))
    // Whoever was told that it failed may send it again. What has called a provider by now is told by its key.
    if (call.isLate && within.inTransaction) throw tooLate(call.gateway.deadline)
    const { claim } = call
    if (claim && !(await claim.keep(within, { ...answer, headers: ownHeaders(answer) }))) {
      throw idempotency.lost()
    }
    return answer
  }
  if (spec.readOnly) return ctx.readOnly(finish)
  if (spec.transaction === 'own') {
    // Asked at once, and again in the transaction that writes: somebody else may write while a provider is asked.
    const isReadInside = wanted?.readers.every((reader) => !reader.calls)
    return finish(isReadInside ? ctx.guarded((tx) => matchOrRefuse(call, tx, wanted!)) : ctx)
  }
  // With If-Match a row that changes after it was compared fails the write: 40001, answered as a conflict.
  return ctx.transaction(finish, wanted ? 'repeatable read' : undefined)
}

export const tooLate = ({ ms }: Deadline): Refusal =>
  refuse('unavailable', `This took longer than ${Math.ceil(ms / 1000)} seconds: try again later`)

function leave(call: Call, answer: Answer): void {
  call.claim?.end()
  call.claim = null
  const isKnown =
    call.operation!.spec.cache && isNamedBy(call.request.header('if-none-match'), answer.headers.etag)
  call.answer = isKnown ? { ...answer, status: 304, body: '' } : answer
}

async function matchOrRefuse(call: Call, ctx: Context, { readers, tags }: Wanted): Promise<void> {
  const { query, body } = call
  for (const reader of readers) {
    const current = await reader.etag(ctx, { params: call.request.params, query, body })
    if (current !== null && tags.includes(current)) return
  }
  throw refuse('conflict', 'If-Match: the resource has changed since it was read: read it again')
}

function toAnswer(call: Call, result: unknown): Answer {
  const { spec } = call.operation!
  const body = textOf(result)
  if (call.gateway.strict) checkAnswer(call, body)
  const headers = call.headers
  if (result instanceof JsonText && result.headers) Object.assign(headers, result.headers)
  if (spec.etag) headers.etag = etagOf(identityOf(result, movesOf(spec.answer.body!)))
  if (spec.cache) headers['cache-control'] = spec.cache
  if (spec.cache?.includes('private')) headers.vary = 'Authorization'
  if (body === '') delete headers['content-type']
  return { status: spec.answer.status, body, headers }
}

function textOf(result: unknown): string {
  if (result instanceof JsonText) return result.text
  return result === undefined ? '' : JSON.stringify(result)
}

const ownHeaders = (answer: Answer): Record<string, string> =>
  answer.headers.etag ? { etag: answer.headers.etag } : {}

function checkAnswer(call: Call, body: string): void {
  const { spec, file } = call.operation!
  if (!spec.answer.body) {
    if (body !== '') throw new Error(`${file}: answered a body with status ${spec.answer.status}`)
    return
  }
  const parsed = spec.answer.body.safeParse(JSON.parse(body))
  if (!parsed.success) {
    const faults = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; ')
    throw new Error(`${file}: its answer does not fit its schema: ${faults}`)
  }
}

const pipelineCodes: readonly ErrorCode[] = [
  'bad_request',
  'unauthorized',
  'forbidden',
  'payload_too_large',
  'rate_limited',
  'unavailable',
]

/** In tests a refusal that the operation does not declare is a fault of its file. */
function undeclared(call: Call, refusal: Refusal): Refusal | null {
  const { operation } = call
  if (!operation || pipelineCodes.includes(refusal.code) || operation.spec.refuses?.[refusal.code])
    return null
  if (
    refusal.code === 'conflict' &&
    (call.request.header('idempotency-key') || call.request.header('if-match'))
  ) {
    return null
  }
  return refuse('unavailable', `${operation.file} does not declare that it refuses with ${refusal.code}`)
}
