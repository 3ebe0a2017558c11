/** The onboarding checklist (store, rule 13). */

import { describe, expect, test } from 'vitest'
import activateFeatures from '#operations/store/onboarding/api/activate-features'
import getOnboarding from '#operations/store/onboarding/api/get-onboarding'
import saveAnswers from '#operations/store/onboarding/api/save-answers'
import getInformation from '#operations/store/profile/api/get-information'
import getStore from '#operations/store/profile/api/get-store'
import createInvitation from '#operations/store/team/api/create-invitation'
import removeMember from '#operations/store/team/api/remove-member'
import revokeInvitation from '#operations/store/team/api/revoke-invitation'
import { connectNumber } from '#scripts/seed/connect-number'
import { testApp } from '#test/support/app'
import { type Shop, store } from '#test/support/store'

/** When the popup of a store was turned on; stores activated by the test's own activator, which may fail. */
const popups = new Map<string, Date>()
const turnedOn: string[] = []
let failing = false
const app = await testApp(
  {},
  {
    extensions: {
      evidence: { popup: async (ctx) => popups.get(ctx.store.id) ?? null },
      featureActivators: {
        newsletter: {
          async activate(ctx) {
            expect(ctx.inTransaction).toBe(true)
            turnedOn.push(ctx.store.id)
          },
        },
        exchanges: {
          async activate() {
            if (failing) throw new Error('the section fails')
          },
        },
      },
    },
  },
)

const read = async (shop: Shop) => (await shop.call(getOnboarding)).body
const save = (shop: Shop, answers: unknown) => shop.call(saveAnswers, { body: { answers } })
const activate = (shop: Shop, features: unknown) => shop.call(activateFeatures, { body: { features } })
const step = async (shop: Shop, id: string) =>
  (await read(shop)).steps.find((each: { id: string }) => each.id === id)

async function connectPlatform(shop: Shop): Promise<void> {
  const now = app.clock.now()
  await app.database.root
    .insertInto('connections')
    .values({
      store_id: shop.id,
      port: 'ecommerce',
      provider: 'sandbox',
      connected_at: now,
      created_at: now,
      updated_at: now,
    })
    .execute()
}

