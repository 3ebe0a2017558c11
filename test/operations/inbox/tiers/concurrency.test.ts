import { expect, test } from 'vitest'
import listConversations from '#operations/inbox/conversations/api/list-conversations'
import setTier from '#operations/inbox/tiers/api/set-tier'
import { tierRules } from '#operations/inbox/tiers/settings'
import { testApp } from '#test/support/app'
import { inboxShop } from '#test/support/inbox'
import type { Answer } from '#test/support/store'
import { untilWaiting } from '#test/support/waits'

const app = await testApp()
await app.setClock('2026-11-20T12:00:00.000Z')

test('a tier that is being deleted cannot be assigned', async () => {
  const shop = await inboxShop(app)
  await shop.write({ phone: '+5511987654321', name: 'Rita', text: 'Oi' })
  const { id } = await shop.conversation()
  const ctx = await shop.context()
  let setting: Promise<Answer> | undefined
  await ctx.transaction(async (tx) => {
    await tierRules.write(tx, (before) => ({
      ...before,
      tiers: before.tiers.filter(({ key }) => key !== 'gold'),
    }))
    setting = shop.call(setTier, { params: { id }, body: { tier: 'gold' } })
    await untilWaiting(app)
  })
  const { status, body } = await setting!
  expect([status, body.error?.message]).toEqual([
    400,
    'tier: must be one of bronze, silver, platinum, or null',
  ])
  expect((await shop.call(listConversations)).body.data).toMatchObject([{ tier: null }])
})
