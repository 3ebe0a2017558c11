/**
 * Model test of the subscription: random sequences of all actions through the real gateway, the sandbox's provider and the
 * jobs. Invariants after each action: payments equal access plus credit; nothing is negative; no coupon is used twice; at
 * most one agreement charges; used quota is never returned; and every end state can become active again.
 *
 * `FC_RUNS` and `MODEL_LENGTH` extend it. A failure prints seed and path: run it again with `FC_SEED` and `FC_PATH`.
 */
import fc from 'fast-check'
import { test } from 'vitest'
import { testApp } from '#test/support/app'
import { startAt } from '#test/support/subscriber'
import { type Move, type Order, type Plan, SubscriptionWorld } from '#test/support/subscription-world'
import { runs } from '#test/support/suite'

const app = await testApp()
const plan = fc.constantFrom<Plan>('starter', 'growth', 'scale')
const cycle = fc.constantFrom('monthly' as const, 'yearly' as const)
const orNone = <T>(given: fc.Arbitrary<T>) => fc.option(given, { nil: null, freq: 3 })
const coupon = fc.option(fc.constantFrom('WELCOME10', 'SCALE20', 'FIRST50'), { nil: null, freq: 1 })
const card = fc.oneof(
  { weight: 6, arbitrary: fc.constant('good' as const) },
  { weight: 2, arbitrary: fc.constant('declinesLater' as const) },
  { weight: 1, arbitrary: fc.constantFrom('declined' as const, 'chargedBack' as const) },
)
/** Mostly the newest page, sometimes an old one. */
const page = fc.oneof({ weight: 4, arbitrary: fc.constant(-1) }, { weight: 1, arbitrary: fc.nat({ max: 5 }) })
const hours = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom(1 / 60, 1, 12, 23) },
  { weight: 2, arbitrary: fc.constantFrom(24, 48, 24 * 8, 24 * 15) },
  { weight: 1, arbitrary: fc.constantFrom(24 * 31, 24 * 62, 24 * 95) },
)
const wish = { plan: orNone(plan), cycle: orNone(cycle), coupon }

const calls: fc.Arbitrary<Move> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ move: fc.constant('subscribe' as const), ...wish }) },
  { weight: 6, arbitrary: fc.record({ move: fc.constant('update' as const), ...wish }) },
  { weight: 3, arbitrary: fc.record({ move: fc.constant('resume' as const), ...wish }) },
  { weight: 3, arbitrary: fc.record({ move: fc.constantFrom('card-update' as const, 'cancel' as const) }) },
  { weight: 12, arbitrary: fc.record({ move: fc.constant('pay' as const), page, card }) },
)
const move: fc.Arbitrary<Move> = fc.oneof(
  { weight: 30, arbitrary: calls },
  {
    weight: 1,
    arbitrary: fc.record({
      move: fc.constant('validate' as const),
      code: fc.constantFrom('WELCOME10', 'SCALE20', 'FIRST50', 'EXPIRED'),
      plan: orNone(plan),
      cycle,
    }),
  },
  { weight: 3, arbitrary: fc.record({ move: fc.constant('pay-behind' as const), page }) },
  {
    weight: 3,
    arbitrary: fc.record({
      move: fc.constant('payer' as const),
      status: fc.constantFrom('paused' as const, 'cancelled' as const, 'authorized' as const),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      move: fc.constantFrom('charge-back' as const, 'give-back' as const),
      payment: fc.nat({ max: 2 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      move: fc.constant('give-part' as const),
      payment: fc.nat({ max: 2 }),
      share: fc.oneof(fc.constantFrom(0, 300, 1000), fc.integer({ min: 1, max: 999 })),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      move: fc.constant('mode' as const),
      mode: fc.constantFrom('up' as const, 'up' as const, 'down' as const, 'timeout' as const),
    }),
  },
  { weight: 3, arbitrary: fc.constant<Move>({ move: 'hold' }) },
  { weight: 2, arbitrary: fc.constant<Move>({ move: 'sleep' }) },
  {
    weight: 3,
    arbitrary: fc.record({
      move: fc.constant('deliver' as const),
      order: fc.constantFrom<Order>('in-order', 'reversed', 'twice', 'lost', 'half-lost'),
    }),
  },
  { weight: 9, arbitrary: fc.record({ move: fc.constant('wait' as const), hours }) },
  { weight: 2, arbitrary: fc.record({ move: fc.constant('leap' as const), hours }) },
  {
    weight: 3,
    arbitrary: fc.record({ move: fc.constant('use' as const), units: fc.integer({ min: 1, max: 3 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ move: fc.constant('at-once' as const), moves: fc.tuple(calls, calls) }),
  },
)

const length = Number(process.env.MODEL_LENGTH ?? 16)
const often = runs(20)

test('the invariants hold after any sequence of actions', {
  timeout: often.numRuns * length * 2_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.option(plan, { nil: null, freq: 1 }),
      fc.array(move, { minLength: 4, maxLength: length, size: 'max' }),
      async (gift, moves) => {
        await startAt(app, '2027-01-31T12:00:00.000Z')
        const world = await SubscriptionWorld.open(app, gift)
        for (const each of moves) await world.do(each)
        await world.comeBack()
      },
    ),
    often,
  )
})
