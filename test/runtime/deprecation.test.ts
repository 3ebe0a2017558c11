/** A deprecated operation says so wherever a caller looks. */
import { parseItem } from 'structured-headers'
import { expect, test } from 'vitest'
import listOperations from '#operations/discovery/api/list-operations'
import { refuse } from '#runtime/errors'
import { operation } from '#runtime/operation'
import { loadOperation } from '#runtime/registry/registry'
import { count, object, queryFlag } from '#runtime/schema'
import { section } from '#runtime/section'
import { testApp, wholeRegistry } from '#test/support/app'
import { store } from '#test/support/store'

const replaced = operation({
  method: 'POST',
  path: '/gadgets/:id/count',
  description: 'Count the parts of a gadget.',
  deprecated: { since: '2023-07-01', sunset: '2027-05-01', link: '/docs/guides/clients' },
  scopes: ['platform:write'],
  readOnly: false,
  input: { query: object({ fails: queryFlag.optional() }) },
  answer: { status: 200, body: object({ parts: count }) },
  refuses: { conflict: 'It has no parts' },
  handler(_ctx, { query }) {
    if (query.fails) throw refuse('conflict', 'It has no parts')
    return { parts: 3 }
  },
})
const discouraged = operation({
  method: 'GET',
  path: '/gadgets/count',
  description: 'Count the gadgets.',
  deprecated: { since: '2026-11-20' },
  scopes: ['platform:read'],
  readOnly: true,
  answer: { status: 200, body: object({ gadgets: count }) },
  etag: true,
  handler: () => ({ gadgets: 3 }),
})

const gadgets = section({ title: 'Gadgets', description: 'Not there.', position: 99, order: [] })
const registry = await wholeRegistry()
const own = [replaced, discouraged].map((each, at) => loadOperation(`made-up-${at}.ts`, gadgets, each))
const app = await testApp(
  {},
  {
    registry: {
      ...registry,
      operations: [...registry.operations, ...own],
      sections: [...registry.sections, gadgets],
    },
  },
)
const shop = await store(app)

const lifecycle = ({ headers }: { headers: Headers }) =>
  ['deprecation', 'sunset', 'link'].map((name) => headers.get(name))

test('every answer of a deprecated operation has Deprecation, Sunset and Link, errors and replays included', async () => {
  const expected = [
    '@1688169600',
    'Sat, 01 May 2027 00:00:00 GMT',
    '</docs/guides/clients>; rel="deprecation"',
  ]
  const params = { id: '1' }
  const headers = { 'idempotency-key': 'count' }
  const answers = [
    await shop.call(replaced, { params, headers }),
    await shop.call(replaced, { params, headers }),
    await shop.call(replaced, { params, query: { fails: true } }),
    await shop.call(replaced, { params, query: { unknown: 1 } }),
    await shop.call(replaced, { params, key: null }),
    await shop.call(replaced, { params, key: await shop.key_(['platform:read']) }),
  ]
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 409, 400, 401, 403])
  expect(answers[1]!.headers.get('idempotency-replayed')).toBe('true')
  for (const answer of answers) expect(lifecycle(answer)).toEqual(expected)
  const [at] = parseItem(expected[0]!)
  expect(at).toEqual(new Date('2023-07-01T00:00:00Z'))
})

test('Sunset and Link are absent until they are declared; a 304 has Deprecation too', async () => {
  const answer = await shop.call(discouraged)
  expect(lifecycle(answer)).toEqual(['@1795132800', null, null])
  const again = await shop.call(discouraged, { headers: { 'if-none-match': answer.headers.get('etag')! } })
  expect([again.status, ...lifecycle(again)]).toEqual([304, '@1795132800', null, null])
})

test('other operations have none of these headers', async () => {
  expect(lifecycle(await shop.call(listOperations))).toEqual([null, null, null])
  expect(lifecycle(await shop.request('GET', '/gadgets'))).toEqual([null, null, null])
})

test('the list of operations and the document say what is deprecated', async () => {
  const { data } = (await shop.call(listOperations)).body
  const listed = new Map(data.map((each: { id: string; deprecated: unknown }) => [each.id, each.deprecated]))
  expect(listed.get('post_gadgets_by_id_count')).toEqual(replaced.spec.deprecated)
  expect(listed.get('get_gadgets_count')).toEqual({ since: '2026-11-20', sunset: null, link: null })
  expect(listed.get('get_operations')).toBeNull()
  const document = (await shop.request('GET', '/openapi.json')).body
  expect(document.paths['/gadgets/{id}/count'].post.deprecated).toBe(true)
  expect(document.paths['/operations'].get.deprecated).toBeUndefined()
})
