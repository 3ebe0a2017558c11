/** kill -9 of the process that notifies shoppers: each gets one email, and one line in the history. */
import { expect, test } from 'vitest'
import { exchangeShop } from '#test/operations/exchanges/shopper'
import { requested } from '#test/operations/exchanges/support'
import type { TestApp } from '#test/support/app'
import { advance, call, prepareServer, readRows, start, until } from '#test/support/processes'

const shoppers = 40

/** Pending requests, each of a shopper with their own address. */
async function filled(app: TestApp): Promise<{ key: string; storeId: string; ids: string[] }> {
  const shop = await exchangeShop(app, { emails: { requested: { isEnabled: false } } })
  const ids: string[] = []
  for (let n = 0; n < shoppers; n += 1) {
    const customer = { name: `Shopper ${n}`, email: `shopper.${n}@example.com`, phone: null }
    const order = await shop.delivered({ customer })
    const { sessionToken } = (await shop.lookup(order, customer.email)).body
    ids.push((await requested(shop, { order, sessionToken })).id)
  }
  return { key: shop.key, storeId: shop.id, ids }
}

test('notices to shoppers survive kill -9 of the process that sends them', async () => {
  const { env, filled: made } = await prepareServer(filled)
  const { key, storeId, ids } = made
  const first = await start('scripts/start.ts', env)
  const answers = await Promise.all(
    ids.map((id) => call(first.url, key, 'POST', `/v1/product-exchanges/requests/${id}/approve`, {})),
  )
  expect(answers.every(({ status }) => status === 200)).toBe(true)
  const outbox = async (url: string) => {
    const answer = await fetch(`${url}/sandbox/api/mail/outbox`)
    return ((await answer.json()) as { data: { to: string; subject: string }[] }).data
  }
  // Some are sent, some are not.
  const left = await until(async () => {
    const mails = await outbox(first.url)
    return mails.length > 0 && mails.length
  })
  expect(left).toBeLessThan(shoppers)
  first.child.kill('SIGKILL')
  await first.ended

  const second = await start('scripts/start.ts', env)
  // Work of the dead process is resumed once its lease has expired.
  await advance(second, 300)
  const open = async (): Promise<number> => {
    const { body } = await call(second.url, key, 'GET', '/v1/product-exchanges/requests?limit=100')
    const histories = await Promise.all(
      body.data.map(async ({ id }: { id: string }) => {
        const request = await call(second.url, key, 'GET', `/v1/product-exchanges/requests/${id}`)
        return request.body.history as { event: string }[]
      }),
    )
    return histories.filter(
      (history: { event: string }[]) => !history.some(({ event }) => event.startsWith('notif')),
    ).length
  }
  await until(async () => (await open()) === 0)
  second.child.kill('SIGTERM')
  expect(await second.ended).toBe(0)

  const mails = await readRows<{ recipients: number; mails: number }>(
    env,
    `select count(distinct to_address)::int as recipients, count(*)::int as mails from sandbox_mail`,
  )
  expect(mails).toEqual([{ recipients: shoppers, mails: shoppers }])
  const history = await readRows<{ event: string; n: number; requests: number }>(
    env,
    `select event, count(*)::int as n, count(distinct request_id)::int as requests
     from exchange_history where store_id = $1 and event like 'notif%' group by event`,
    [storeId],
  )
  expect(history).toEqual([{ event: 'notified', n: shoppers, requests: shoppers }])
  const ledger = await readRows<{ n: number }>(
    env,
    `select count(*)::int as n from message_ledger where store_id = $1 and source = 'exchange'`,
    [storeId],
  )
  expect(ledger).toEqual([{ n: shoppers }])
})
