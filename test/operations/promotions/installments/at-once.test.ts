import { expect, test } from 'vitest'
import changeRule from '#operations/promotions/installments/api/change-rule'
import createRule from '#operations/promotions/installments/api/create-rule'
import deleteRule from '#operations/promotions/installments/api/delete-rule'
import { testApp } from '#test/support/app'
import { type Answer, store } from '#test/support/store'
import { untilWaiting } from '#test/support/waits'

const app = await testApp()

// Lock order: one locks the store, then the rule; the other the rule, then the store.
test('a rule changed and deleted at the same time causes no deadlock error', async () => {
  const shop = await store(app)
  const { id } = (await shop.call(createRule, { body: { name: 'Up to 3', maxInstallments: 3 } })).body
  const ctx = await shop.context()
  const both: Promise<Answer>[] = []
  await ctx.transaction(async (tx) => {
    await tx.lockStore()
    both.push(shop.call(changeRule, { body: { id, name: 'Up to three' } }))
    await untilWaiting(app)
    both.push(shop.call(deleteRule, { params: { id } }))
    await untilWaiting(app, 2)
  })
  const [changed, deleted] = await Promise.all(both)
  expect([200, 404]).toContain(changed!.status)
  expect(deleted!.status).toBe(204)
})