describe('GET /onboarding', () => {
  test('a new store has done no step', async () => {
    await app.setClock('2026-11-20T12:00:00.000Z')
    const shop = await store(app)
    expect(await read(shop)).toEqual({
      status: 'not-started',
      progress: 0,
      completedAt: null,
      answers: {
        goals: [],
        industry: null,
        monthlyOrders: null,
        hasMessagingNumber: null,
        referralSource: null,
        notes: null,
      },
      steps: [
        ...['platform', 'answers', 'features', 'messaging'].map((id) => [id, true]),
        ...['automation', 'popup', 'team', 'plan'].map((id) => [id, false]),
      ].map(([id, isRequired]) => ({ id, isRequired, isDone: false, doneAt: null })),
      recommendedFeatures: [],
      activatedFeatures: [],
      updatedAt: '2026-11-20T12:00:00.000Z',
    })
  })

  test('follows the state of the store step by step, and records when it was completed', async () => {
    const shop = await store(app)
    const at = async (): Promise<string> => {
      await app.advance(60_000)
      return app.clock.now().toISOString()
    }
    const platformAt = await at()
    await connectPlatform(shop)
    expect(await read(shop)).toMatchObject({ status: 'in-progress', progress: 25 })
    expect(await step(shop, 'platform')).toMatchObject({ isDone: true, doneAt: platformAt })
    const answersAt = await at()
    await save(shop, { goals: ['recover-carts'] })
    expect(await step(shop, 'answers')).toMatchObject({ isDone: true, doneAt: answersAt })
    const featuresAt = await at()
    await activate(shop, ['automations'])
    expect(await step(shop, 'features')).toMatchObject({ isDone: true, doneAt: featuresAt })
    const messagingAt = await at()
    const ctx = await shop.context()
    await connectNumber(ctx, { type: 'qr', phone: '+5511900001111' })
    const complete = { status: 'completed', progress: 100, completedAt: messagingAt }
    expect(await read(shop)).toMatchObject(complete)
    const record = async () => (await shop.call(getInformation)).body.onboardingCompletedAt
    expect(await record()).toBe(messagingAt)

    await at()
    await save(shop, { industry: 'home' })
    await ctx.db.updateTable('messaging_connections').set({ connected_at: app.clock.now() }).execute()
    expect(await read(shop)).toMatchObject(complete)
    await ctx.db.updateTable('connections').set({ connected_at: null }).execute()
    expect(await read(shop)).toMatchObject({ status: 'in-progress', progress: 75, completedAt: null })
    expect(await record()).toBeNull()
  })

  test('the team step is done with a second member or a pending invitation', async () => {
    const shop = await store(app)
    expect(await step(shop, 'team')).toMatchObject({ isDone: false })
    const body = { email: `guest@${shop.slug}.example.com`, role: 'agent' }
    const invitation = await shop.call(createInvitation, { body })
    expect(await step(shop, 'team')).toMatchObject({ isDone: true, doneAt: invitation.body.createdAt })
    await shop.call(revokeInvitation, { params: { id: invitation.body.id } })
    expect(await step(shop, 'team')).toMatchObject({ isDone: false })
    const joinedAt = app.clock.now().toISOString()
    const { userId } = await shop.person('agent')
    expect(await step(shop, 'team')).toMatchObject({ isDone: true, doneAt: joinedAt })
    await shop.call(removeMember, { params: { userId } })
    expect(await step(shop, 'team')).toMatchObject({ isDone: false })
  })

  test('the plan step is done after the first payment', async () => {
    const shop = await store(app)
    expect(await step(shop, 'plan')).toMatchObject({ isDone: false })
    const ctx = await shop.context()
    await ctx.db.updateTable('subscriptions').set({ provider: 'sandbox', price: '799.00' }).execute()
    expect(await step(shop, 'plan')).toMatchObject({ isDone: true, doneAt: expect.any(String) })
  })

  test('the popup step is done when its section says so', async () => {
    const shop = await store(app)
    expect(await step(shop, 'popup')).toMatchObject({ isDone: false })
    const since = new Date('2026-11-01T00:00:00.000Z')
    popups.set(shop.id, since)
    expect(await step(shop, 'popup')).toMatchObject({ isDone: true, doneAt: since.toISOString() })
    expect(await step(await store(app), 'popup')).toMatchObject({ isDone: false })
  })
})

describe('POST /onboarding', () => {
  test('keeps omitted answers, and the same answers again change nothing', async () => {
    const shop = await store(app)
    const first = await save(shop, { goals: ['grow-contacts', 'recover-carts'], notes: 'Two\nlines' })
    expect(first.status).toBe(200)
    await app.advance(1000)
    const second = await save(shop, { industry: 'pets', hasMessagingNumber: false })
    expect(second.body.answers).toEqual({
      goals: ['grow-contacts', 'recover-carts'],
      industry: 'pets',
      monthlyOrders: null,
      hasMessagingNumber: false,
      referralSource: null,
      notes: 'Two\nlines',
    })
    await app.advance(1000)
    const sentBack = await shop.call(saveAnswers, { body: second.body })
    expect(sentBack.body).toEqual(second.body)
    expect((await save(shop, { notes: null })).body.answers.notes).toBeNull()
    expect((await save(shop, { goals: [] })).body.steps[1]).toMatchObject({ id: 'answers', isDone: false })
  })

  test('recommends features for the goals, within the plan', async () => {
    const shop = await store(app, { plan: 'starter' })
    const { body } = await save(shop, {
      goals: ['support-customers', 'raise-order-value', 'recover-carts', 'bring-back-visitors'],
    })
    expect(body.recommendedFeatures).toEqual(['messaging', 'storefront-bars', 'automations', 'stock-alerts'])
  })

  test.each([
    [{ goals: ['fame'] }, 'answers.goals.0'],
    [{ goals: ['recover-carts', 'recover-carts'] }, 'answers.goals: must not name one twice'],
    [{ goals: null }, 'answers.goals: must not be null'],
    [{ referralSource: 'x'.repeat(121) }, 'answers.referralSource: must have at most 120'],
    [{ notes: 'x'.repeat(1001) }, 'answers.notes: must have at most 1000'],
    [{ colour: 'red' }, 'answers.colour: is not a known field'],
  ])('%j is refused by name', async (answers, message) => {
    const { status, body } = await save(await store(app), answers)
    expect([status, body.error.message]).toEqual([400, expect.stringContaining(message)])
  })
})

