import { beforeAll, describe, expect, test } from 'vitest'
import getOpenapi from '#operations/discovery/api/get-openapi'
import listOperations from '#operations/discovery/api/list-operations'
import { type TestApp, testApp } from '#test/support/app'
import { type Shop, store } from '#test/support/store'

let app: TestApp
let shop: Shop
beforeAll(async () => {
  app = await testApp()
  shop = await store(app)
})

describe('GET /operations', () => {
  test('answers an ETag that changes when the key may run other operations', async () => {
    const first = await shop.call(listOperations)
    const etag = first.headers.get('etag')!
    expect(first.status).toBe(200)
    expect(etag).toMatch(/^"[^"]+"$/)
    expect(first.headers.get('cache-control')).toBe('private, no-cache')
    expect(first.headers.get('vary')).toBe('Authorization, accept-encoding')

    for (const held of [etag, `"other", ${etag}`, `W/${etag}`, '*']) {
      const again = await shop.call(listOperations, { headers: { 'if-none-match': held } })
      expect(again).toMatchObject({ status: 304, body: null })
      expect(again.headers.get('etag')).toBe(held.startsWith('W/') ? held : etag)
      expect(again.headers.get('ratelimit-limit')).not.toBeNull()
    }
    const key = await shop.key_(['platform:read'])
    const other = await shop.call(listOperations, { key, headers: { 'if-none-match': etag } })
    expect(other.status).toBe(200)
    expect(other.headers.get('etag')).not.toBe(etag)
  })
})

describe('GET /openapi.json', () => {
  test('is the same with a key, without, and with a wrong one', async () => {
    const answers = await Promise.all([shop.key, null, 'wrong'].map((key) => shop.call(getOpenapi, { key })))
    for (const answer of answers) {
      expect(answer.status).toBe(200)
      expect(answer.body).toEqual(answers[0]!.body)
      expect(answer.headers.get('cache-control')).toBe('public, max-age=300')
    }
    expect(answers[0]!.body.openapi).toBe('3.1.0')
    const held = { 'if-none-match': answers[0]!.headers.get('etag')! }
    expect((await shop.call(getOpenapi, { key: null, headers: held })).status).toBe(304)
  })

  test('is read by scripts of any site, after a preflight too', async () => {
    const ask = (method: string) =>
      app.fetch(
        new Request('http://localhost/v1/openapi.json', {
          method,
          headers: { origin: 'https://tool.example', 'access-control-request-method': 'GET' },
        }),
        { ip: '1.1.1.1' },
      )
    for (const method of ['GET', 'OPTIONS']) {
      const { headers } = await ask(method)
      expect([method, headers.get('access-control-allow-origin')]).toEqual([method, '*'])
    }
    const own = await shop.call(listOperations)
    expect(own.headers.get('access-control-allow-origin')).toBeNull()
  })
})
