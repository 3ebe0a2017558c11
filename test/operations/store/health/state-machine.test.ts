/** The health state machine against a model: outcomes, reconnections, concurrent processes. */

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { connectEcommerce, findEcommerce } from '#operations/store/connections/connections'
import { readHealth } from '#operations/store/health/read-health'
import { type ConnectionHealth, type HealthEvent, nextHealth } from '#operations/store/health/state-machine'
import { SystemContext } from '#runtime/context'
import { minuteMs } from '#runtime/durations'
import { AccessLost, Refused, Throttled, Unavailable } from '#runtime/ports/errors'
import { unwrapAdapter } from '#runtime/ports/instrumentation'
import { testApp } from '#test/support/app'
import { store } from '#test/support/store'
import { runs } from '#test/support/suite'

type Event =
  | { is: 'wait'; minutes: number }
  | { is: 'answered' | 'unanswered' | 'refused' | 'throttled' | 'reconnected' | 'late'; by: number }
  | { is: 'lost'; by: number; code: string }

const by = fc.integer({ min: 0, max: 1 })
const events = (length: number) =>
  fc.array(
    fc.oneof(
      fc.record({ is: fc.constant('wait' as const), minutes: fc.constantFrom(1, 4, 11, 61, 2000) }),
      fc.record({
        is: fc.constantFrom(
          'answered',
          'unanswered',
          'unanswered',
          'refused',
          'throttled',
          'late',
          'reconnected',
        ),
        by,
      }),
      fc.record({ is: fc.constant('lost' as const), by, code: fc.constantFrom('uninstalled', 'token') }),
    ),
    { minLength: 1, maxLength: length },
  ) as fc.Arbitrary<Event[]>

/** A simple model of rule 19, without probes and columns. */
class Model {
  state: 'connected' | 'degraded' | 'lost' = 'connected'
  failures: number[] = []
  notifications: string[] = []
  #isNotified = false
  #notified: { code: string; at: number } | null = null

