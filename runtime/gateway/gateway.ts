/** Every request below `/v1` passes the steps in their order. Each refuses by throwing, or leaves its result on the call. */
import { performance } from 'node:perf_hooks' // the global of that name is looked up anew at each use
import type { Services } from '#runtime/context'
import type { LoadedOperation, Registry } from '#runtime/registry/loaded'
import { type RequestLine, requestLogOf } from '#runtime/server/log'
import type { Metrics } from '#runtime/server/metrics'
import { currentTrace, traceOf, within } from '#runtime/trace'
import { type Answer, jsonHeaders, logFailure, refusalAnswer } from './answers.ts'
import type { Call, IncomingCall, Shared, Step } from './call.ts'
import { type Deadline, tooLate } from './deadline.ts'
import type { KeyRing } from './keys.ts'
import type { RateLimiter } from './rate-limit.ts'
import { isSaid, refusalFrom } from './refusal.ts'
import { authorise, findRoute } from './steps/access.ts'
import { makeContext } from './steps/context.ts'
import { runHandler } from './steps/handler.ts'
import { readBody, readInput } from './steps/input.ts'
import { identifyKey } from './steps/key.ts'
import {
  limitAddress,
  limitStore,
  overruled,
  settleBeforeWrite,
  settleCounts,
  tellLimit,
} from './steps/limits.ts'
import { replay } from './steps/replay.ts'
import { undeclared } from './steps/strict.ts'

/** The order of the checks (rule 14). */
const steps: readonly Step[] = [
  limitAddress,
  identifyKey,
  limitStore,
  findRoute,
  authorise,
  readBody,
  readInput,
  makeContext,
  settleBeforeWrite,
  replay,
  runHandler,
]

export type GatewayOptions = Partial<Pick<Shared, 'strict'>>

export class Gateway implements Shared {
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
    parts: Pick<Shared, 'keys' | 'addresses' | 'stores' | 'deadline'> & { metrics: Metrics },
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

  /** Answers a request, in time; never rejects. `operation` null: no route has this path. */
  handle(operation: LoadedOperation | null, request: IncomingCall): Promise<Answer> {
    const call = this.#begin(operation, request)
    const received = (): number => request.received?.() ?? 0
    return within(call.trace, () =>
      this.deadline.race(
        () => this.#answer(call),
        received,
        () => this.#late(call),
      ),
    )
  }

  /** A step that has nothing to wait for returns no promise: a read whose key is cached waits for its handler alone. */
  async #answer(call: Call): Promise<Answer> {
    try {
      for (const step of steps) {
        if (call.answer) break
        const pending = step(call)
        if (!pending) continue
        await pending
        call.now = this.services.clock.ms()
        call.running = performance.now()
      }
      if (call.counting) await settleCounts(call)
    } catch (error) {
      return this.#refused(call, error)
    }
    return this.#answered(call, call.answer!)
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
      // An assistant's call is within the request that brought it.
      trace: traceOf(request) ?? currentTrace(),
      startedAt,
      now: this.services.clock.ms(),
      running: startedAt,
      headers: jsonHeaders(requestId),
      access: null,
      text: '',
      params: {},
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
      limitAddress(call)
      await identifyKey(call)
      if (call.counting) await settleCounts(call)
    } catch (error) {
      return { refusal: await this.#refused(call, error) }
    }
    const headers = { 'x-request-id': call.requestId }
    tellLimit(headers, call.verdict)
    return { headers }
  }

  /** What the request still does is undone where it can be, and answers nobody. */
  #late(call: Call): Answer {
    const refusal = tooLate(this.deadline)
    this.services.log.error({ requestId: call.requestId, operation: call.operation?.id }, refusal.message)
    const answer = this.#answered(call, refusalAnswer(refusal, { ...call.headers }))
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
      trace: call.trace,
      store: call.access?.storeId,
      key: call.access?.keyId,
    })
    return answer
  }

  async #refused(call: Call, thrown: unknown): Promise<Answer> {
    const error = call.counting ? await overruled(call, thrown) : thrown
    let refusal = refusalFrom(error, { ifMatch: call.request.header('if-match') !== undefined })
    logFailure(this.services.log, error, refusal, {
      requestId: call.requestId,
      operation: call.operation?.id,
    })
    if (this.strict) refusal = undeclared(call, refusal) ?? refusal
    const answer = refusalAnswer(refusal, call.headers)
    if (call.claim && call.context) {
      const { claim, context } = call
      claim.end()
      const settle = (): Promise<unknown> =>
        refusal.code === 'unavailable' || refusal.isPassing
          ? claim.giveBack(context, isSaid(error))
          : claim.keep(context, { ...answer, headers: {} })
      // Where the connections were lost together, the next one holds; settling twice counts once.
      await settle()
        .catch(settle)
        .catch((failure) =>
          this.services.log.error(
            { requestId: call.requestId, err: failure },
            'idempotency key was not settled',
          ),
        )
    }
    return this.#answered(call, answer)
  }
}
