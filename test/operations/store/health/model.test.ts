/** How a connection goes from well to trouble and back, against a model of its own: outcomes, reconnects, processes. */

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { connectEcommerce, ecommerce } from '#operations/store/connections/connections'
import { after, type Heard, type Standing } from '#operations/store/health/machine'
import { readStandings } from '#operations/store/health/read'
import { SystemContext } from '#runtime/context'
import { minuteMs } from '#runtime/durations'
import { AccessLost, Refused, Throttled, Unavailable } from '#runtime/ports/errors'
import { unheard } from '#runtime/ports/heard'
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

/** What the rule says, told once more: no probes, no columns. */
class Model {
  state: 'connected' | 'degraded' | 'lost' = 'connected'
  failures: number[] = []
  tells: string[] = []
  #isTold = false
  #told: { code: string; at: number } | null = null

  hear(event: Event['is'], now: number, code = ''): void {
    if (event === 'answered' || event === 'reconnected') {
      if (this.state === 'lost' && this.#isTold) this.tells.push('back')
      Object.assign(this, { state: 'connected', failures: [] })
      this.#isTold = false
      if (event === 'reconnected') this.#told = null
    } else if (event === 'lost') {
      if (this.state !== 'lost') this.#isTold = false
      Object.assign(this, { state: 'lost', failures: [], code })
      this.#tell(now)
    } else if (event === 'unanswered' && this.state === 'lost') this.#tell(now)
    else if (event === 'unanswered' && this.state === 'connected') {
      this.failures = [...this.failures.filter((at) => now - at < 10 * minuteMs), now]
      if (this.failures.length >= 3) Object.assign(this, { state: 'degraded', failures: [] })
    }
  }
  code = ''

  #tell(now: number): void {
    if (this.#isTold) return
    if (this.#told && this.#told.code === this.code && now - this.#told.at < 60 * minuteMs) return
    this.#isTold = true
    this.#told = { code: this.code, at: now }
    this.tells.push('lost')
  }
}

const causeOf = (code: string) => ({ code, message: 'm', remedy: 'r' })

test('the machine is the model', () => {
  fc.assert(
    fc.property(events(40), (sequence) => {
      const model = new Model()
      let standing: Standing | null = null
      let now = Date.UTC(2026, 10, 20)
      const tells: string[] = []
      for (const event of sequence) {
        now += event.is === 'wait' ? event.minutes * minuteMs : 1000
        const heard: Heard | null =
          event.is === 'answered'
            ? { is: 'answered', startedAt: new Date(now) }
            : event.is === 'late'
              ? { is: 'answered', startedAt: new Date(0) }
              : event.is === 'unanswered'
                ? { is: 'unanswered', ...causeOf('no-answer') }
                : event.is === 'lost'
                  ? { is: 'lost', ...causeOf(event.code) }
                  : event.is === 'reconnected'
                    ? { is: 'connected' }
                    : null
        if (!heard) continue
        if (event.is !== 'late') model.hear(event.is, now, 'code' in event ? event.code : '')
        const step = after(standing, heard, new Date(now))
        if (step) {
          standing = step.next
          if (step.tells) tells.push(step.tells)
          // Nothing is planned for one that is well, and something for one that is not.
          const isWell = standing.state === 'connected' && standing.failedAt.length === 0
          expect(standing.nextProbeAt === null).toBe(isWell)
          expect(standing.state === 'connected' || standing.remedy !== null).toBe(true)
        }
        expect(standing?.state ?? 'connected').toBe(model.state)
        expect(tells).toEqual(model.tells)
      }
    }),
    runs(500),
  )
})

test('a clock that is put back holds up nothing', () => {
  const noon = Date.UTC(2026, 10, 20, 12)
  const at = (hours: number) => new Date(noon + hours * 60 * minuteMs)
  const silence: Heard = { is: 'unanswered', ...causeOf('no-answer') }
  const lost: Heard = { is: 'lost', ...causeOf('uninstalled') }
  const { next } = after(null, lost, at(0))!
  expect(after(next, { is: 'answered', startedAt: at(-3) }, at(-3))).toMatchObject({
    next: { state: 'connected' },
    tells: 'back',
  })
  // A machine whose clock is a little behind proves nothing by a call of before.
  const behind = new Date(noon - 50)
  expect(after(next, { is: 'answered', startedAt: behind }, behind)).toBeNull()
  const planned = after(next, silence, at(-100))!.next.nextProbeAt!
  expect(planned.getTime()).toBeLessThanOrEqual(at(-76).getTime())
  const once = after(null, silence, at(0))!.next
  const thrice = after(after(once, silence, at(-3))!.next, silence, at(-3))!.next
  expect(thrice.state).toBe('connected')
  const back = after(next, { is: 'answered', startedAt: at(1) }, at(1))!.next
  expect(after(back, lost, at(-3))).toMatchObject({ tells: 'lost' })
})

test('probes grow apart, and end within a day of each other however long it lasts', () => {
  let now = Date.UTC(2026, 10, 20)
  let { next } = after(null, { is: 'lost', ...causeOf('uninstalled') }, new Date(now))!
  const gaps: number[] = []
  for (let probes = 0; probes < 200; probes += 1) {
    gaps.push((next.nextProbeAt!.getTime() - now) / minuteMs)
    now = next.nextProbeAt!.getTime()
    next = after(next, { is: 'probed' }, new Date(now))!.next
  }
  expect(gaps.slice(0, 5)).toEqual([1, 5, 15, 60, 60])
  expect(Math.max(...gaps)).toBe(24 * 60)
  expect(gaps.at(-1)).toBe(24 * 60)
})

describe('two processes on one database', async () => {
  const app = await testApp()
  const other = await testApp({}, { database: app.database, clock: app.clock })

  test('come to what the model says', async () => {
    const outcomes: (Error | null)[] = []
    for (const each of [app, other]) {
      Object.defineProperty(unheard(each.services.adapters.ecommerce.sandbox!), 'listCategories', {
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
            app.clock.move(event.minutes * minuteMs)
            continue
          }
          app.clock.move(1000)
          const own = await shop.context()
          if (event.is === 'reconnected') {
            await connect()
            model.hear('reconnected', app.clock.ms())
            continue
          }
          const { services } = event.by === 0 ? app : other
          const ctx = await new SystemContext(services, services.log, 'test').forStore(shop.id)
          const { port, store: asked } = (await ecommerce(ctx!))!
          const isStale = event.is === 'late'
          // Over a connection before, and so about nothing that is there now.
          if (isStale) asked.connection!.connectedAt = new Date(0)
          outcomes.push(errorOf(event))
          await port.listCategories(asked).catch(() => undefined)
          if (!isStale) model.hear(event.is, app.clock.ms(), 'code' in event ? event.code : '')
          const found = (await readStandings(own)).find((each) => each.port === 'ecommerce')
          expect(found?.state ?? 'connected').toBe(model.state)
          const notices = await own.db
            .selectFrom('notifications')
            .select('type')
            .where('type', 'in', ['connection-lost', 'connection-back'])
            .orderBy('created_at')
            .execute()
          expect(notices.map(({ type }) => type.replace('connection-', ''))).toEqual(model.tells)
        }
      }),
      runs(12),
    )
  })
})

function errorOf(event: Event): Error | null {
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