describe('POST /onboarding/activate-features', () => {
  test('turns features on through their activators, idempotently, and records them', async () => {
    const shop = await store(app)
    const first = await activate(shop, ['newsletter', 'statistics'])
    expect(first.status).toBe(200)
    expect(first.body).toMatchObject({
      activated: ['newsletter', 'statistics'],
      skipped: [],
      onboarding: { activatedFeatures: ['newsletter', 'statistics'] },
    })
    await app.advance(1000)
    const again = await activate(shop, ['statistics', 'newsletter'])
    expect(again.body.activated).toEqual(['statistics', 'newsletter'])
    expect(again.body.onboarding).toEqual(first.body.onboarding)
    expect(turnedOn.filter((id) => id === shop.id)).toEqual([shop.id, shop.id])
  })

  test('skips features without their platform or number, and turns the rest on', async () => {
    const shop = await store(app)
    const { body } = await activate(shop, ['inbox', 'wishlist', 'stock-alerts'])
    expect(body).toMatchObject({
      activated: ['wishlist'],
      skipped: [
        { feature: 'inbox', reason: 'official-number-required' },
        { feature: 'stock-alerts', reason: 'platform-not-connected' },
      ],
      onboarding: { activatedFeatures: ['wishlist'] },
    })
    await connectPlatform(shop)
    await connectNumber(await shop.context(), { type: 'qr', phone: '+5511900001111' })
    expect((await activate(shop, ['inbox', 'stock-alerts'])).body.activated).toEqual(['stock-alerts'])
    await connectNumber(await shop.context(), { type: 'official', phone: '+5511900001112' })
    expect((await activate(shop, ['inbox'])).body.activated).toEqual(['inbox'])
  })

  test('a feature outside the plan is a 403, and nothing is turned on', async () => {
    const shop = await store(app, { plan: 'starter' })
    const { status, body } = await activate(shop, ['reviews', 'inbox', 'wishlist'])
    expect([status, body.error.message]).toEqual([403, expect.stringContaining('inbox, wishlist')])
    expect((await read(shop)).activatedFeatures).toEqual([])
  })

  test('is rolled back if a section fails', async () => {
    const shop = await store(app)
    failing = true
    expect((await activate(shop, ['reviews', 'exchanges'])).status).toBe(503)
    failing = false
    expect((await read(shop)).activatedFeatures).toEqual([])
  })

  test.each([
    [['telepathy'], 'features.0'],
    [[], 'features: must have at least 1'],
    [['reviews', 'reviews'], 'features: must not name one twice'],
  ])('%j is refused by name', async (features, message) => {
    const { status, body } = await activate(await store(app), features)
    expect([status, body.error.message]).toEqual([400, expect.stringContaining(message)])
  })

  test('all twenty-four features can be activated together', async () => {
    const shop = await store(app)
    const { features } = (await shop.call(getStore)).body.plan
    expect(features).toHaveLength(24)
    const wanted = features.filter((feature: string) => feature !== 'exchanges')
    const { status, body } = await activate(shop, wanted)
    expect([status, body.activated.length, body.skipped.length]).toEqual([200, 21, 2])
  })
})
