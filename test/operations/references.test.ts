/** References that no registry test covers: without a platform, and in a copy. */
import { expect, test } from 'vitest'
import saveExchanges from '#operations/exchanges/settings/api/save-settings'
import { files } from '#operations/store/index'
import { testApp } from '#test/support/app'
import { store } from '#test/support/store'

const app = await testApp({ publicUrl: 'https://api.example.com' })

test('a store without a platform saves an empty list, and may name no product', async () => {
  const shop = await store(app)
  const save = (excludedProductIds: string[]) => shop.call(saveExchanges, { body: { excludedProductIds } })
  expect((await save([])).status).toBe(200)
  expect((await save(['1'])).status).toBe(409)
})

test('the media of a deleted campaign stays until its copy is deleted too', async () => {
  const shop = await store(app)
  const png = { fileName: 'a.png', contentType: 'image/png', visibility: 'public' } as const
  const { url } = await files.put(await shop.context(), 'inbox-media', {
    ...png,
    content: Buffer.from('x'),
  })
  const write = async (method: string, path: string, body?: unknown) => {
    const answer = await shop.request(method, path, body === undefined ? {} : { body })
    expect([method, path, answer.status < 300], JSON.stringify(answer.body)).toEqual([method, path, true])
    return answer.body
  }
  const afterADay = async (): Promise<number> => {
    await app.advance(25 * 3_600_000)
    await app.drainJobs({ allowFailures: true })
    return (await app.fetch(new Request(url), { ip: '127.0.0.1' })).status
  }
  const { id: listId } = await write('POST', '/campaigns/lists', { name: 'All' })
  const content = { type: 'text', text: 'Hi', media: { type: 'image', url } }
  const { id } = await write('POST', '/campaigns', { name: 'Sale', listId, content })
  const copy = await write('POST', `/campaigns/${id}/duplicate`)
  await write('DELETE', `/campaigns/${id}`)
  expect([await afterADay(), await afterADay()]).toEqual([200, 200])
  await write('DELETE', `/campaigns/${copy.id}`)
  expect(await afterADay()).toBe(404)
})
