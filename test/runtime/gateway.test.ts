import { brotliDecompressSync, gunzipSync, gzipSync, zstdDecompressSync } from 'node:zlib'
import { parseList } from 'structured-headers'
import { describe, expect, test } from 'vitest'
import addOptOut from '#operations/campaigns/opt-outs/api/add-opt-out'
import listOptOuts from '#operations/campaigns/opt-outs/api/list-opt-outs'
import { hashRequest } from '#runtime/gateway/idempotency'
import { clientAddress } from '#runtime/http/address'
import { freshDatabase, type TestApp, testApp } from '#test/support/app'
import { whenFileEnds } from '#test/support/closing'
import { store } from '#test/support/store'

const app = await testApp()
const url = (path: string) => `http://localhost/v1${path}`
const phone = () => `+55119${String(10_000_000 + Math.floor(Math.random() * 89_999_999))}`

describe('the order of the checks', () => {
  test('a key comes before the route, the route before scope, scope before size and input', async () => {
    const shop = await store(app)
    expect((await shop.request('GET', '/no-such-route', { key: null })).status).toBe(401)
    expect((await shop.request('GET', '/no-such-route')).body.error.code).toBe('not_found')
    const reader = await shop.key_(['platform:read'])
    const huge = await app.fetch(
      new Request(url('/campaigns/opt-outs'), {
        method: 'POST',
        headers: { authorization: `Bearer ${reader}`, 'content-length': String(16 * 1024 * 1024) },
        body: '{"nonsense":',
      }),
      { ip: '1.1.1.1' },
    )
    expect(huge.status).toBe(403)
  })

  test('an unknown method of a known path is 404, with every header', async () => {
    const shop = await store(app)
    const answer = await shop.request('PUT', '/campaigns/opt-outs', { body: {} })
    expect(answer.status).toBe(404)
    expect(answer.headers.get('ratelimit-remaining')).toBeTruthy()
  })
})

describe('bodies', () => {
  const post = (
    shop: { key: string },
    body: string | Uint8Array | ReadableStream,
    headers: Record<string, string> = {},
  ) =>
    app.fetch(
      new Request(url('/campaigns/opt-outs'), {
        method: 'POST',
        headers: { authorization: `Bearer ${shop.key}`, ...headers },
        body,
        duplex: 'half',
      } as RequestInit),
      { ip: '1.1.1.1' },
    )

  test('15 MiB and one byte are refused, announced or not', async () => {
    const shop = await store(app)
    const size = 15 * 1024 * 1024 + 1
    const announced = await post(shop, 'x', { 'content-length': String(size) })
    expect(announced.status).toBe(413)
    expect(await announced.json()).toMatchObject({ error: { code: 'payload_too_large' } })
    let sent = 0
    const endless = new ReadableStream({
      pull(controller) {
        sent += 1024 * 1024
        controller.enqueue(new Uint8Array(1024 * 1024).fill(32))
      },
    })
    const streamed = await post(shop, endless)
    expect(streamed.status).toBe(413)
    expect(sent).toBeLessThan(60 * 1024 * 1024) // the rest is drained, up to a limit
  })

  test('a compressed body is refused with the remedy', async () => {
    const shop = await store(app)
    const answer = await post(shop, new Uint8Array(gzipSync('{"phone":"+5511988887777"}')))
    const { error } = (await answer.json()) as { error: { message: string } }
    expect([answer.status, error.message]).toEqual([400, 'body: is packed by gzip: send it as it is'])
  })

  test.each([
    ['invalid UTF-8', new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d])],
    ['an escaped prototype key', '{"\\u005f_proto__":1}'],
    ['a control character', '{"phone":"+5511988887777","note":"a\\u0000b"}'],
  ])('%s is a 400 and changes nothing', async (_name, body) => {
    const shop = await store(app)
    const answer = await post(shop, body)
    expect(answer.status).toBe(400)
    expect((await shop.call(listOptOuts)).body.total).toBe(0)
  })

  test('several issues are reported at once, five at most', async () => {
    const shop = await store(app)
    const body = Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`field${i}`, 1]))
    const { error } = (await shop.call(addOptOut, { body: { phone: '+5511988887777', ...body } })).body
    expect(error.message.split('; ')).toHaveLength(5)
  })
})