  apply(event: Event['is'], now: number, code = ''): void {
    if (event === 'answered' || event === 'reconnected') {
      if (this.state === 'lost' && this.#isNotified) this.notifications.push('back')
      Object.assign(this, { state: 'connected', failures: [] })
      this.#isNotified = false
      if (event === 'reconnected') this.#notified = null
    } else if (event === 'lost') {
      if (this.state !== 'lost') this.#isNotified = false
      Object.assign(this, { state: 'lost', failures: [], code })
      this.#notify(now)
    } else if (event === 'unanswered' && this.state === 'lost') this.#notify(now)
    else if (event === 'unanswered' && this.state === 'connected') {
      this.failures = [...this.failures.filter((at) => now - at < 10 * minuteMs), now]
      if (this.failures.length >= 3) Object.assign(this, { state: 'degraded', failures: [] })
    }
  }
  code = ''

  #notify(now: number): void {
    if (this.#isNotified) return
    if (this.#notified && this.#notified.code === this.code && now - this.#notified.at < 60 * minuteMs) return
    this.#isNotified = true
    this.#notified = { code: this.code, at: now }
    this.notifications.push('lost')
  }
}

const buildCause = (code: string) => ({ code, message: 'm', remedy: 'r' })

test('the state machine equals the model', () => {
  fc.assert(
    fc.property(events(40), (sequence) => {
      const model = new Model()
      let health: ConnectionHealth | null = null
      let now = Date.UTC(2026, 10, 20)
      const notifications: string[] = []
      for (const event of sequence) {
        now += event.is === 'wait' ? event.minutes * minuteMs : 1000
        const healthEvent: HealthEvent | null =
          event.is === 'answered'
            ? { kind: 'answered', startedAt: new Date(now) }
            : event.is === 'late'
              ? { kind: 'answered', startedAt: new Date(0) }
              : event.is === 'unanswered'
                ? { kind: 'unanswered', ...buildCause('no-answer') }
                : event.is === 'lost'
                  ? { kind: 'lost', ...buildCause(event.code) }
                  : event.is === 'reconnected'
                    ? { kind: 'connected' }
                    : null
        if (!healthEvent) continue
        if (event.is !== 'late') model.apply(event.is, now, 'code' in event ? event.code : '')
        const step = nextHealth(health, healthEvent, new Date(now))
        if (step) {
          health = step.next
          if (step.notifies) notifications.push(step.notifies)
          // A probe is scheduled only while it is unhealthy.
          const isWell = health.state === 'connected' && health.failedAt.length === 0
          expect(health.nextProbeAt === null).toBe(isWell)
          expect(health.state === 'connected' || health.remedy !== null).toBe(true)
        }
        expect(health?.state ?? 'connected').toBe(model.state)
        expect(notifications).toEqual(model.notifications)
      }
    }),
    runs(500),
  )
})

test('a clock that is set back does not block recovery, probes or notifications', () => {
  const noon = Date.UTC(2026, 10, 20, 12)
  const at = (hours: number) => new Date(noon + hours * 60 * minuteMs)
  const silence: HealthEvent = { kind: 'unanswered', ...buildCause('no-answer') }
  const lost: HealthEvent = { kind: 'lost', ...buildCause('uninstalled') }
  const { next } = nextHealth(null, lost, at(0))!
  expect(nextHealth(next, { kind: 'answered', startedAt: at(-3) }, at(-3))).toMatchObject({
    next: { state: 'connected' },
    notifies: 'back',
  })
  // A success from a machine whose clock is slightly behind proves nothing.
  const behind = new Date(noon - 50)
  expect(nextHealth(next, { kind: 'answered', startedAt: behind }, behind)).toBeNull()
  const planned = nextHealth(next, silence, at(-100))!.next.nextProbeAt!
  expect(planned.getTime()).toBeLessThanOrEqual(at(-76).getTime())
  const once = nextHealth(null, silence, at(0))!.next
  const thrice = nextHealth(nextHealth(once, silence, at(-3))!.next, silence, at(-3))!.next
  expect(thrice.state).toBe('connected')
  const back = nextHealth(next, { kind: 'answered', startedAt: at(1) }, at(1))!.next
  expect(nextHealth(back, lost, at(-3))).toMatchObject({ notifies: 'lost' })
})

test('the probe interval grows up to a day', () => {
  let now = Date.UTC(2026, 10, 20)
  let { next } = nextHealth(null, { kind: 'lost', ...buildCause('uninstalled') }, new Date(now))!
  const gaps: number[] = []
  for (let probes = 0; probes < 200; probes += 1) {
    gaps.push((next.nextProbeAt!.getTime() - now) / minuteMs)
    now = next.nextProbeAt!.getTime()
    next = nextHealth(next, { kind: 'probed' }, new Date(now))!.next
  }
  expect(gaps.slice(0, 5)).toEqual([1, 5, 15, 60, 60])
  expect(Math.max(...gaps)).toBe(24 * 60)
  expect(gaps.at(-1)).toBe(24 * 60)
})

describe('two processes on one database', async () => {
  const app = await testApp()
  const other = await testApp({}, { database: app.database, clock: app.clock })

  test('reach the state of the model', async () => {
    const outcomes: (Error | null)[] = []
    for (const each of [app, other]) {
      Object.defineProperty(unwrapAdapter(each.services.adapters.ecommerce.sandbox!), 'listCategories', {
        configurable: true,
        value: async () => {
          const error = outcomes.shift()
          if (error) throw error
          return []
        },
      })
    }
    await fc.assert(
      fc.asyncProperty(events(12), async (sequence) => {
        const shop = await store(app)
        const connect = async () => connectEcommerce(await shop.context(), 'sandbox', { token: 'sandbox' })
        await connect()
        const model = new Model()
        for (const event of sequence) {
          if (event.is === 'wait') {
            app.clock.advance(event.minutes * minuteMs)
            continue
          }
          app.clock.advance(1000)
          const own = await shop.context()
          if (event.is === 'reconnected') {
            await connect()
            model.apply('reconnected', app.clock.ms())
            continue
          }
          const { services } = event.by === 0 ? app : other
          const ctx = await new SystemContext(services, services.log, 'test').forStore(shop.id)
          const { port, store: asked } = (await findEcommerce(ctx!))!
          const isStale = event.is === 'late'
          // Over an earlier connection, so it must not count.
          if (isStale) asked.connection!.connectedAt = new Date(0)
          outcomes.push(toError(event))
          await port.listCategories(asked).catch(() => undefined)
          if (!isStale) model.apply(event.is, app.clock.ms(), 'code' in event ? event.code : '')
          const found = (await readHealth(own)).find((each) => each.port === 'ecommerce')
          expect(found?.state ?? 'connected').toBe(model.state)
          const notices = await own.db
            .selectFrom('notifications')
            .select('type')
            .where('type', 'in', ['connection-lost', 'connection-back'])
            .orderBy('created_at')
            .execute()
          expect(notices.map(({ type }) => type.replace('connection-', ''))).toEqual(model.notifications)
        }
      }),
      runs(12),
    )
  })
})

function toError(event: Event): Error | null {
  switch (event.is) {
    case 'lost':
      return new AccessLost(event.code, 'Gone', 'Come back')
    case 'late':
      return new AccessLost('old', 'Gone', 'Come back')
    case 'unanswered':
      return new Unavailable('no')
    case 'refused':
      return new Refused('no', 'No')
    case 'throttled':
      return new Throttled(1000)
    default:
      return null
  }
}
