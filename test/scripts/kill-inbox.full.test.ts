/** kill -9 of the process that sends the team's messages: each is sent once, in its conversation's order. */
import { expect, test } from 'vitest'
import type { TestApp } from '#test/support/app'
import { inboxShop } from '#test/support/inbox'
import { advance, call, kill, opened, prepareServer, start, until } from '#test/support/processes'

const conversations = 24
const each = 5
const all = conversations * each

/** An inbox with people who wrote a moment ago. */
async function filled(app: TestApp): Promise<{ key: string; storeId: string; ids: string[] }> {
  const shop = await inboxShop(app)
  for (let n = 0; n < conversations; n += 1) {
    await shop.callback({ phone: `+55119${70_000_005 + n * 10}`, text: 'Oi' })
  }
  await app.drainJobs()
  const { body } = await shop.request('GET', '/inbox/conversations', { query: { limit: 100 } })
  return { key: shop.key, storeId: shop.id, ids: body.data.map((row: { id: string }) => row.id) }
}

test('the inbox survives kill -9 of the process that sends', async () => {
  const { env: own, filled: made } = await prepareServer(filled)
  // A fifth of the rate is the team's, so sending takes longer than queueing.
  const env = { ...own, SANDBOX_MESSAGES_PER_SECOND: '120' }
  const { key, storeId, ids } = made
  expect(ids).toHaveLength(conversations)
  const first = await start('scripts/start.ts', env)
  for (let n = 0; n < each; n += 1) {
    const answers = await Promise.all(
      ids.map((id) =>
        call(first.url, key, 'POST', `/v1/inbox/conversations/${id}/messages`, {
          type: 'text',
          text: `n${n}`,
        }),
      ),
    )
    expect(answers.every((answer) => answer.status === 201)).toBe(true)
  }
  // Some of the last messages are sent, some are not.
  const lastOf = async (url: string) => {
    const { body } = await call(url, key, 'GET', '/v1/inbox/conversations?limit=100')
    return body.data.map((row: { lastMessageStatus: string }) => row.lastMessageStatus) as string[]
  }
  await until(async () => (await lastOf(first.url)).some((status) => status !== 'queued'))
  expect(await lastOf(first.url)).toContain('queued')
  await kill(first, env)

  const second = await start('scripts/start.ts', own)
  // Work of the dead process is resumed once its lease has expired.
  await advance(second, 300)
  await until(async () => {
    // A retried job waits for its backoff first.
    await advance(second, 5)
    return (await lastOf(second.url)).every((status) => status !== 'queued') && true
  })
  second.child.kill('SIGTERM')
  expect(await second.ended).toBe(0)

  const database = await opened(env)
  const sent = await database.query<{ phone: string; texts: string[] }>(
    `select phone, array_agg(content->>'text' order by sent_at, id) as texts from sandbox_messages
     where store_id = $1 group by phone`,
    [storeId],
  )
  const inOrder = Array.from({ length: each }, (_, n) => `n${n}`)
  expect(sent).toHaveLength(conversations)
  for (const { phone, texts } of sent) expect([phone, texts]).toEqual([phone, inOrder])
  const [counted] = await database.query<{ used: number; reserved: number; ledger: number; queued: number }>(
    `select sum(used)::int as used, sum(reserved)::int as reserved,
       (select count(*)::int from message_ledger where store_id = $1 and source = 'inbox') as ledger,
       (select count(*)::int from inbox_messages where store_id = $1 and status = 'queued') as queued
     from usage_cycles where store_id = $1`,
    [storeId],
  )
  await database.close()
  expect(counted).toEqual({ used: all, reserved: 0, ledger: all, queued: 0 })
})