describe('compression', () => {
  test('an answer above 1 KB is compressed as the client prefers, and its ETag still matches', async () => {
    const document = (headers: Record<string, string>) =>
      app.fetch(new Request(url('/openapi.json'), { headers }), { ip: '1.1.1.1' })
    const plain = await document({})
    const text = await plain.text()
    expect([plain.headers.get('content-encoding'), plain.headers.get('vary')]).toEqual([
      null,
      'accept-encoding',
    ])
    const unpack = { br: brotliDecompressSync, gzip: gunzipSync, zstd: zstdDecompressSync }
    for (const encoding of ['br', 'gzip', 'zstd'] as const) {
      const packed = await document({ 'accept-encoding': `${encoding}, identity;q=0.5` })
      expect(packed.headers.get('content-encoding')).toBe(encoding)
      expect(packed.headers.get('etag')).toBe(`W/${plain.headers.get('etag')}`)
      expect(unpack[encoding](Buffer.from(await packed.arrayBuffer())).toString()).toBe(text)
      const tag = packed.headers.get('etag')!
      const again = await document({ 'if-none-match': tag, 'accept-encoding': encoding })
      expect([again.status, again.headers.get('etag'), again.headers.get('vary')]).toEqual([
        304,
        tag,
        'accept-encoding',
      ])
    }
    const same = await document({ 'if-none-match': plain.headers.get('etag')! })
    expect([same.status, same.headers.get('etag')]).toEqual([304, plain.headers.get('etag')])
    const short = await app.fetch(new Request(url('/nothing'), { headers: { 'accept-encoding': 'gzip' } }), {
      ip: '1.1.1.1',
    })
    expect(short.headers.get('content-encoding')).toBeNull()
  })
})

describe('query parameters', () => {
  test.each([
    'page=1.5',
    'page=1e3',
    'page=1&page=2',
    '__proto__=1',
    'source=%ff',
    'search=%00',
    Array.from({ length: 1000 }, (_, i) => `p${i}=1`).join('&'),
  ])('%s is a 400', async (query) => {
    const shop = await store(app)
    expect((await shop.request('GET', `/campaigns/opt-outs?${query}`)).status).toBe(400)
  })
})

