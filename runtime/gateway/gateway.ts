/**
 * The gateway: every request below `/v1` passes its steps in order. A step throws to refuse the request, or stores its
 * result on the call.
 */
import { performance } from 'node:perf_hooks' // the global of that name is looked up at each use
import type { Services } from '#runtime/context'
import type { LoadedOperation, Registry } from '#runtime/registry/loaded'
import { getRequestLog, type RequestLine } from '#runtime/server/log'
import type { Metrics } from '#runtime/server/metrics'
import { currentTrace, parseTrace, runWithTrace } from '#runtime/trace'
import { type Answer, jsonHeaders, logFailure, toErrorAnswer } from './answers.ts'
import { isExpectedFailure, toApiError } from './api-error.ts'
import type { Call, GatewayServices, IncomingCall, Step } from './call.ts'
import { type Deadline, timeoutError } from './deadline.ts'
import { buildDeprecationHeaders } from './deprecation.ts'
import type { KeyRing } from './keys.ts'
import type { RateLimiter } from './rate-limit.ts'
import { authorise, findRoute } from './steps/access.ts'
import { makeContext } from './steps/context.ts'
import { runHandler } from './steps/handler.ts'
import { readBody, readInput } from './steps/input.ts'
import { identifyKey } from './steps/key.ts'
import {
  awaitCounts,
  awaitCountsBeforeWrite,
  limitAddress,
  limitStore,
  preferLimitError,
  setLimitHeaders,
} from './steps/limits.ts'
import { replay } from './steps/replay.ts'
import { findUndeclaredRefusal } from './steps/strict.ts'

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
  awaitCountsBeforeWrite,
  replay,
  runHandler,
]

export type GatewayOptions = Partial<Pick<GatewayServices, 'strict'>>

export class Gateway implements GatewayServices {
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
    parts: Pick<GatewayServices, 'keys' | 'addresses' | 'stores' | 'deadline'> & { metrics: Metrics },
    options: GatewayOptions = {},
  ) {
    this.services = services
    this.#logRequest = getRequestLog(services.log)
    this.registry = registry
    this.keys = parts.keys
    this.addresses = parts.addresses
    this.stores = parts.stores
    this.metrics = parts.metrics
    this.deadline = parts.deadline
    this.strict = options.strict ?? false
  }

  /** Answers a request within the deadline; never rejects. `operation` is null if no route has this path. */
  handle(operation: LoadedOperation | null, request: IncomingCall): Promise<Answer> {
    const call = this.#begin(operation, request)
    const received = (): number => request.received?.() ?? 0
    return runWithTrace(call.trace, () =>
      this.deadline.race(
        () => this.#answer(call),
        received,
        () => this.#answerTimeout(call),
      ),
    )
  }

  /** A step with nothing to await returns no promise, so a read with a cached key awaits nothing but its handler. */
  async #answer(call: Call): Promise<Answer> {
    try {
      for (const step of steps) {
        if (call.answer) break
        const pending = step(call)
        if (!pending) continue
        await pending
        call.now = this.services.clock.ms()
        call.monotonicMs = performance.now()
      }
      if (call.pendingCounts) await awaitCounts(call)
    } catch (error) {
      return this.#answerError(call, error)
    }
    return this.#finish(call, call.answer!)
  }

  #begin(operation: LoadedOperation | null, request: IncomingCall): Call {
    this.#requests += 1
    const requestId = `${this.#processId}-${this.#requests.toString(36)}`
    const startedAt = performance.now()
    const headers = jsonHeaders(requestId)
    const deprecated = operation?.spec.deprecated
    if (deprecated) Object.assign(headers, buildDeprecationHeaders(deprecated))
    return {
      gateway: this,
      request,
      operation,
      requestId,
      // An assistant's call belongs to the trace of the request that carried it.
      trace: parseTrace(request) ?? currentTrace(),
      startedAt,
      now: this.services.clock.ms(),
      monotonicMs: startedAt,
      headers,
      access: null,
      text: '',
      params: {},
      query: undefined,
      body: undefined,
      claim: null,
      context: null,
      answer: null,
      verdict: null,
      pendingCounts: null,
      isLate: false,
    }
  }

  /**
   * For surfaces whose requests are not operations: counts the request against its address's limit, then looks up the
   * key. Returns the refusal, or the headers of the rate limit.
   */
  async enter(request: IncomingCall): Promise<{ refusal: Answer } | { headers: Record<string, string> }> {
    const call = this.#begin(null, request)
    try {
      limitAddress(call)
      await identifyKey(call)
      if (call.pendingCounts) await awaitCounts(call)
    } catch (error) {
      return { refusal: await this.#answerError(call, error) }
    }
    const headers = { 'x-request-id': call.requestId }
    setLimitHeaders(headers, call.verdict)
    return { headers }
  }

  /**
   * Answers a timeout. The handler goes on, but its transaction is rolled back if possible and its answer is dropped.
   */
  #answerTimeout(call: Call): Answer {
    const refusal = timeoutError(this.deadline)
    call.request.closeIfStalled?.()
    this.services.log.error({ requestId: call.requestId, operation: call.operation?.id }, refusal.message)
    const answer = this.#finish(call, toErrorAnswer(refusal, { ...call.headers }))
    call.isLate = true
    return answer
  }

  /** Counts and logs the answer. */
  #finish(call: Call, answer: Answer): Answer {
    if (call.isLate) return answer
    setLimitHeaders(answer.headers, call.verdict)
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

  async #answerError(call: Call, thrown: unknown): Promise<Answer> {
    const error = call.pendingCounts ? await preferLimitError(call, thrown) : thrown
    let refusal = toApiError(error, { ifMatch: call.request.header('if-match') !== undefined })
    logFailure(this.services.log, error, refusal, {
      requestId: call.requestId,
      operation: call.operation?.id,
    })
    if (this.strict) refusal = findUndeclaredRefusal(call, refusal) ?? refusal
    const answer = toErrorAnswer(refusal, call.headers)
    if (call.claim && call.context) {
      const { claim, context } = call
      claim.stopRenewal()
      const settle = (): Promise<unknown> =>
        refusal.code === 'unavailable' || refusal.isTransient
          ? claim.release(context, isExpectedFailure(error))
          : claim.storeAnswer(context, { ...answer, headers: {} })
      // Tried twice: if the database connection was lost, the second attempt gets a new one. Recording twice has the
      // same effect as once.
      await settle()
        .catch(settle)
        .catch((failure) =>
          this.services.log.error(
            { requestId: call.requestId, err: failure },
            'idempotency claim result not recorded',
          ),
        )
    }
    return this.#finish(call, answer)
  }
}
