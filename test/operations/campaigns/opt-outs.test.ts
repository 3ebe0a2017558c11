import { expect, test } from 'vitest'
import addOptOut from '#operations/campaigns/opt-outs/add-opt-out'
import listOptOuts from '#operations/campaigns/opt-outs/list-opt-outs'
import { testApp } from '#test/support/app'
import { store } from '#test/support/store'

const app = await testApp()

test('a phone is opted out once, however it is written', async () => {
  const shop = await store(app)
  const added = await shop.call(addOptOut, { body: { phone: '(11) 98888-7777', note: 'Asked' } })
  expect(added.status).toBe(201)
  expect(added.body).toMatchObject({
    phone: '+5511988887777',
    note: 'Asked',
    source: 'manual',
    campaignId: null,
  })
  expect((await shop.call(addOptOut, { body: { phone: '+55 11 8888-7777' } })).status).toBe(409)
  const list = await shop.call(listOptOuts, { query: { search: '98888' } })
  expect(list.body).toEqual({ data: [added.body], page: 1, limit: 20, total: 1 })
  expect(list.headers.get('ratelimit-limit')).toBe('1000000')
})

test('what is no phone is refused by its name', async () => {
  const shop = await store(app)
  const answer = await shop.call(addOptOut, { body: { phone: 'abc', color: 1 } })
  expect(answer.status).toBe(400)
  expect(answer.body.error.message).toBe('color: is not a known field')
})