describe('rate limits', () => {
  test('the 121st request of a store is refused, over all its keys, until the window ends', async () => {
    const limited = await testApp({ rateLimitStore: 120 })
    const shop = await store(limited)
    const other = await shop.person('agent')
    for (let i = 0; i < 120; i += 1) {
      const answer = await shop.call(listOptOuts, { key: i % 2 ? shop.key : other.key })
      expect(answer.status).toBe(200)
      expect(answer.headers.get('ratelimit-remaining')).toBe(String(119 - i))
    }
    const refused = await shop.call(listOptOuts)
    expect(refused.status).toBe(429)
    expect(refused.body.error.code).toBe('rate_limited')
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(50)
    expect(refused.headers.get('ratelimit-limit')).toBe('120')
    await limited.advance(60_000)
    expect((await shop.call(listOptOuts)).status).toBe(200)
  })

  test('the fields of the IETF draft name the limit that counts', async () => {
    const limited = await testApp({ rateLimitStore: 2, rateLimitIp: 50 })
    const shop = await store(limited)
    const read = async (key?: null) => {
      const { status, headers } = await shop.call(listOptOuts, key === null ? { key } : {})
      const fields = ['ratelimit-policy', 'ratelimit'].map((name) =>
        parseList(headers.get(name)!).map(([name, parameters]) => [name, Object.fromEntries(parameters)]),
      )
      return [status, ...fields]
    }
    expect(await read()).toEqual([200, [['store', { q: 2, w: 60 }]], [['store', { r: 1, t: 60 }]]])
    await limited.advance(10_000)
    await read()
    expect(await read()).toEqual([429, [['store', { q: 2, w: 60 }]], [['store', { r: 0, t: 50 }]]])
    expect(await read(null)).toEqual([401, [['ip', { q: 50, w: 60 }]], [['ip', { r: 46, t: 50 }]]])
  })

  test('a request with a slow key lookup counts when the key was found', async () => {
    // A cached key stays cached, however slow the machine is.
    const limited = await testApp({ rateLimitStore: 120, keyLeaseMs: 60_000 })
    const shop = await store(limited)
    const slow = await shop.key_(['platform:read'])
    const read = (key: string) => shop.call(listOptOuts, { key })
    await read(shop.key)
    await limited.advance(61_000)
    const first = read(slow) // its key must be looked up
    limited.clock.advance(2000)
    const second = await read(shop.key) // this one is cached, and begins the window
    expect(second.headers.get('ratelimit-remaining')).toBe('119')
    expect((await first).headers.get('ratelimit-remaining')).toBe('118')
  })

  test('an address is limited before its key is checked', async () => {
    const limited = await testApp({ rateLimitIp: 3 })
    const shop = await store(limited)
    for (let i = 0; i < 3; i += 1) expect((await shop.call(listOptOuts, { key: null })).status).toBe(401)
    const refused = await shop.call(listOptOuts)
    expect(refused.status).toBe(429)
    expect(refused.headers.get('ratelimit-limit')).toBe('3')
  })

  test('a refusal for one address is not cached for others', async () => {
    const limited = await testApp({ rateLimitIp: 1 }, { shared: true })
    const read = () => limited.fetch(new Request(url('/openapi.json')), { ip: '10.0.0.1' })
    const [first, second] = [await read(), await read()]
    expect([first.status, first.headers.get('cache-control')]).toEqual([200, 'public, max-age=300'])
    expect([second.status, second.headers.get('cache-control')]).toEqual([429, 'no-store'])
    expect(second.headers.get('etag')).toBeNull()
  })

  // The embedded database has one process, which counts itself.
  const isServer = process.env.TEST_DATABASE_URL !== undefined
  test.skipIf(!isServer)('no write beyond the limit is executed in a burst over two instances', async () => {
    const { database } = await freshDatabase()
    whenFileEnds(() => database.close())
    const limit = { rateLimitStore: 12 }
    const two = [
      await testApp(limit, { database, shared: true }),
      await testApp(limit, { database, shared: true }),
    ]
    const shop = await store(two[0]!)
    const write = async (app: TestApp, at: number): Promise<number> => {
      const request = new Request('http://localhost/v1/campaigns/opt-outs', {
        method: 'POST',
        headers: { authorization: `Bearer ${shop.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ phone: `+55119876500${at}` }),
      })
      return (await app.fetch(request, { ip: `10.0.0.${at}` })).status
    }
    const answered = await Promise.all(Array.from({ length: 30 }, (_, at) => write(two[at % 2]!, at + 10)))
    expect(answered.filter((status) => status === 201)).toHaveLength(12)
    expect(answered.filter((status) => status === 429)).toHaveLength(18)
    const [{ n }] = (await database.query('select count(*)::int as n from opt_outs', [])) as [{ n: number }]
    expect(n).toBe(12)
    for (const app of two) await app.gateway.keys.flushUses()
  })

  test.each([
    [0, '9.9.9.9', '10.0.0.1'],
    [1, '9.9.9.9', '9.9.9.9'],
    [1, '6.6.6.6, 9.9.9.9', '9.9.9.9'],
    [2, '6.6.6.6, 9.9.9.9, 8.8.8.8', '9.9.9.9'],
    [3, '9.9.9.9', '9.9.9.9'],
  ])('behind %i trusted proxies, %s counts as %s', (proxies, forwarded, expected) => {
    expect(clientAddress('10.0.0.1', forwarded, proxies)).toBe(expected)
  })
})

describe('Idempotency-Key', () => {
  test('the same request has one effect and one answer', async () => {
    const shop = await store(app)
    const input = { body: { phone: phone() }, headers: { 'idempotency-key': 'abc' } }
    const first = await shop.call(addOptOut, input)
    const again = await shop.call(addOptOut, input)
    expect(first.status).toBe(201)
    expect(first.headers.get('idempotency-replayed')).toBeNull()
    expect([again.status, again.body, again.headers.get('idempotency-replayed')]).toEqual([
      201,
      first.body,
      'true',
    ])
    expect(again.headers.get('etag')).toBe(first.headers.get('etag'))
    expect((await shop.call(listOptOuts)).body.total).toBe(1)
  })

  test('the order of fields and white space do not make another request, other values do', async () => {
    const shop = await store(app)
    const send = (text: string) =>
      app.fetch(
        new Request(url('/inbox/tags'), {
          method: 'POST',
          headers: {
            authorization: `Bearer ${shop.key}`,
            'content-type': 'application/json',
            'idempotency-key': 'one',
          },
          body: text,
        }),
        { ip: '1.1.1.1' },
      )
    const first = await send('{"name":"VIP","color":"#112233"}')
    expect(first.status).toBe(201)
    const again = await send('{\n  "color": "#112233",\n  "name": "VIP"\n}\n')
    expect([again.status, await again.json()]).toEqual([201, await first.json()])
    expect((await send('{"name":"VIP","color":"#332211"}')).status).toBe(409)
  })

  test('the key of a request that an earlier release stored by its exact text is known', async () => {
    const shop = await store(app)
    const text = '{"phone": "+5511987654321"}'
    const { text: stored } = hashRequest('POST', '/v1/campaigns/opt-outs', text)
    const ctx = await shop.context()
    const { db } = ctx
    const now = app.clock.now()
    await db
      .insertInto('idempotency_keys')
      .values({ key: 'old', request_hash: stored, owner: ctx.newId(), claimed_at: now, created_at: now })
      .execute()
    await db.updateTable('idempotency_keys').set({ status: 201, body: '{"id":"9"}', headers: '{}' }).execute()
    const answer = await app.fetch(
      new Request(url('/campaigns/opt-outs'), {
        method: 'POST',
        headers: { authorization: `Bearer ${shop.key}`, 'idempotency-key': 'old' },
        body: text,
      }),
      { ip: '1.1.1.1' },
    )
    expect([answer.status, await answer.json()]).toEqual([201, { id: '9' }])
  })

  test('another request with the same key is a conflict; a refusal is stored too', async () => {
    const shop = await store(app)
    const headers = { 'idempotency-key': 'abc' }
    expect((await shop.call(addOptOut, { body: { phone: 'no phone' }, headers })).status).toBe(400)
    const number = phone()
    expect((await shop.call(addOptOut, { body: { phone: number }, headers })).status).toBe(409)
    await shop.call(addOptOut, { body: { phone: number } })
    const taken = { body: { phone: number }, headers: { 'idempotency-key': 'second' } }
    expect((await shop.call(addOptOut, taken)).status).toBe(409)
    expect((await shop.call(addOptOut, taken)).headers.get('idempotency-replayed')).toBe('true')
  })

  test('another If-Match is another request; a replayed answer without a body has no content type', async () => {
    const shop = await store(app)
    const list = await shop.request('POST', '/campaigns/lists', { body: { name: 'First' } })
    const path = `/campaigns/lists/${list.body.id}`
    const key = { 'idempotency-key': 'rename' }
    const put = (tag: string, headers: Record<string, string>) =>
      shop.request('PUT', path, { body: { name: 'Second' }, headers: { ...headers, 'if-match': tag } })
    const tag = list.headers.get('etag')!
    expect((await put('"stale"', key)).status).toBe(409)
    const other = await put(tag, key)
    expect([other.status, other.body.error.message]).toEqual([409, expect.stringMatching(/another request/)])
    expect((await put(tag, { 'idempotency-key': 'anew' })).status).toBe(200)
    const gone = () => shop.request('DELETE', path, { headers: { 'idempotency-key': 'gone' } })
    for (const replayed of [null, 'true']) {
      const { status, headers } = await gone()
      const headerValues = [status, headers.get('content-type'), headers.get('idempotency-replayed')]
      expect(headerValues).toEqual([204, null, replayed])
    }
  })

  test('one of twenty concurrent requests runs, none runs twice', async () => {
    const shop = await store(app)
    const input = { body: { phone: phone() }, headers: { 'idempotency-key': 'burst' } }
    const answers = await Promise.all(Array.from({ length: 20 }, () => shop.call(addOptOut, input)))
    const created = answers.filter((answer) => answer.status === 201)
    expect(created.length).toBeGreaterThan(0)
    expect(created.filter((answer) => !answer.headers.get('idempotency-replayed'))).toHaveLength(1)
    expect(answers.every((answer) => answer.status === 201 || answer.status === 409)).toBe(true)
    expect((await shop.call(listOptOuts)).body.total).toBe(1)
  })

  test('after 24 hours the key is free, and other stores have their own keys', async () => {
    const shop = await store(app)
    const neighbour = await store(app)
    const headers = { 'idempotency-key': 'shared' }
    await shop.call(addOptOut, { body: { phone: phone() }, headers })
    expect((await neighbour.call(addOptOut, { body: { phone: phone() }, headers })).status).toBe(201)
    await app.advance(24 * 3_600_000)
    expect((await shop.call(addOptOut, { body: { phone: phone() }, headers })).status).toBe(201)
  })
})

test('an unexpected failure is a 503 without details, and is not stored', async () => {
  const broken = await testApp()
  const shop = await store(broken)
  await shop.call(listOptOuts)
  await broken.database.query('alter table opt_outs rename to opt_outs_gone', [])
  const headers = { 'idempotency-key': 'again' }
  const number = phone()
  const answer = await shop.call(addOptOut, { body: { phone: number }, headers })
  expect([answer.status, answer.body.error.code]).toEqual([503, 'unavailable'])
  expect(JSON.stringify(answer.body)).not.toContain('opt_outs')
  expect(answer.headers.get('retry-after')).toBeTruthy()
  await broken.database.query('alter table opt_outs_gone rename to opt_outs', [])
  expect((await shop.call(addOptOut, { body: { phone: number }, headers })).status).toBe(201)
})
